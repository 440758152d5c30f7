#include "knn/searched_collection.hpp"

#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "knn/collection_parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// The results of one task: a share of the queries.
template <class Found>
struct dealt_result {
  result_lines lines;
  std::vector<Found> found;  ///< one element, or none if the output takes no results
  std::uint64_t items = 0;   ///< number of results
  static auto members_of(auto& all) { return std::tie(all.lines, all.found, all.items); }
};

std::span<std::uint32_t const> items_of(neighbours const& found) {
  return found.id;
}
std::span<std::uint32_t const> items_of(rows_in_range const& found) {
  return found.row;
}

/// Calls `take` with the result of each query; the first query has the number `first`.
template <class Take>
void for_each_query(neighbours const& found, std::size_t first, Take const& take) {
  for (std::size_t q = 0; q < found.queries; ++q) {
    std::size_t const count = found.count_of(q);
    take(query_result{first + q, found.order, found.ids_of(q).first(count),
                      found.values_of(q).first(count)});
  }
}
template <class Take>
void for_each_query(rows_in_range const& found, std::size_t first, Take const& take) {
  for (std::size_t q = 0; q + 1 < found.begin.size(); ++q)
    take(query_result{first + q, found.order, found.rows_of(q), found.values_of(q)});
}

/// One call of `search_in_batches`.
class batches {
 public:
  batches(context const& ctx, searched_collection const& collection, search_request const& request,
          batch_limits const& limits, search_output& output, deal_fn const& deal)
      : ctx_(ctx),
        collection_(collection),
        request_(request),
        limits_(limits),
        output_(output),
        deal_(deal),
        deals_(deals_queries(ctx, collection)),
        k_(std::clamp<std::size_t>(collection.size(), 1, std::max<std::size_t>(request.k, 1))) {}

  /// Returns the number of results, over all processes if necessary.
  std::uint64_t search(index_range batch) {
    return request_.radius ? search<rows_in_range>(batch) : search<neighbours>(batch);
  }

 private:
  template <class Found>
  Found find(index_range queries) const {
    if constexpr (std::is_same_v<Found, neighbours>)
      return collection_.nearest_of(ctx_, queries, k_);
    else
      return collection_.within_of(ctx_, queries, *request_.radius);
  }

  template <class Found>
  std::uint64_t search(index_range batch) {
    if (deals_) return search_dealt<Found>(batch);
    Found found = find<Found>(batch);
    std::uint64_t const items = items_of(found).size();
    learn_ids(items_of(found));
    auto const id = id_of();
    // Written query by query, because the lines of a batch may need more memory than its results.
    for_each_query(found, batch.begin, [&](query_result const& one) {
      result_lines lines;
      output_.add_lines(lines, one, id);
      output_.write(lines);
    });
    if (output_.takes_neighbours()) output_.take(batch.begin, std::move(found));
    return items;
  }

  /// Collects ids of items that other processes hold: all processes exchange the ids that they
  /// know.
  void learn_ids(std::span<std::uint32_t const> items) {
    if (!collection_.has_ids_in_parts() || !output_.writes_ids()) return;
    auto names = names_of(*ctx_.processes, items,
                          [&](std::uint32_t item) { return collection_.id_of(item); });
    learned_.clear();
    for (std::size_t i = 0; i < items.size(); ++i) learned_[items[i]] = std::move(names[i]);
  }
  search_output::id_of_fn id_of() const {
    if (collection_.has_ids_in_parts())
      return [&](std::uint32_t item) { return learned_.at(item); };
    return [&](std::uint32_t item) { return *collection_.id_of(item); };
  }

  template <class Found>
  dealt_result<Found> dealt(index_range queries) const {
    dealt_result<Found> result;
    Found found = find<Found>(queries);
    auto const id = id_of();
    for_each_query(found, queries.begin,
                   [&](query_result const& one) { output_.add_lines(result.lines, one, id); });
    result.items = items_of(found).size();
    if (output_.takes_neighbours()) result.found.push_back(std::move(found));
    return result;
  }

