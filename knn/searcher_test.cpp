#include "knn/searcher.hpp"

#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/output_file.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "knn/dense/dense_reference.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/search.hpp"
#include "knn/metric/testing.hpp"
#include "knn/sparse/published/engines.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/search_reference.hpp"
#include "knn/text/text_collection.hpp"
#include "knn/text/text_index.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

// Tests the searchers of all modules in one body, against a comparison of each query with all
// items.
namespace rulerank::inline v0::knn::searcher_test {
namespace {

constexpr std::size_t items = 131;  // more than a few words of a filter
constexpr std::size_t queries = 7;

/// An item, its value, and whether it may be returned (whether it shares a term with the query).
struct compared_item {
  std::uint32_t item;
  double value;
  bool is_match = true;
};
/// All items of each query, nearest first, equally near ones by number.
using compared = std::vector<std::vector<compared_item>>;

/// A kind of searcher.
struct searcher_kind {
  std::string name;
  value_order order;
  std::vector<double> radii;
  std::function<compared()> compare;
  /// Makes a searcher for consecutive parts of the items; `is_split`: those of this process.
  std::function<std::unique_ptr<searcher>(context const&, std::vector<index_range> const& parts,
                                          bool is_split)>
      make;

  friend void PrintTo(searcher_kind const& kind, std::ostream* to) { *to << kind.name; }
};

searcher_kind dense_kind(similarity metric, std::vector<double> radii) {
  auto const rows = testing_tools::drawn_vectors(items, 4, 1, 4);  // of few values: many ties
  auto const asked = testing_tools::drawn_vectors(queries, 4, 2, 4);
  return {"dense_" + std::string(name_of(metric)), order_of(metric), std::move(radii),
          [=] {
            compared all;
            auto const found = search_reference(rows, asked, metric, items);
            for (std::size_t q = 0; q < queries; ++q) {
              all.emplace_back();
              for (std::size_t i = 0; i < items; ++i)
                all[q].push_back({found.ids_of(q)[i], found.values_of(q)[i]});
            }
            return all;
          },
          [=](context const& ctx, std::vector<index_range> const& parts, bool is_split) {
            std::vector<std::shared_ptr<dense_index const>> indexes;
            for (index_range const& part : parts)
              indexes.push_back(std::make_shared<dense_index const>(
                  ctx, rows.rows(part.begin, part.size()), dense_index_options{metric}));
            return make_searcher(ctx, std::move(indexes), asked, is_split);
          }};
}

/// Rows of about three of 12 terms; `is_signed`: with negative weights, too.
sparse_matrix random_rows(std::size_t rows, std::uint64_t seed, bool is_signed) {
  random_engine chance(seed);
  sparse_matrix all;
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<std::uint32_t> terms;
    std::vector<double> weights;
    for (std::uint32_t t = 0; t < 12; ++t) {
      if (uniform_below(chance, 4) != 0) continue;
      terms.push_back(t);
      double const weight = 1 + static_cast<double>(uniform_below(chance, 2));
      weights.push_back(is_signed && uniform_below(chance, 2) == 0 ? -weight : weight);
    }
    all.push_row(terms, weights);
  }
  all.terms = 12;
  return all;
}

/// Compares all rows of term weights. A match shares a term with the query, whatever its weight.
compared compare_rows(sparse_rows const& rows, sparse_rows const& asked, similarity metric) {
  compared all(asked.size());
  auto const found = search_reference(rows, asked, rows.size(), metric, {.pad = true});
  for (std::size_t q = 0; q < all.size(); ++q)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto const item = found.ids_of(q)[i];
      all[q].push_back(
          {item, found.values_of(q)[i],
           std::ranges::find_first_of(rows[item].term, asked[q].term) != rows[item].term.end()});
    }
  return all;
}

