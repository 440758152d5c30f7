#include "knn/searched_collection.hpp"

#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/process_group_testing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

// Tests batches, parts, processes and output of a search, with a collection whose neighbours are
// computed one by one.
namespace rulerank::inline v0::knn::searched_collection_test {
namespace {

using places = std::vector<double>;

/// Returns the k items nearest to a place on a line, equal distances by number.
std::vector<std::pair<double, std::uint32_t>> nearest_to(double query, std::span<double const> some,
                                                         std::size_t k) {
  std::vector<std::pair<double, std::uint32_t>> all;
  for (std::uint32_t i = 0; i < some.size(); ++i) all.emplace_back(std::abs(some[i] - query), i);
  std::sort(all.begin(), all.end());
  all.resize(std::min(k, all.size()));
  return all;
}

std::string name_of_item(std::size_t item) {
  return "item" + std::to_string(item);
}
std::string line_of(std::size_t query, std::string const& name, double value) {
  return std::to_string(query) + " " + name + " " + std::to_string(value) + "\n";
}

/// Returns the lines of all queries, computed without batches and parts. `radius`: negative for
/// none. `filter`: the allowed items, empty for all.
std::string expected_lines(places const& items, places const& queries, std::size_t k,
                           double radius = -1, std::vector<bool> const& filter = {}) {
  std::string lines;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::size_t count = 0;
    for (auto const& [value, item] : nearest_to(queries[q], items, items.size()))
      if ((filter.empty() || filter[item]) && (radius < 0 || value <= radius) && count++ < k)
        lines += line_of(q, name_of_item(item), value);
  }
  return lines;
}

std::vector<std::uint64_t> bits_of(std::vector<bool> const& filter) {
  std::vector<std::uint64_t> words((filter.size() + 63) / 64);
  for (std::size_t i = 0; i < filter.size(); ++i)
    words[i / 64] |= std::uint64_t{filter[i]} << (i % 64);
  return words;
}

/// Items and queries are places on a line. `Base`: `collection_with_radius`, or
/// `searched_collection`, whose searches find only the k nearest.
template <class Base>
class line_collection_of : public Base {
 protected:
  using Base::is_split_;
  using Base::items_;
  using Base::neighbours_in;
  using Base::parts_;
  using typename Base::extent;

 public:
  /// All items, in even parts.
  line_collection_of(places items, places queries, std::size_t parts = 1, bool may_be_dealt = true)
      : line_collection_of(std::move(items), std::move(queries), may_be_dealt) {
    for (std::size_t p = 0; p < parts; ++p) add(even_range(all_.size(), parts, p));
  }
  /// The part of a process, which may have no items.
  line_collection_of(places items, places queries, process_group const& group)
      : line_collection_of(std::move(items), std::move(queries), true) {
    is_split_ = true;
    index_range const mine = even_range(all_.size(), static_cast<std::size_t>(group.size()),
                                        static_cast<std::size_t>(group.rank()));
    if (mine.size() > 0) add(mine);
  }

  std::optional<std::string> id_of(std::uint32_t item) const override {
    for (extent const& part : parts_)
      if (item >= part.first && item < part.first + part.size) return name_of_item(item);
    return std::nullopt;
  }
  std::size_t queries() const noexcept override { return queries_.size(); }
  bool may_be_dealt() const override { return may_be_dealt_; }
  batch_limits limits(context const&) const override { return batches; }
  batch_limits batches{};

  /// The queries and the k of each search, in call order.
  struct call {
    std::size_t begin, end, k;
    bool operator==(call const&) const = default;
  };
  mutable std::vector<call> calls;

 protected:
  line_collection_of(places items, places queries, bool may_be_dealt)
      : all_(std::move(items)), queries_(std::move(queries)), may_be_dealt_(may_be_dealt) {
    items_ = all_.size();
  }
  void add(index_range some) { parts_.push_back({some.begin, some.size()}); }
  std::span<double const> of(extent const& part) const {
    return std::span(all_).subspan(part.first, part.size);
  }

