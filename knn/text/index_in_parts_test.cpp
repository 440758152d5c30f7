#include "core/even_ranges.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/process_group_testing.hpp"
#include "core/testing.hpp"
#include "knn/dense/dense_collection.hpp"
#include "knn/metric/metric_collection.hpp"
#include "knn/searched_collection.hpp"
#include "knn/text/text_collection.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::index_in_parts_test {
namespace {

using testing_tools::message_of;
using testing_tools::run_processes;
using testing_tools::temporary_folder;

constexpr int processes = 3;

/// Rows of few distinct values, so that many are equally near.
datasets::vectors random_rows(std::size_t rows, std::size_t dimensions, unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<float> values(rows * dimensions);
  for (float& value : values) value = static_cast<float>(draw() % 4);
  return {std::move(values), dimensions};
}

std::vector<std::string> random_words(std::size_t count, unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<std::string> words(count);
  for (std::string& word : words)
    for (unsigned length = 1 + draw() % 6; length > 0; --length)
      word += static_cast<char>('a' + draw() % 3);
  return words;
}

/// The context of one of several processes, without threads.
context process_of(process_group const& group) {
  context ctx;
  ctx.threads = 1;
  ctx.processes = &group;
  return ctx;
}

void expect_same(neighbours const& found, neighbours const& expected) {
  EXPECT_EQ(found.queries, expected.queries);
  EXPECT_EQ(found.k, expected.k);
  EXPECT_EQ(found.order, expected.order);
  EXPECT_EQ(found.id, expected.id);
  EXPECT_EQ(found.value, expected.value);
}

void expect_same(rows_in_range const& found, rows_in_range const& expected) {
  EXPECT_EQ(found.begin, expected.begin);
  EXPECT_EQ(found.row, expected.row);
  EXPECT_EQ(found.value, expected.value);
}

/// Records what its process sends.
struct overheard_group final : process_group {
  explicit overheard_group(process_group const& to) : group(to) {}
  int rank() const noexcept override { return group.rank(); }
  int size() const noexcept override { return group.size(); }
  std::vector<std::string> gather(std::string_view mine) const override {
    sent += mine;
    return group.gather(mine);
  }
  std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                keep_fn const& keep) const override {
    return group.deal(tasks, task, keep);
  }
  process_group const& group;
  mutable std::string sent;
};

TEST(IndexInParts, NoIdsAreSentWhereNoneAreWritten) {
  auto const rows = random_rows(131, 5, 1), queries = random_rows(17, 5, 2);
  dense_index const whole({}, rows, {});
  run_processes(processes, [&](process_group const& group) {
    overheard_group const overheard(group);
    index_range const mine = own_range(group, rows.size());
    std::vector<std::int64_t> const ids(mine.size(), 777777777777);
    dense_collection const parts(process_of(overheard),
                                 {rows.rows(mine.begin, mine.size()), mine.begin, rows.size()},
                                 true, {}, ids);
    ASSERT_TRUE(parts.has_ids_in_parts());
    expect_same(dense_search(parts, queries).nearest(process_of(overheard), 7),
                whole.search({}, queries, 7));
    EXPECT_EQ(overheard.sent.find("777777777777"), std::string::npos);
  });
}