/// A searcher of a part that names the terms of all rows, with the memory that it refers to.
std::shared_ptr<sparse_searcher const> searcher_of_part(context const& ctx,
                                                        sparse_matrix const& rows, index_range part,
                                                        sparse_search_options const& options) {
  sparse_matrix some;
  for (std::size_t r = part.begin; r < part.end; ++r)
    some.push_row(sparse_rows(rows)[r].term, sparse_rows(rows)[r].weight);
  some.terms = rows.terms;
  struct memory {
    sparse_index whole;
    std::vector<std::uint64_t> begin{0}, known{0};
    std::vector<std::uint32_t> document{};
    std::vector<double> weight{};
    std::optional<sparse_index> part{};
    std::optional<sparse_searcher> searcher{};
  };
  auto const owner = std::make_shared<memory>(memory{sparse_index(ctx, some)});
  for (std::uint32_t const term : rows.term) owner->known.front() |= std::uint64_t{1} << term;
  for (std::uint32_t t = 0; t < rows.terms; ++t) {
    posting_list const list = owner->whole.list(t);
    owner->document.insert(owner->document.end(), list.document.begin(), list.document.end());
    owner->weight.insert(owner->weight.end(), list.weight.begin(), list.weight.end());
    owner->begin.push_back(owner->document.size());
  }
  owner->part.emplace(
      sparse_index_parts{owner->whole.documents(), owner->whole.norms(), owner->begin,
                         owner->document, owner->weight, owner->known},
      nullptr);
  owner->searcher.emplace(ctx, *owner->part, options);
  return {owner, &*owner->searcher};
}

searcher_kind sparse_kind(sparse_engine engine, similarity metric, bool is_signed,
                          std::vector<double> radii) {
  auto const rows = random_rows(items, 3, is_signed), asked = random_rows(queries, 4, is_signed);
  std::string name = "sparse_" + std::string(name_of(engine)) + "_" + std::string(name_of(metric));
  return {name + (is_signed ? "_signed" : ""), order_of(metric), std::move(radii),
          [=] { return compare_rows(rows, asked, metric); },
          [=](context const& ctx, std::vector<index_range> const& parts, bool is_split) {
            std::vector<std::shared_ptr<sparse_searcher const>> searchers;
            for (index_range const& part : parts)
              searchers.push_back(searcher_of_part(ctx, rows, part, {metric, engine}));
            return make_searcher(ctx, std::move(searchers), asked, {}, is_split);
          }};
}

std::vector<datasets::text_document> texts(std::size_t count, std::uint64_t seed) {
  random_engine chance(seed);
  std::vector<datasets::text_document> all;
  for (std::size_t d = 0; d < count; ++d) {
    std::string text = "alpha";
    for (std::uint64_t word = uniform_below(chance, 5); word > 0; --word)
      text += std::string(" w") + static_cast<char>('a' + uniform_below(chance, 9));
    all.push_back({"text" + std::to_string(d), "", {{"", text}}});
  }
  return all;
}

/// Several parts of a collection, or the parts of several processes, are read from index files.
searcher_kind text_kind() {
  auto const documents = texts(items, 5), asked = texts(queries, 6);
  auto const index = std::make_shared<text_index const>(text_index::build({}, documents, {}));
  auto const folder = std::make_shared<rulerank::testing_tools::temporary_folder const>();
  std::string const collection = *folder / "texts.tsv", path = *folder / "index";
  std::string lines;
  for (auto const& one : documents) lines += one.id + "\t" + one.fields[0].text + "\n";
  write_file(collection, lines);
  auto const write_part = [=](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    text_collection::build_part(ctx, collection, {}, path);
  };
  return {"text",
          value_order::larger_is_nearer,
          {0.3, 0.9},
          [=] {
            return compare_rows(index->index().documents(), index->queries({}, asked),
                                similarity::cosine);
          },
          [=, owner = folder](context const& ctx, std::vector<index_range> const& parts,
                              bool is_split) {
            if (is_split)
              write_part(*ctx.processes);
            else if (parts.size() > 1)
              rulerank::testing_tools::run_processes(static_cast<int>(parts.size()), write_part);
            else
              return make_searcher(ctx, index, asked);
            return make_searcher(ctx, path, asked, {}, {}, is_split);
          }};
}

searcher_kind metric_kind(metric_index_type type, bool of_words) {
  auto const rows = testing_tools::drawn_vectors(items, 3, 7, 4);
  auto const asked = testing_tools::drawn_vectors(queries, 3, 8, 4);
  auto const words = testing_tools::drawn_words(items, 9, 5);
  auto const asked_words = testing_tools::drawn_words(queries, 10, 5);
  auto const part_of = [=](index_range part) -> metric_search_part {
    metric_index_options const options{.type = type};
    if (of_words) {
      auto const begin = words.begin() + static_cast<std::ptrdiff_t>(part.begin);
      auto const space = std::make_shared<word_space const>(
          std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(part.size())));
      return {std::make_shared<metric_index const>(context(), space, options),
              space->queries(asked_words)};
    }
    auto const space = std::make_shared<vector_space const>(
        context(), rows.rows(part.begin, part.size()), metric_distance::l1);
    return {std::make_shared<metric_index const>(context(), space, options),
            space->queries({}, asked)};
  };
  std::string name = "metric_" + std::string(name_of(type)) + (of_words ? "_words" : "_vectors");
  return {name,
          value_order::smaller_is_nearer,
          {0, 2},
          [=] {
            metric_search_part const whole = part_of({0, items});
            compared all;
            for (std::size_t q = 0; q < queries; ++q) {
              all.emplace_back();
              auto const from = whole.queries->from(q);
              for (std::uint32_t i = 0; i < items; ++i) all[q].push_back({i, from->to(i)});
              std::ranges::stable_sort(all[q], {}, &compared_item::value);
            }
            return all;
          },
          [=](context const& ctx, std::vector<index_range> const& parts, bool is_split) {
            std::vector<metric_search_part> some;
            for (index_range const& part : parts) some.push_back(part_of(part));
            return make_searcher(ctx, std::move(some), is_split);
          }};
}