  neighbours nearest_in(extent const& part, index_range queries, std::size_t k) const {
    neighbours found;
    found.queries = queries.size();
    found.k = k;
    found.order = value_order::smaller_is_nearer;
    found.id.assign(queries.size() * k, no_neighbour);
    found.value.assign(queries.size() * k, 0);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      std::size_t at = q * k;
      for (auto const& [value, item] : nearest_to(queries_[queries.begin + q], of(part), k)) {
        found.id[at] = item;
        found.value[at++] = value;
      }
    }
    return found;
  }
  rows_in_range within_in(extent const& part, index_range queries, double radius) const {
    rows_in_range found;
    found.begin.push_back(0);
    for (std::size_t q = queries.begin; q < queries.end; ++q) {
      for (auto const& [value, item] : nearest_to(queries_[q], of(part), part.size))
        if (value <= radius) {
          found.row.push_back(item);
          found.value.push_back(value);
        }
      found.begin.push_back(found.row.size());
    }
    return found;
  }

  neighbours nearest_of_whole(context const&, index_range queries, std::size_t k) const override {
    calls.push_back({queries.begin, queries.end, k});
    return nearest_in(parts_.front(), queries, k);
  }
  std::vector<part_neighbours> nearest_of_parts(context const&, index_range queries,
                                                std::size_t k) const override {
    calls.push_back({queries.begin, queries.end, k});
    std::vector<part_neighbours> found;
    for (extent const& part : parts_)
      found.push_back({nearest_in(part, queries, neighbours_in(part, k)),
                       value_order::smaller_is_nearer,
                       {},
                       {}});
    return found;
  }
  places all_, queries_;
  bool may_be_dealt_;
};
class line_collection final : public line_collection_of<collection_with_radius> {
 public:
  using line_collection_of::line_collection_of;

 private:
  rows_in_range within_whole(context const&, index_range queries, double radius) const override {
    calls.push_back({queries.begin, queries.end, 0});
    return within_in(parts_.front(), queries, radius);
  }
  std::vector<part_rows_in_range> within_parts(context const&, index_range queries,
                                               double radius) const override {
    calls.push_back({queries.begin, queries.end, 0});
    std::vector<part_rows_in_range> found;
    for (extent const& part : parts_)
      found.push_back({within_in(part, queries, radius), value_order::smaller_is_nearer, {}});
    return found;
  }
};
using call = line_collection::call;

/// Keeps what it receives.
class kept_output final : public search_output {
 public:
  explicit kept_output(bool takes = false) : takes_(takes) {}

  void add_lines(result_lines& to, query_result const& found,
                 id_of_fn const& id_of) const override {
    for (std::size_t i = 0; i < found.items.size(); ++i)
      to.lines += line_of(found.query, id_of(found.items[i]), found.values[i]);
  }
  void write(result_lines const& some) override {
    lines += some.lines;
    ++writes;
  }
  bool takes_neighbours() const override { return takes_; }
  using search_output::take;
  void take(std::size_t first, neighbours found) override {
    taken.emplace_back(first, found.queries, found.k);
    for (std::uint32_t const id : found.id) ids.push_back(id);
  }

  std::string lines;
  std::size_t writes = 0;
  /// First query, queries and k of each call.
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> taken;
  std::vector<std::uint32_t> ids;

 private:
  bool takes_;
};

/// The first of several processes, alone: its bytes represent those of all.
class first_of final : public process_group {
 public:
  explicit first_of(int size) : size_(size) {}
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return size_; }
  std::vector<std::string> gather(std::string_view mine) const override {
    return std::vector<std::string>(static_cast<std::size_t>(size_), std::string(mine));
  }
  std::vector<std::string> deal(std::size_t, task_fn const&, keep_fn const&) const override {
    throw std::logic_error("the group deals, expected the deal_fn");
  }

 private:
  int size_;
};

/// Many are at equal distances from a query.
places const items{4, 0, 8, 4, 2, 6, 4, 9, 1, 7};
places const queries{4, 5, 0, 9, 3.5, 100, 2, 6, 1, 8, 5};