TEST(IndexInParts, DenseRowsAreFoundAsInOneIndex) {
  temporary_folder const folder;
  std::string const path = folder / "index";
  auto const rows = random_rows(131, 5, 1), queries = random_rows(17, 5, 2);
  std::vector<std::uint64_t> filter(3);
  for (std::size_t row = 0; row < rows.size(); row += 3)
    filter[row / 64] |= std::uint64_t{1} << (row % 64);
  for (similarity const metric : {similarity::l2, similarity::cosine}) {
    dense_index_options const options{.metric = metric};
    run_processes(processes, [&](process_group const& group) {
      index_range const mine = own_range(group, rows.size());
      dense_collection(process_of(group),
                       {rows.rows(mine.begin, mine.size()), mine.begin, rows.size()}, true, options,
                       {})
          .save(process_of(group), path);
    });
    auto const parts = dense_collection::open({}, path, dense_engine::automatic);
    EXPECT_EQ(parts.size(), rows.size());
    EXPECT_EQ(parts.first_index().dimensions(), 5U);
    EXPECT_EQ(parts.first_index().metric(), metric);
    dense_index const whole({}, rows, options);
    for (bool const is_filtered : {false, true}) {
      dense_filter const allowed{is_filtered ? filter : std::vector<std::uint64_t>(), {}};
      dense_search search(parts, queries);
      if (is_filtered) search.keep_only(filter);
      for (std::size_t const k : {1U, 7U, 131U})
        expect_same(search.nearest({}, k), whole.search({}, queries, k, allowed));
      expect_same(search.within({}, 0.9), whole.search_range({}, queries, 0.9, allowed));
      dense_collection const one(dense_index({}, rows, options));
      for (int const size : {2, 3})
        run_processes(size, [&](process_group const& group) {
          dense_search dealt(one, queries);
          if (is_filtered) dealt.keep_only(filter);
          expect_same(dealt.nearest(process_of(group), 7), whole.search({}, queries, 7, allowed));
        });
    }
    EXPECT_EQ(message_of<usage_error>(
                  [&] { dense_search(parts, queries).keep_only(std::span(filter).first(2)); }),
              "filter: found 2 words of 64 bits, expected 3 for 131 items");
    EXPECT_NE(message_of<usage_error>([&] { parts.save({}, path); }), "OK");
    EXPECT_NE(message_of([&] { metric_collection::open({}, path); }), "OK");
    EXPECT_NE(message_of([&] { text_collection::open({}, path); }), "OK");
  }
}

TEST(IndexInParts, VectorsAndWordsAreFoundAsInOneIndex) {
  temporary_folder const folder;
  std::string const path = folder / "index";
  auto const rows = random_rows(90, 4, 3);
  auto const words = random_words(90, 4);
  std::vector<metric_asked> const asked{random_rows(9, 4, 5), random_words(9, 6)};
  for (bool const of_words : {false, true}) {
    auto const objects = [&](index_range some) -> metric_objects {
      auto const begin = words.begin() + static_cast<std::ptrdiff_t>(some.begin);
      if (of_words)
        return {nullptr, std::make_shared<word_space>(
                             std::vector<std::string>(
                                 begin, begin + static_cast<std::ptrdiff_t>(some.size())),
                             letters::bytes)};
      return {std::make_shared<vector_space>(context{}, rows.rows(some.begin, some.size()),
                                             metric_distance::l1),
              nullptr};
    };
    metric_index_options const options{.type = metric_index_type::lc};
    run_processes(processes, [&](process_group const& group) {
      index_range const mine = own_range(group, 90);
      metric_collection::of_part(process_of(group), objects(mine), options, mine.begin, 90)
          .save(process_of(group), path);
    });
    auto const parts = metric_collection::open({}, path);
    EXPECT_EQ(parts.size(), 90U);
    EXPECT_EQ(parts.first_options().type, metric_index_type::lc);
    EXPECT_EQ(parts.first_objects().words != nullptr, of_words);
    EXPECT_EQ(parts.first_objects().vectors != nullptr, !of_words);
    auto const& some = asked[of_words ? 1 : 0];
    metric_search const search({}, parts, some);
    auto const all = objects({0, 90});
    metric_index const whole({}, all.space(), options);
    auto const queries = all.queries({}, some);
    for (std::size_t const k : {1U, 8U, 90U})
      expect_same(search.nearest({}, k), whole.search({}, *queries, k));
    expect_same(search.within({}, 3), whole.search_range({}, *queries, 3));
  }
}

TEST(IndexInParts, ObjectsOfOnesOwnAreFoundAsInTheirIndex) {
  auto const difference = [](double a, double b) { return std::abs(a - b); };
  auto const space = std::make_shared<object_space<double, decltype(difference)> const>(
      std::vector<double>{4, 1, 9, 1}, difference);
  std::shared_ptr<metric_queries const> const queries = space->queries({2, 8});
  metric_collection const objects({}, {nullptr, nullptr, space}, {.type = metric_index_type::lc});
  metric_index const whole({}, space, {.type = metric_index_type::lc});
  metric_search const search({}, objects, queries);
  EXPECT_EQ(search.queries(), 2U);
  expect_same(search.nearest({}, 3), whole.search({}, *queries, 3));
  expect_same(search.within({}, 2), whole.search_range({}, *queries, 2));
}