  /// Divides a batch into ranges. Processes may have different threads and devices, so all use the
  /// ranges of the first.
  std::vector<index_range> shares_of(index_range batch) const {
    process_group const& group = *ctx_.processes;
    return value_from_first(group, [&] {
      auto const processes = static_cast<std::size_t>(group.size());
      std::size_t const even = (batch.size() + processes - 1) / processes;
      std::size_t least = limits_.least_share;
      if (request_.radius) least = std::min(least, std::max(even / 2, limits_.least_share / 4));
      return factored_shares(batch.size(), processes,
                             ctx_.devices.empty() ? std::min(even, least) : even);
    });
  }

  template <class Found>
  std::uint64_t search_dealt(index_range batch) {
    auto const shares = shares_of(batch);
    std::map<std::size_t, result_lines> waiting;  // results that wait for earlier ones
    std::size_t next = 0;
    std::uint64_t items = 0;
    auto const task = [&](std::size_t t) {
      return bytes_of(dealt<Found>({batch.begin + shares[t].begin, batch.begin + shares[t].end}));
    };
    auto const keep = [&](std::size_t t, std::string const& bytes) {
      auto some = rulerank::value_of<dealt_result<Found>>(bytes);
      items += some.items;
      waiting[t] = std::move(some.lines);
      for (; !waiting.empty() && waiting.begin()->first == next; ++next)
        output_.write(waiting.extract(waiting.begin()).mapped());
      return bytes_of(some.found);
    };
    auto const kept =
        deal_ ? deal_(shares.size(), task, keep) : ctx_.processes->deal(shares.size(), task, keep);
    std::vector<Found> found;
    for (std::string_view bytes : kept) take(bytes, found);
    if (!found.empty()) output_.take(batch.begin, joined(std::move(found)));
    return value_from_first(*ctx_.processes, [&] { return items; });
  }

  context const& ctx_;
  searched_collection const& collection_;
  search_request const& request_;
  batch_limits const& limits_;
  search_output& output_;
  deal_fn const& deal_;
  bool deals_;
  std::size_t k_;
  std::unordered_map<std::uint32_t, std::string> learned_;
};

/// The number of processes that search for queries of a batch.
std::size_t in_turn(context const& ctx, bool deals) {
  return deals ? static_cast<std::size_t>(ctx.processes->size()) : 1;
}

/// Returns the number of queries of a batch, given the number of neighbours of a query.
std::size_t queries_of(context const& ctx, bool deals, batch_limits const& limits,
                       std::size_t neighbours, std::size_t most) {
  std::size_t const memory = deals ? limits.dealt_neighbours : limits.neighbours;
  return std::clamp(memory / std::max<std::size_t>(neighbours, 1), limits.fewest,
                    most * in_turn(ctx, deals));
}

/// Most neighbours of several queries together while their number grows.
constexpr std::size_t grown_neighbours = std::size_t{1} << 25;

/// Searches for more and more neighbours of queries among `items`, at first k of each, until
/// `take(query, ids, values)` returns that a query has enough, or `nearest(queries, k)` has
/// returned all: k of all items, or fewer than k if `has_no_more(order)`.
template <class Nearest, class Take, class HasNoMore>
void find_until_enough(index_range queries, std::size_t items, std::size_t k,
                       Nearest const& nearest, Take const& take, HasNoMore const& has_no_more) {
  std::vector<index_range> open{queries};
  items = std::max<std::size_t>(items, 1);
  for (k = std::clamp<std::size_t>(k, 1, items); !open.empty(); k = std::min(4 * k, items)) {
    std::vector<index_range> not_enough;
    std::size_t const together = std::max<std::size_t>(1, grown_neighbours / k);
    for (index_range const& range : open)
      for (std::size_t first = range.begin; first < range.end; first += together) {
        index_range const some{first, std::min(range.end, first + together)};
        neighbours const found = nearest(some, k);
        for (std::size_t q = 0; q < some.size(); ++q) {
          std::size_t const count = found.count_of(q);
          bool const is_enough =
              take(first + q, found.ids_of(q).first(count), found.values_of(q).first(count));
          if (is_enough || k == items || (count < k && has_no_more(found.order))) continue;
          if (!not_enough.empty() && not_enough.back().end == first + q)
            ++not_enough.back().end;
          else
            not_enough.push_back({first + q, first + q + 1});
        }
      }
    open = std::move(not_enough);
  }
}