TEST(SearchInBatches, BatchesStayUnderTheMemoryBound) {
  struct {
    std::size_t k;
    batch_limits limits;
    std::size_t together;
  } const cases[] = {
      {3, {.neighbours = 12}, 4},
      {5, {.neighbours = 12}, 2},
      {5, {.neighbours = 4}, 1},               // fewer than the neighbours of a query: one query
      {5, {.neighbours = 4, .fewest = 3}, 3},  // at least so many
      {1, {.neighbours = 100, .most = 7}, 7},  // at most so many
      {200, {.neighbours = 30}, 3},            // no query has more neighbours than there are items
      {3, {}, 4096},
  };
  for (auto const& one : cases) {
    SCOPED_TRACE("k " + std::to_string(one.k) + ", together " + std::to_string(one.together));
    line_collection const collection(items, queries);
    search_request const request{one.k};
    EXPECT_EQ(queries_together({}, collection, request, one.limits), one.together);
    std::vector<std::uint64_t> reported;
    context ctx;
    ctx.progress = [&](std::string_view stage, std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(stage, "search");
      EXPECT_EQ(total, queries.size());
      reported.push_back(done);
      return true;
    };
    kept_output output(true);
    search_in_batches(ctx, collection, request, one.limits, output);
    EXPECT_EQ(output.lines, expected_lines(items, queries, one.k));
    std::size_t const k = std::min(one.k, items.size());
    std::vector<call> calls;
    std::vector<std::uint64_t> ends;
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> taken;
    for (std::size_t first = 0; first < queries.size(); first += one.together) {
      std::size_t const end = std::min(first + one.together, queries.size());
      calls.push_back({first, end, k});
      ends.push_back(end);
      taken.emplace_back(first, end - first, k);
    }
    EXPECT_EQ(collection.calls, calls);
    EXPECT_EQ(output.writes, queries.size()) << "no more lines in memory than a query's";
    EXPECT_EQ(output.taken, taken);
    EXPECT_EQ(reported, ends);
  }
}

TEST(SearchInBatches, RangesSetTheSizeOfTheNextBatch) {
  // All ten items are within 200 of a query: 11 per query with the next one, and 23 / 11 is 2.
  batch_limits const limits{.neighbours = 23, .first_in_range = 3, .most_in_range = 4};
  line_collection const wide(items, queries);
  kept_output output(true);
  search_in_batches({}, wide, {.radius = 200}, limits, output);
  EXPECT_EQ(output.lines, expected_lines(items, queries, items.size(), 200));
  EXPECT_EQ(wide.calls,
            (std::vector<call>{{0, 3, 0}, {3, 5, 0}, {5, 7, 0}, {7, 9, 0}, {9, 11, 0}}));
  EXPECT_TRUE(output.taken.empty()) << "ranges are no neighbours to take";
  // No item is near: batches grow to the maximum.
  places const far(queries.size(), 1000);
  line_collection const empty(items, far);
  kept_output nothing;
  search_in_batches({}, empty, {.radius = 1}, limits, nothing);
  EXPECT_EQ(nothing.lines, "");
  EXPECT_EQ(empty.calls, (std::vector<call>{{0, 3, 0}, {3, 7, 0}, {7, 11, 0}}));
}

TEST(SearchInBatches, WithoutQueriesAndWithoutItems) {
  kept_output output(true);
  line_collection const some(items, {});
  search_in_batches({}, some, {3}, {}, output);
  EXPECT_TRUE(some.calls.empty());
  line_collection const none({}, queries);
  search_in_batches({}, none, {3}, {}, output);
  EXPECT_EQ(none.calls, (std::vector<call>{{0, queries.size(), 1}})) << "k is at least 1";
  EXPECT_EQ(output.lines, "");
}