std::vector<searcher_kind> kinds() {
  add_published_sparse_engines();
  std::vector<searcher_kind> all{dense_kind(similarity::l2, {0, 2.5}),
                                 dense_kind(similarity::inner_product, {5, 20}),
                                 dense_kind(similarity::cosine, {0.5, 1}), text_kind()};
  for (sparse_engine const engine : {sparse_engine::tiles, sparse_engine::mt}) {
    all.push_back(sparse_kind(engine, similarity::cosine, false, {0.2, 0.7}));
    all.push_back(sparse_kind(engine, similarity::inner_product, true, {-2, 2}));
    all.push_back(sparse_kind(engine, similarity::normalized_l2, false, {0.6, 1.3}));
  }
  for (metric_index_info const& type : metric_index_types())
    for (bool const of_words : {false, true}) all.push_back(metric_kind(type.which, of_words));
  return all;
}

/// The first k items that the filter allows, without those that do not match.
std::vector<compared_item> nearest_of(std::vector<compared_item> const& all, std::size_t k,
                                      std::vector<bool> const& allowed) {
  std::vector<compared_item> found;
  std::size_t count = 0;
  for (compared_item const& one : all)
    if (allowed[one.item] && count++ < k && one.is_match) found.push_back(one);
  return found;
}

std::vector<compared_item> within_of(std::vector<compared_item> const& all, value_order order,
                                     double radius, std::vector<bool> const& allowed) {
  std::vector<compared_item> found;
  for (compared_item const& one : all)
    if (allowed[one.item] && one.is_match && score_of(order, one.value) >= score_of(order, radius))
      found.push_back(one);
  return found;
}

void expect_same(std::span<std::uint32_t const> ids, std::span<double const> values,
                 std::vector<compared_item> const& expected) {
  ASSERT_EQ(ids.size(), expected.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(ids[i], expected[i].item) << i;
    EXPECT_EQ(values[i], expected[i].value) << i;
  }
}

/// Compares all calls of a searcher with the comparison of each query with all items.
void expect_all_calls(context const& ctx, searcher const& search, searcher_kind const& kind,
                      compared const& all, std::vector<bool> const& allowed) {
  EXPECT_EQ(search.size(), items);
  EXPECT_EQ(search.queries(), queries);
  for (std::size_t const k : {std::size_t{1}, std::size_t{6}, items + 9}) {
    SCOPED_TRACE("k " + std::to_string(k));
    neighbours const found = search.nearest(ctx, k);
    EXPECT_EQ(found.k, std::min(k, items));
    ASSERT_EQ(found.queries, queries);
    EXPECT_EQ(found.order, kind.order);
    std::size_t next = 0;
    search.search(
        ctx, {k},
        [&](query_result const& one) {
          ASSERT_EQ(one.query, next++);
          expect_same(one.items, one.values, nearest_of(all[one.query], k, allowed));
        },
        2 * k);
    EXPECT_EQ(next, queries);
    for (std::size_t q = 0; q < queries; ++q) {
      std::size_t const count = found.count_of(q);
      expect_same(found.ids_of(q).first(count), found.values_of(q).first(count),
                  nearest_of(all[q], k, allowed));
    }
  }
  for (double const radius : kind.radii) {
    SCOPED_TRACE("radius " + std::to_string(radius));
    rows_in_range const found = search.within(ctx, radius);
    for (std::size_t q = 0; q < queries; ++q)
      expect_same(found.rows_of(q), found.values_of(q),
                  within_of(all[q], kind.order, radius, allowed));
    // A radius needs no k.
    search.search(ctx, {.k = 0, .radius = radius}, [&](query_result const& one) {
      expect_same(one.items, one.values, within_of(all[one.query], kind.order, radius, allowed));
    });
  }
}