/// Concatenates the items in range of each query.
rows_in_range ranges_of(value_order order,
                        std::vector<std::vector<std::pair<std::uint32_t, double>>> const& found) {
  rows_in_range all;
  all.order = order;
  all.begin.assign(1, 0);
  for (auto const& of_query : found) {
    for (auto const& [item, value] : of_query) {
      all.row.push_back(item);
      all.value.push_back(value);
    }
    all.begin.push_back(all.row.size());
  }
  return all;
}

}  // namespace

void searcher::keep_only_items(std::span<std::uint32_t const> items) {
  std::vector<std::uint64_t> bits((size() + 63) / 64);
  for (std::uint32_t const item : items) {
    if (item >= size())
      throw usage_error(
          fmt::format("filter: found item {}, expected a number below {}", item, size()));
    bits[item / 64] |= std::uint64_t{1} << (item % 64);
  }
  keep_only(bits);
}

void searched_collection::keep_only(std::span<std::uint64_t const> bits) {
  if (bits.size() != (size() + 63) / 64)
    throw usage_error(fmt::format("filter: found {} words of 64 bits, expected {} for {}",
                                  bits.size(), (size() + 63) / 64, counted(size(), "item")));
  kept_ = 0;
  for (std::uint64_t const word : bits) kept_ += static_cast<std::size_t>(std::popcount(word));
  filter_.assign(bits.begin(), bits.end());
}

neighbours searched_collection::nearest_of(context const& ctx, index_range queries,
                                           std::size_t k) const {
  return needs_filter() ? nearest_in_filter(ctx, queries, k) : nearest_of_all(ctx, queries, k);
}

neighbours searched_collection::nearest_in_filter(context const& ctx, index_range queries,
                                                  std::size_t k) const {
  neighbours kept;
  kept.queries = queries.size();
  kept.k = k;
  kept.id.assign(kept.queries * k, no_neighbour);
  kept.value.assign(kept.queries * k, 0);
  if (kept_ == 0) {  // a search for no queries gives the order
    kept.order = nearest_of_all(ctx, {queries.begin, queries.begin}, k).order;
    return kept;
  }
  // The expected number of items that contain k of the filter, if its items are evenly distributed,
  // and half as many more.
  double const expected =
      1.5 * static_cast<double>(k) * static_cast<double>(size()) / static_cast<double>(kept_);
  find_until_enough(
      queries, size(), static_cast<std::size_t>(std::min(expected, 1e18)) + 1,
      [&](index_range some, std::size_t more) {
        auto found = nearest_of_all(ctx, some, more);
        kept.order = found.order;
        return found;
      },
      [&](std::size_t query, std::span<std::uint32_t const> ids, std::span<double const> values) {
        std::size_t const first = (query - queries.begin) * k;
        std::size_t count = 0;
        for (std::size_t i = 0; i < ids.size() && count < k; ++i) {
          if (!is_kept(ids[i])) continue;
          kept.id[first + count] = ids[i];
          kept.value[first + count++] = values[i];
        }
        return count >= std::min(k, kept_);
      },
      [&](value_order order) { return has_no_more(order); });
  return kept;
}