/// `all`: items, of which the filter allows some.
template <class Collection>
void expect_filters(places const& all, std::vector<bool> const& filter, std::size_t parts) {
  Collection collection(all, queries, parts);
  auto const bits = bits_of(filter);
  collection.keep_only(bits);
  for (std::size_t const k : {1, 2, 7, 300}) {
    kept_output nearest;
    search_in_batches({}, collection, {k}, {.neighbours = 20}, nearest);
    EXPECT_EQ(nearest.lines, expected_lines(all, queries, k, -1, filter)) << "k " << k;
  }
  for (double const radius : {0.0, 1.5, 30.0}) {
    kept_output within;
    search_in_batches({}, collection, {.radius = radius}, {}, within);
    EXPECT_EQ(within.lines, expected_lines(all, queries, all.size(), radius, filter)) << radius;
  }
}

/// Also with searches that only find the k nearest.
TEST(SearchInBatches, FiltersAndRadii) {
  places all;  // more than the initial neighbours of a radius, and of a filter with few items
  for (int i = 0; i < 300; ++i) all.push_back(i * 7 % 23);
  std::vector<std::vector<bool>> filters(4, std::vector<bool>(all.size()));
  filters[0].assign(all.size(), true);
  for (std::size_t i = 0; i < all.size(); ++i) filters[1][i] = i % 3 == 1;
  filters[2][299] = true;  // and none in filters[3]
  for (auto const& filter : filters)
    for (std::size_t const parts : {1, 3}) {
      expect_filters<line_collection>(all, filter, parts);
      expect_filters<line_collection_of<searched_collection>>(all, filter, parts);
    }
  line_collection collection(all, queries);
  std::vector<std::uint64_t> const too_few{1, 2};
  EXPECT_THROW(collection.keep_only(too_few), usage_error);
}

TEST(SearchInBatches, AFilterWithoutItemsSearchesForNoQuery) {
  line_collection collection(items, queries);
  collection.keep_only_items({});
  neighbours const found = collection.nearest({}, 3);
  EXPECT_EQ(found.order, value_order::smaller_is_nearer);
  EXPECT_EQ(found.id, std::vector<std::uint32_t>(3 * queries.size(), no_neighbour));
  EXPECT_EQ(collection.calls, (std::vector<call>{{0, 0, 3}}));
}

TEST(SearchInBatches, ProcessesFilterAlike) {
  std::vector<bool> filter(items.size());
  for (std::size_t i = 0; i < items.size(); i += 2) filter[i] = true;
  for (int const size : {1, 3})
    testing_tools::run_processes(size, [&](process_group const& group) {
      context ctx;
      ctx.processes = &group;
      line_collection_of<searched_collection> collection(items, queries, group);
      auto const bits = bits_of(filter);
      collection.keep_only(bits);
      kept_output nearest, within;
      search_in_batches(ctx, collection, {3}, {.neighbours = 12}, nearest);
      EXPECT_EQ(nearest.lines, expected_lines(items, queries, 3, -1, filter)) << size;
      search_in_batches(ctx, collection, {.radius = 2}, {}, within);
      EXPECT_EQ(within.lines, expected_lines(items, queries, items.size(), 2, filter)) << size;
    });
}

TEST(SearchInBatches, PartsOfOneProcessFindTheSame) {
  for (std::size_t const parts : {2, 3, 10, 12})
    for (std::size_t const k : {1, 4, 30}) {
      SCOPED_TRACE(std::to_string(parts) + " parts, k " + std::to_string(k));
      line_collection const collection(items, queries, parts);
      kept_output nearest;
      search_in_batches({}, collection, {k}, {.neighbours = 20}, nearest);
      EXPECT_EQ(nearest.lines, expected_lines(items, queries, k));
      kept_output within;
      search_in_batches({}, collection, {.radius = 2}, {.first_in_range = 2}, within);
      EXPECT_EQ(within.lines, expected_lines(items, queries, items.size(), 2));
    }
}