TEST(IndexInParts, DocumentsAreFoundAsInOneIndex) {
  temporary_folder const folder;
  std::string const path = folder / "index", collection = folder / "docs.tsv";
  std::mt19937 draw(7);
  std::string lines;
  for (int d = 0; d < 61; ++d) {
    lines += "d" + std::to_string(d) + "\tall";
    for (unsigned word = draw() % 9; word > 0; --word) lines += " w" + std::to_string(draw() % 30);
    lines += "\n";
  }
  write_file(collection, lines);
  text_index_options options;
  options.weighting = {.how = weighting::bm25};
  options.metric = similarity::inner_product;
  run_processes(processes, [&](process_group const& group) {
    text_collection::build_part(process_of(group), collection, options, path);
  });
  auto const parts = text_collection::open({}, path);
  text_index const whole = text_index::build({}, collection, options);
  EXPECT_EQ(parts.size(), 61U);
  EXPECT_EQ(parts.first_index().terms().size(), whole.terms().size());
  EXPECT_EQ(parts.first_index().options().metric, similarity::inner_product);
  for (std::uint32_t d = 0; d < 61; ++d) EXPECT_EQ(parts.id_of(d), whole.ids()[d]);
  std::vector<datasets::text_document> const queries{
      {"1", "", {{"", "w1 w2 w3"}}}, {"2", "", {{"", "nothing"}}}, {"3", "", {{"", "all w29"}}}};
  sparse_matrix const weights = whole.queries({}, queries);
  for (similarity const metric : {similarity::inner_product, similarity::cosine}) {
    sparse_searcher const searcher({}, whole.index(), {metric});
    for (std::size_t const k : {25U, 1U, 61U, 62U, 1U})  // the parts are prepared once
      for (bool const pad : {false, true})
        expect_same(
            text_search(parts, parts.searchers({}, {metric}), queries, "queries", {.pad = pad})
                .nearest({}, k),
            searcher.search({}, weights, std::min<std::size_t>(k, 61), {.pad = pad}));
  }
  text_collection const one(text_index::build({}, collection, options));
  text_search const search(one, one.searchers({}, sparse_search_options{}), queries, "queries",
                           {.pad = true});
  for (std::size_t const k : {5U, 1U, 61U})
    expect_same(search.nearest({}, k),
                sparse_searcher({}, whole.index(), {}).search({}, weights, k, {.pad = true}));
}

TEST(text_collection, keeps_the_searchers_of_the_last_options) {
  std::vector<datasets::text_document> const documents{{"1", "", {{"", "a cat"}}},
                                                       {"2", "", {{"", "a dog"}}}};
  text_collection const collection(text_index::build({}, documents, {}));
  sparse_search_options const by_cosine;
  auto const first = collection.searchers({}, by_cosine);
  context threads;
  threads.threads = 2;
  EXPECT_EQ(collection.searchers(threads, by_cosine), first);
  auto const by_product = collection.searchers({}, {similarity::inner_product});
  EXPECT_NE(by_product, first);
  EXPECT_THROW(collection.searchers({}, {similarity::l2}), usage_error);
  auto const again = collection.searchers({}, by_cosine);
  EXPECT_NE(again, first);
  for (auto const& searchers : {first, again})  // each is valid as long as it is held
    EXPECT_EQ(text_search(collection, searchers, documents, "queries").nearest({}, 1).id,
              (std::vector<std::uint32_t>{0, 1}));
}

TEST(IndexInParts, AFileThatNamesNoPartsIsOneIndex) {
  temporary_folder const folder;
  std::string const path = folder / "index";
  dense_index({}, random_rows(5, 2, 1)).save({}, path);
  EXPECT_TRUE(dense_collection::open({}, path, dense_engine::automatic).is_whole());
  EXPECT_NE(message_of([&] { text_collection::open({}, folder / "none"); }), "OK");
}

}  // namespace
}  // namespace rulerank::knn::index_in_parts_test