/// Tests a searcher without a filter, with bits, with a list, and with no item.
void expect_filters(context const& ctx, searcher& search, searcher_kind const& kind) {
  auto const all = kind.compare();
  std::vector<bool> allowed(items, true);
  expect_all_calls(ctx, search, kind, all, allowed);
  std::vector<std::uint64_t> bits((items + 63) / 64);
  for (std::size_t i = 0; i < items; ++i) {
    allowed[i] = i % 5 == 2;
    bits[i / 64] |= std::uint64_t{allowed[i]} << (i % 64);
  }
  search.keep_only(bits);
  expect_all_calls(ctx, search, kind, all, allowed);
  allowed.assign(items, false);
  std::vector<std::uint32_t> const listed{130, 64, 3, 64};
  for (std::uint32_t const i : listed) allowed[i] = true;
  search.keep_only_items(listed);
  expect_all_calls(ctx, search, kind, all, allowed);
  search.keep_only_items({});
  expect_all_calls(ctx, search, kind, all, std::vector<bool>(items));
}

class Searchers : public testing::TestWithParam<searcher_kind> {};

TEST_P(Searchers, FindByKAndRadiusInAnyFilter) {
  context ctx;
  ctx.threads = 2;
  auto const search = GetParam().make(ctx, {{0, items}}, false);
  expect_filters(ctx, *search, GetParam());
  EXPECT_TRUE(search->id_of(items - 1).has_value());
  EXPECT_THROW(search->nearest(ctx, 0), usage_error);
  EXPECT_THROW(search->within(ctx, std::numeric_limits<double>::quiet_NaN()), usage_error);
  EXPECT_THROW(search->keep_only(std::vector<std::uint64_t>(1)), usage_error);
  EXPECT_THROW(search->keep_only_items(std::vector<std::uint32_t>{items}), usage_error);
}

TEST_P(Searchers, FindTheSameInParts) {
  auto const search = GetParam().make({}, {{0, 1}, {1, 70}, {70, items}}, false);
  expect_filters({}, *search, GetParam());
}

TEST_P(Searchers, FindTheSameOverProcesses) {
  for (bool const is_split : {false, true}) {
    rulerank::testing_tools::run_processes(3, [&](process_group const& group) {
      context ctx;
      ctx.threads = 1;
      ctx.processes = &group;
      index_range const mine = is_split
                                   ? even_range(items, 3, static_cast<std::size_t>(group.rank()))
                                   : index_range{0, items};
      auto const search = GetParam().make(ctx, {mine}, is_split);
      expect_filters(ctx, *search, GetParam());
    });
  }
}

TEST_P(Searchers, StopBetweenBatches) {
  auto const search = GetParam().make({}, {{0, items}}, false);
  std::stop_source stop;
  context ctx;
  ctx.stop = stop.get_token();
  std::size_t taken = 0;
  auto const take = [&](query_result const&) {
    ++taken;
    stop.request_stop();
  };
  EXPECT_THROW(search->search(ctx, {5}, take, 5), interrupted);
  EXPECT_EQ(taken, 1U) << "a batch is one query";
}

INSTANTIATE_TEST_SUITE_P(All, Searchers, testing::ValuesIn(kinds()), [](auto const& one) {
  std::string name = one.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Searcher, NamesItemsByTheirIds) {
  datasets::vectors const rows(std::vector<float>{1, 2, 3}, 1), query(std::vector<float>{3}, 1);
  auto const with_ids = std::make_shared<dense_index const>(context(), rows, dense_index_options{},
                                                            std::vector<std::int64_t>{70, 80, 90});
  EXPECT_EQ(make_searcher({}, std::vector{with_ids}, query)->id_of(2), "90");
  auto const index = std::make_shared<text_index const>(text_index::build({}, texts(items, 5), {}));
  EXPECT_EQ(make_searcher({}, index, texts(1, 6))->id_of(2), "text2");
}

TEST(Searcher, ProcessesNeedTheSameNumberOfQueries) {
  rulerank::testing_tools::run_processes(2, [](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    auto const space = std::make_shared<word_space const>(std::vector<std::string>{"one", "two"});
    std::vector<std::string> asked(group.is_first() ? 1 : 2, "too");
    std::vector<metric_search_part> part{
        {std::make_shared<metric_index const>(context(), space, metric_index_options{}),
         space->queries(std::move(asked))}};
    EXPECT_THROW(make_searcher(ctx, std::move(part), true), usage_error);
  });
}

}  // namespace
}  // namespace rulerank::knn::searcher_test