/// Each process knows only the ids of its own items, and all write the same lines.
TEST(SearchInBatches, ProcessesWithPartsFindTheSame) {
  for (int const size : {1, 2, 3, 11})
    for (std::size_t const k : {1, 4, 30})
      testing_tools::run_processes(size, [&](process_group const& group) {
        context ctx;
        ctx.processes = &group;
        line_collection const collection(items, queries, group);
        EXPECT_FALSE(deals_queries(ctx, collection));
        kept_output nearest(true);
        search_in_batches(ctx, collection, {k}, {.neighbours = 12}, nearest);
        EXPECT_EQ(nearest.lines, expected_lines(items, queries, k)) << size << " " << k;
        EXPECT_EQ(nearest.ids.size(), queries.size() * std::min(k, items.size()));
        kept_output within;
        search_in_batches(ctx, collection, {.radius = 3}, {.first_in_range = 4}, within);
        EXPECT_EQ(within.lines, expected_lines(items, queries, items.size(), 3)) << size;
      });
}

/// A `deal_fn` that does the tasks of each batch from the last to the first.
struct backward_deal {
  std::vector<std::size_t> tasks;

  deal_fn function() {
    return [this](std::size_t count, process_group::task_fn const& task,
                  process_group::keep_fn const& keep) {
      tasks.push_back(count);
      std::vector<std::string> kept(count);
      for (std::size_t t = count; t-- > 0;) kept[t] = keep(t, task(t));
      return kept;
    };
  }
};

TEST(SearchInBatches, DealtQueriesAreWrittenInTheirOrder) {
  first_of const group(2);
  context ctx;
  ctx.processes = &group;
  for (std::size_t const k : {1, 3, 30}) {
    SCOPED_TRACE(k);
    line_collection const collection(items, queries);
    ASSERT_TRUE(deals_queries(ctx, collection));
    batch_limits const limits{.dealt_neighbours = 6 * std::min(k, items.size())};
    EXPECT_EQ(queries_together(ctx, collection, {k}, limits), 6U);
    EXPECT_EQ(queries_together(ctx, collection, {k}, {.most = 3}), 6U) << "3 for each process";
    backward_deal deal;
    kept_output output(true);
    search_in_batches(ctx, collection, {k}, limits, output, deal.function());
    EXPECT_EQ(output.lines, expected_lines(items, queries, k));
    // Factoring: of 6 queries 1, 1, 1, 1, 1, 1, and of 5 likewise.
    EXPECT_EQ(deal.tasks, (std::vector<std::size_t>{6, 5}));
    std::size_t const found = std::min(k, items.size());
    EXPECT_EQ(output.taken, (std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>{
                                {0, 6, found}, {6, 5, found}}));
    neighbours const all = collection.nearest_of({}, {0, queries.size()}, found);
    EXPECT_EQ(output.ids, all.id);
  }
}

TEST(SearchInBatches, SharesHaveAtLeastTheLeastQueries) {
  first_of const group(2);
  context ctx;
  ctx.processes = &group;
  line_collection const collection(items, queries);
  backward_deal deal;
  kept_output output;
  search_in_batches(ctx, collection, {3}, {.least_share = 4}, output, deal.function());
  EXPECT_EQ(output.lines, expected_lines(items, queries, 3));
  EXPECT_EQ(deal.tasks, std::vector<std::size_t>{3});
  EXPECT_EQ(collection.calls, (std::vector<call>{{8, 11, 3}, {4, 8, 3}, {0, 4, 3}}));
  EXPECT_TRUE(output.taken.empty());
}

TEST(SearchInBatches, DealtRangesAreWrittenInTheirOrder) {
  first_of const group(2);
  context ctx;
  ctx.processes = &group;
  line_collection const collection(items, queries);
  backward_deal deal;
  kept_output output(true);
  search_in_batches(ctx, collection, {.radius = 2}, {.first_in_range = 2}, output, deal.function());
  EXPECT_EQ(output.lines, expected_lines(items, queries, items.size(), 2));
  EXPECT_GE(deal.tasks.size(), 2U);
  EXPECT_TRUE(output.taken.empty());
}