rows_in_range searched_collection::within_of(context const& ctx, index_range queries,
                                             double radius) const {
  auto all = within_of_all(ctx, queries, radius);
  if (!needs_filter()) return all;
  std::vector<std::vector<std::pair<std::uint32_t, double>>> kept(queries.size());
  for (std::size_t q = 0; q < kept.size(); ++q)
    for (std::size_t i = all.begin[q]; i < all.begin[q + 1]; ++i)
      if (is_kept(all.row[i])) kept[q].emplace_back(all.row[i], all.value[i]);
  return ranges_of(all.order, kept);
}

rows_in_range searched_collection::within_of_all(context const& ctx, index_range queries,
                                                 double radius) const {
  if (std::isnan(radius)) throw usage_error("radius: found nan, expected a number");
  std::vector<std::vector<std::pair<std::uint32_t, double>>> inside(queries.size());
  value_order order{};
  find_until_enough(
      queries, size(), 64,
      [&](index_range some, std::size_t k) {
        auto found = nearest_of_all(ctx, some, k);
        order = found.order;
        return found;
      },
      [&](std::size_t query, std::span<std::uint32_t const> ids, std::span<double const> values) {
        auto& of_query = inside[query - queries.begin];
        of_query.clear();
        for (std::size_t i = 0; i < ids.size(); ++i) {
          if (score_of(order, values[i]) < score_of(order, radius)) return true;
          of_query.emplace_back(ids[i], values[i]);
        }
        return false;
      },
      [&](value_order of_found) { return has_no_more(of_found); });
  return ranges_of(order, inside);
}

neighbours searched_collection::nearest_of_all(context const& ctx, index_range queries,
                                               std::size_t k) const {
  if (is_whole()) return nearest_of_whole(ctx, queries, k);
  auto found = nearest_of_parts(ctx, queries, k);
  for (std::size_t p = 0; p < found.size(); ++p)
    renumber(found[p], static_cast<std::uint32_t>(parts_[p].first));
  return is_split_ ? merge(*ctx.processes, found, queries.size(), k)
                   : merge(found, queries.size(), k);
}

rows_in_range collection_with_radius::within_of_all(context const& ctx, index_range queries,
                                                    double radius) const {
  if (is_whole()) return within_whole(ctx, queries, radius);
  auto found = within_parts(ctx, queries, radius);
  for (std::size_t p = 0; p < found.size(); ++p)
    renumber(found[p], static_cast<std::uint32_t>(parts_[p].first));
  return is_split_ ? merge(*ctx.processes, found, queries.size()) : merge(found, queries.size());
}

void item_collection::number_parts(context const& ctx, bool is_split) {
  is_split_ = is_split && has_processes(ctx);
  items_ = 0;
  for (extent& part : parts_) {
    part.first = items_;
    items_ += part.size;
  }
  if (!is_split_) return;
  auto const sizes = gather_values(*ctx.processes, items_);
  auto const mine = sizes.begin() + ctx.processes->rank();
  std::size_t const first = std::accumulate(sizes.begin(), mine, std::size_t{0});
  for (extent& part : parts_) part.first += first;
  items_ = std::accumulate(mine, sizes.end(), first);
}

void item_collection::open_parts(context const& ctx, index_parts const& all, bool is_split,
                                 std::function<void(index_part const&)> const& open) {
  items_ = all.items;
  is_split_ = is_split;
  for (index_part const& part : parts_here(ctx, all, is_split)) {
    expect_part(part);
    open(part);
    expect_items(part, parts_.back().size);
  }
}

void item_collection::save_index(context const& ctx, std::string const& path, std::string_view kind,
                                 std::function<void(std::string const&)> const& save) const {
  if (!is_split_) {
    if (!is_whole())
      throw usage_error("an index in parts cannot be saved or pickled; copy its files");
    return save(path);
  }
  process_group const& group = *ctx.processes;
  save(path_of_part(path, static_cast<std::size_t>(group.rank())));
  write_index_parts(group, path, kind, parts_.front().size);
}

bool deals_queries(context const& ctx, searched_collection const& collection) {
  return has_processes(ctx) && !collection.is_split() && collection.may_be_dealt();
}

std::size_t queries_together(context const& ctx, searched_collection const& collection,
                             search_request const& request, batch_limits const& limits) {
  bool const deals = deals_queries(ctx, collection);
  if (request.radius) return limits.first_in_range * in_turn(ctx, deals);
  return queries_of(ctx, deals, limits, std::min(request.k, collection.size()), limits.most);
}

void search_in_batches(context const& ctx, searched_collection const& collection,
                       search_request const& request, batch_limits const& limits,
                       search_output& output, deal_fn const& deal) {
  batches search(ctx, collection, request, limits, output, deal);
  std::size_t const queries = collection.queries();
  bool const deals = deals_queries(ctx, collection);
  std::size_t together = queries_together(ctx, collection, request, limits);
  for (std::size_t first = 0, count = 0; first < queries; first += count) {
    count = std::min(together, queries - first);
    std::uint64_t const found = search.search({first, first + count});
    if (request.radius)
      together = queries_of(ctx, deals, limits, found / count + 1, limits.most_in_range);
    ctx.report("search", first + count, queries);
  }
}

namespace {

/// Passes the results of batches to `take_neighbours` or `take_ranges` and writes nothing.
class taken_results final : public search_output {
 public:
  using search_output::take;
  std::function<void(std::size_t first, neighbours found)> take_neighbours;
  std::function<void(std::size_t first, rows_in_range found)> take_ranges;

  void add_lines(result_lines&, query_result const&, id_of_fn const&) const override {}
  bool writes_ids() const override { return false; }
  void write(result_lines const&) override {}
  bool takes_neighbours() const override { return true; }
  void take(std::size_t first, neighbours found) override {
    take_neighbours(first, std::move(found));
  }
  void take(std::size_t first, rows_in_range found) override {
    take_ranges(first, std::move(found));
  }
};

template <class Found>
Found search_for(context const& ctx, searched_collection const& collection,
                 search_request const& request,
                 std::function<void(std::size_t, Found)> taken_results::*take) {
  stopwatch const watch;
  std::vector<Found> batches;
  taken_results output;
  output.*take = [&](std::size_t, Found found) { batches.push_back(std::move(found)); };
  search_in_batches(ctx, collection, request, collection.limits(ctx), output);
  Found found = joined(std::move(batches));
  found.search_s = watch.seconds();
  return found;
}

}  // namespace

neighbours searched_collection::nearest(context const& ctx, std::size_t k) const {
  if (k == 0) throw usage_error("k: found 0, expected at least 1");
  // A search for no queries reports their faults.
  if (queries() == 0) return nearest_of(ctx, {}, k);
  return search_for(ctx, *this, {.k = k}, &taken_results::take_neighbours);
}

rows_in_range searched_collection::within(context const& ctx, double radius) const {
  if (queries() == 0) return within_of(ctx, {}, radius);
  return search_for(ctx, *this, {.radius = radius}, &taken_results::take_ranges);
}

void searched_collection::search(context const& ctx, search_request const& request,
                                 take_fn const& take, std::size_t most_results) const {
  if (request.k == 0 && !request.radius) throw usage_error("k: found 0, expected at least 1");
  batch_limits bounds = limits(ctx);
  bounds.neighbours = std::min(bounds.neighbours, most_results);
  bounds.dealt_neighbours = std::min(bounds.dealt_neighbours, most_results);
  bounds.fewest = 1;
  taken_results output;
  auto const pass = [&](std::size_t first, auto const& found) {
    for_each_query(found, first, take);
  };
  output.take_neighbours = pass;
  output.take_ranges = pass;
  search_in_batches(ctx, *this, request, bounds, output);
}

}  // namespace rulerank::knn