/// Without a `deal_fn`, processes divide the queries themselves; the first one writes.
TEST(SearchInBatches, ProcessesDealTheQueries) {
  for (int const size : {2, 3, 5})
    testing_tools::run_processes(size, [&](process_group const& group) {
      context ctx;
      ctx.processes = &group;
      line_collection const collection(items, queries);
      kept_output nearest(true);
      search_in_batches(ctx, collection, {4}, {.dealt_neighbours = 24}, nearest);
      EXPECT_EQ(nearest.lines, group.is_first() ? expected_lines(items, queries, 4) : "");
      EXPECT_EQ(nearest.ids, collection.nearest_of({}, {0, queries.size()}, 4).id);
      kept_output within;
      search_in_batches(ctx, collection, {.radius = 3}, {.first_in_range = 2}, within);
      EXPECT_EQ(within.lines,
                group.is_first() ? expected_lines(items, queries, items.size(), 3) : "");
    });
}

TEST(SearchInBatches, DealsNothingThatMayNotBeDealt) {
  first_of const group(3);
  context ctx;
  ctx.processes = &group;
  line_collection const collection(items, queries, 1, false);
  EXPECT_FALSE(deals_queries(ctx, collection));
  backward_deal deal;
  kept_output output;
  search_in_batches(ctx, collection, {3}, {}, output, deal.function());
  EXPECT_TRUE(deal.tasks.empty());
  EXPECT_EQ(output.lines, expected_lines(items, queries, 3));
  context alone;
  EXPECT_FALSE(deals_queries(alone, line_collection(items, queries)));
}

/// Compares searches in small batches with one search for all queries.
void expect_all_found(context const& ctx, line_collection& collection) {
  line_collection const whole(items, queries);
  collection.batches = {.neighbours = 12, .dealt_neighbours = 12, .first_in_range = 2};
  index_range const all{0, queries.size()};
  for (std::size_t const k : {std::size_t{1}, std::size_t{4}, items.size() + 1}) {
    neighbours const found = collection.nearest(ctx, k);
    neighbours const expected = whole.nearest_of({}, all, std::min(k, items.size()));
    EXPECT_EQ(found.queries, expected.queries);
    EXPECT_EQ(found.k, expected.k);
    EXPECT_EQ(found.order, expected.order);
    EXPECT_EQ(found.id, expected.id) << k;
    EXPECT_EQ(found.value, expected.value) << k;
  }
  for (double const radius : {0.0, 3.0, 200.0}) {
    rows_in_range const found = collection.within(ctx, radius);
    rows_in_range const expected = whole.within_of({}, all, radius);
    EXPECT_EQ(found.begin, expected.begin) << radius;
    EXPECT_EQ(found.row, expected.row) << radius;
    EXPECT_EQ(found.value, expected.value) << radius;
  }
}

TEST(SearchAll, FindsInBatchesAndPartsWhatOneSearchFinds) {
  for (std::size_t const parts : {1, 3}) {
    line_collection collection(items, queries, parts);
    expect_all_found({}, collection);
    EXPECT_GT(collection.calls.size(), 6U) << "searched in batches";
    EXPECT_THROW(collection.nearest({}, 0), usage_error);
    line_collection const without_queries(items, {}, parts);
    EXPECT_EQ(without_queries.nearest({}, 2).queries, 0U);
    EXPECT_EQ(without_queries.within({}, 2).begin, (std::vector<std::uint64_t>{0}));
  }
}

TEST(SearchAll, GivesEachProcessWhatOneSearchFinds) {
  for (int const size : {2, 5})
    testing_tools::run_processes(size, [&](process_group const& group) {
      context ctx;
      ctx.processes = &group;
      line_collection dealt(items, queries);
      expect_all_found(ctx, dealt);
      line_collection split(items, queries, group);
      expect_all_found(ctx, split);
    });
}

TEST(SearchInBatches, StopsBetweenBatches) {
  line_collection const collection(items, queries);
  context ctx;
  ctx.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  kept_output output;
  EXPECT_THROW(search_in_batches(ctx, collection, {1}, {.most = 2}, output), interrupted);
  EXPECT_EQ(collection.calls, (std::vector<call>{{0, 2, 1}}));
}

}  // namespace
}  // namespace rulerank::knn::searched_collection_test
