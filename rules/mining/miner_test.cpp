#include "rules/mining/miner.hpp"

#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "rules/mining/engines.hpp"
#include "rules/mining/mining_reference.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::rules::miner_test {
namespace {

using reference::itemset;
using reference::itemset_supports;

datasets::transactions in_rows(std::vector<itemset> const& sets, std::uint32_t items) {
  datasets::transactions data;
  for (itemset const& s : sets) {
    data.items.insert(data.items.end(), s.begin(), s.end());
    data.row.push_back(data.items.size());
  }
  for (std::uint32_t x = 0; x < items; ++x) data.names.push_back(std::to_string(x));
  return data;
}

/// Every itemset once, its items ascending.
itemset_supports supports_in(itemset_list const& list) {
  itemset_supports found;
  list.for_each([&](std::span<item const> x, std::uint32_t support) {
    itemset set(x.begin(), x.end());
    std::sort(set.begin(), set.end());
    EXPECT_EQ(std::adjacent_find(set.begin(), set.end()), set.end());
    EXPECT_TRUE(found.emplace(set, support).second) << ::testing::PrintToString(set) << " twice";
  });
  EXPECT_EQ(list.size(), found.size());
  return found;
}

/// A, B, C, ... as items 0, 1, 2, ...
itemset letters(std::string_view text) {
  itemset set;
  for (char const c : text) set.push_back(static_cast<item>(c - 'A'));
  return set;
}

constexpr mining_engine engines[] = {mining_engine::bruteforce, mining_engine::apriori,
                                     mining_engine::vertical};
constexpr itemset_kind kinds[] = {itemset_kind::all, itemset_kind::closed, itemset_kind::maximal};

class miner : public ::testing::TestWithParam<mining_engine> {
 protected:
  itemset_supports mined(datasets::transactions const& data, mining_options options,
                         int threads = 1) const {
    options.engine = GetParam();
    context ctx;
    ctx.threads = threads;
    return supports_in(mine(ctx, view_of(data), options));
  }
};

TEST_P(miner, golden_case_of_the_definitions) {
  auto const data = in_rows({letters("ABDE"), letters("BCE"), letters("ABDE"), letters("ABCE"),
                             letters("ABCDE"), letters("BCD")},
                            5);
  itemset_supports expected{{letters("B"), 6}};
  for (char const* set : {"E", "BE"}) expected[letters(set)] = 5;
  for (char const* set : {"A", "C", "D", "AB", "AE", "BC", "BD", "ABE"}) expected[letters(set)] = 4;
  for (char const* set : {"AD", "CE", "DE", "ABD", "ADE", "BCE", "BDE", "ABDE"})
    expected[letters(set)] = 3;
  ASSERT_EQ(expected.size(), 19U);
  EXPECT_EQ(mined(data, {.min_support = 3}), expected);
  EXPECT_EQ(mined(data, {.kind = itemset_kind::closed, .min_support = 3}),
            (itemset_supports{{letters("B"), 6},
                              {letters("BE"), 5},
                              {letters("ABE"), 4},
                              {letters("BC"), 4},
                              {letters("BD"), 4},
                              {letters("BCE"), 3},
                              {letters("ABDE"), 3}}));
  EXPECT_EQ(mined(data, {.kind = itemset_kind::maximal, .min_support = 3}),
            (itemset_supports{{letters("BCE"), 3}, {letters("ABDE"), 3}}));
}

TEST_P(miner, golden_case_of_bitmaps) {
  std::string const f1 = "0100101001001010", f3 = "1101001001100010", f4 = "0010001010001010";
  std::vector<itemset> rows(16);
  for (std::size_t t = 0; t < 16; ++t) {
    if (f1[t] == '1') rows[t].push_back(0);
    if (f3[t] == '1') rows[t].push_back(1);
    if (f4[t] == '1') rows[t].push_back(2);
  }
  auto const found = mined(in_rows(rows, 3), {.min_support = 1});
  EXPECT_EQ(found.at({0, 1}), 4U);
  EXPECT_EQ(found.at({0, 1, 2}), 2U);
}

TEST_P(miner, nothing_and_little) {
  EXPECT_TRUE(mined(in_rows({}, 0), {}).empty());
  EXPECT_TRUE(mined(in_rows({{}, {}}, 0), {}).empty());
  EXPECT_TRUE(mined(in_rows({{0}, {1}}, 2), {.min_support = 2}).empty());
  for (itemset_kind const kind : kinds) {
    EXPECT_EQ(mined(in_rows({{0}}, 1), {.kind = kind}), (itemset_supports{{{0}, 1}}));
    EXPECT_EQ(mined(in_rows({{}, {1}}, 3), {.kind = kind, .min_support = 0}),
              (itemset_supports{{{1}, 1}}));
  }
  EXPECT_EQ(mined(in_rows({{0, 1}, {0, 1}}, 2), {.kind = itemset_kind::closed}),
            (itemset_supports{{{0, 1}, 2}}));
  EXPECT_EQ(mined(in_rows({{0, 1}, {0, 1}}, 2), {}).size(), 3U);
}

TEST_P(miner, wrong_usage) {
  auto const data = in_rows({{0}}, 1);
  EXPECT_THROW(mined(data, {.min_size = 3, .max_size = 2}), usage_error);
}

/// Random transactions: items of descending probability, some in all transactions, some copies of
/// others, and repeated transactions.
std::vector<itemset> draw(std::size_t n, std::uint32_t items, double density, random_engine& engine,
                          bool in_all = true) {
  std::vector<double> chance(items);
  for (double& p : chance) {
    p = std::min(1.0, density * 2 * uniform_unit(engine));
    if (in_all && uniform_below(engine, 8) == 0) p = 1;
  }
  std::vector<itemset> sets(n);
  for (std::size_t t = 0; t < n; ++t) {
    if (t > 0 && uniform_below(engine, 4) == 0) {
      sets[t] = sets[uniform_below(engine, t)];
      continue;
    }
    bool before = false;
    for (item x = 0; x < items; ++x) {
      bool const copy = x % 5 == 4;
      bool const held = copy ? before : uniform_unit(engine) < chance[x];
      if (held) sets[t].push_back(x);
      before = held;
    }
  }
  return sets;
}

TEST_P(miner, is_the_reference_on_random_sets) {
  random_engine engine(11);
  for (int round = 0; round < 60; ++round) {
    std::uint32_t const items = 1 + static_cast<std::uint32_t>(uniform_below(engine, 11));
    std::size_t const n = 1 + uniform_below(engine, round % 10 == 9 ? 700 : 70);
    auto const sets = draw(n, items, uniform_unit(engine), engine);
    auto const data = in_rows(sets, items);
    for (itemset_kind const kind : kinds) {
      mining_options options;
      options.kind = kind;
      options.min_support = static_cast<std::uint32_t>(1 + uniform_below(engine, 1 + n / 2));
      options.min_size = 1 + static_cast<std::uint32_t>(uniform_below(engine, 3));
      options.max_size =
          uniform_below(engine, 2) == 0
              ? 0
              : options.min_size + static_cast<std::uint32_t>(uniform_below(engine, 4));
      auto const expected = reference::mine(sets, items, options);
      ASSERT_EQ(mined(data, options), expected)
          << "round " << round << ", " << name_of(kind) << ", support " << options.min_support
          << ", sizes " << options.min_size << " to " << options.max_size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(engines, miner, ::testing::ValuesIn(engines),
                         [](auto const& which) { return std::string(name_of(which.param)); });

TEST(vertical, is_apriori_where_bruteforce_cannot_go) {
  random_engine engine(5);
  struct shape {
    std::size_t n;
    std::uint32_t items;
    double density;
    std::uint32_t min_support;
  };
  for (shape const s : {shape{3000, 300, 0.01, 6}, shape{1200, 40, 0.3, 60},
                        shape{600, 60, 0.05, 4}, shape{5000, 30, 0.1, 40}}) {
    auto const data = in_rows(draw(s.n, s.items, s.density, engine, false), s.items);
    for (itemset_kind const kind : kinds) {
      mining_options options{.kind = kind, .min_support = s.min_support};
      options.engine = mining_engine::apriori;
      auto const expected = supports_in(mine({}, view_of(data), options));
      options.engine = mining_engine::vertical;
      ASSERT_EQ(supports_in(mine({}, view_of(data), options)), expected) << s.n;
    }
  }
}

/// Returns the itemsets in the list's order, items in its order, each followed by its support.
std::vector<std::vector<std::uint32_t>> flat(itemset_list const& list) {
  std::vector<std::vector<std::uint32_t>> sets;
  list.for_each([&](std::span<item const> x, std::uint32_t support) {
    sets.emplace_back(x.begin(), x.end());
    sets.back().push_back(support);
  });
  return sets;
}

void expect_same_for_threads(datasets::transactions const& data, std::uint32_t min_support) {
  for (itemset_kind const kind : kinds) {
    mining_options const options{.kind = kind, .min_support = min_support, .max_size = 6};
    context one;
    one.threads = 1;
    auto const expected = flat(mine(one, view_of(data), options));
    ASSERT_FALSE(expected.empty());
    for (int const threads : {2, 3, 8}) {
      context several;
      several.threads = threads;
      ASSERT_EQ(flat(mine(several, view_of(data), options)), expected) << name_of(kind);
    }
  }
}

TEST(vertical, is_the_same_for_any_number_of_threads) {
  random_engine engine(6);
  expect_same_for_threads(in_rows(draw(2000, 60, 0.1, engine, false), 60), 60);
  expect_same_for_threads(in_rows(draw(600, 24, 0.4, engine, false), 24), 90);
  expect_same_for_threads(in_rows(draw(900, 400, 0.01, engine, false), 400), 4);
}

TEST_P(miner, is_the_same_for_any_number_of_processes) {
  random_engine engine(8);
  for (bool const in_all : {true, false}) {
    auto const data = in_rows(draw(200, 12, 0.4, engine, in_all), 12);
    for (itemset_kind const kind : kinds) {
      mining_options const options{.engine = GetParam(), .kind = kind, .min_support = 9};
      auto const expected = flat(mine({}, view_of(data), options));
      ASSERT_FALSE(expected.empty());
      for (int const processes : {2, 3, 5})
        testing_tools::run_processes(processes, [&](process_group const& group) {
          context ctx;
          ctx.threads = processes == 3 ? 2 : 1;
          ctx.processes = &group;
          EXPECT_EQ(flat(mine(ctx, view_of(data), options)), expected) << name_of(kind);
        });
    }
  }
  auto const nothing = in_rows({{}, {}}, 0);
  testing_tools::run_processes(2, [&](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    EXPECT_TRUE(mine(ctx, view_of(nothing), {.engine = GetParam()}).empty());
  });
}

TEST(mining_budget, of_the_first_process_counts_and_all_refuse) {
  random_engine engine(7);
  auto const data = in_rows(draw(300, 20, 0.5, engine), 20);
  mining_options const options{.min_support = 10};
  std::uint64_t const bytes = mine({}, view_of(data), options).bytes();
  // Too little for one process's part; too little only for all parts together.
  for (std::uint64_t const most : {std::uint64_t{1000}, bytes / 2}) {
    std::atomic<int> refused{0};
    testing_tools::run_processes(3, [&](process_group const& group) {
      context ctx;
      ctx.processes = &group;
      mining_options own = options;
      own.max_bytes = most;
      try {
        mine(ctx, view_of(data), own);
      } catch (out_of_budget const&) {
        ++refused;
      }
    });
    EXPECT_EQ(refused, 3) << most;
  }
  testing_tools::run_processes(3, [&](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    std::uint64_t const own = bytes_for_itemsets(ctx);
    EXPECT_EQ(own, of_first(ctx, own));
    EXPECT_EQ(of_first(ctx, group.rank() + 7), 7);
  });
}

TEST(mining_budget, is_kept) {
  random_engine engine(7);
  auto const data = in_rows(draw(300, 20, 0.5, engine), 20);
  for (mining_engine const engine_ : {mining_engine::apriori, mining_engine::vertical})
    EXPECT_THROW(mine({}, view_of(data), {.engine = engine_, .min_support = 10, .max_bytes = 1000}),
                 out_of_budget);
}

TEST(mine, refuses_transactions_that_are_none) {
  struct {
    std::vector<std::size_t> row;
    std::vector<item> entries;
    bool right;
  } const cases[] = {
      {{0, 2, 3}, {0, 2, 1}, true},
      {{}, {}, true},
      {{0}, {}, true},
      {{0, 2, 3}, {0, 3, 1}, false},  // item out of range
      {{0, 2, 3}, {2, 0, 1}, false},
      {{0, 2, 3}, {1, 1, 1}, false},
      {{0, 2, 4}, {0, 2, 1}, false},
      {{0, 3, 2}, {0, 1, 2}, false},
      {{1, 2, 3}, {0, 1, 2}, false},
      {{0, 1}, {4294967295U}, false},
  };
  for (auto const& [row, entries, right] : cases)
    for (auto const& e : mining_engines()) {
      transaction_view const view{row, entries, 3};
      if (right) {
        EXPECT_NO_THROW(mine({}, view, {.engine = e.which}));
        EXPECT_NO_THROW(estimated_itemsets({}, view, {}));
        continue;
      }
      EXPECT_THROW(mine({}, view, {.engine = e.which}), usage_error) << row.size();
      EXPECT_THROW(estimated_itemsets({}, view, {}), usage_error);
    }
}

TEST(mining_options, take_no_more_memory_than_there_is) {
  mining_options const resolved = mining::resolved({}, {});
  EXPECT_GT(resolved.max_bytes, 0U);
  EXPECT_LE(resolved.max_bytes, free_memory());
  EXPECT_EQ(mining::resolved({}, {.max_bytes = 0}).max_bytes, 0U);
}

TEST(mining_engines, have_names) {
  for (auto const& e : mining_engines()) EXPECT_EQ(mining_engine_from(e.name), e.which);
  EXPECT_EQ(mining_engine_from("auto"), mining_engine::automatic);
  EXPECT_THROW(mining_engine_from("eclat"), usage_error);
  for (itemset_kind const k : kinds) EXPECT_EQ(itemset_kind_from(name_of(k)), k);
  EXPECT_THROW(itemset_kind_from("open"), usage_error);
}

TEST(bruteforce, refuses_many_items) {
  EXPECT_THROW(mine({}, view_of(in_rows({}, 25)), {.engine = mining_engine::bruteforce}),
               usage_error);
}

/// Results of pyfim 6.28's relim (mushroom) and eclat (the others): all, closed, maximal. Its eclat
/// omits mushroom's item 85, which occurs in all transactions, as a set.
struct published {
  char const* file;
  std::uint32_t min_support;
  std::uint64_t counts[3];
};

TEST(real_transactions, have_the_published_numbers_of_itemsets) {
  for (published const p : std::initializer_list<published>{
           {"fim/chess.dat", 2238, {48731, 23892, 891}},
           {"fim/chess.dat", 1918, {254944, 98392, 3323}},
           {"fim/mushroom.dat", 1625, {53583, 1197, 158}},
           {"fim/mushroom.dat", 813, {574431, 4885, 547}},
           {"fim/T10I4D100K.dat", 1000, {385, 385, 370}},
           {"fim/T10I4D100K.dat", 100, {27532, 26806, 4054}},
           {"fim/T10I4D100K.dat", 20, {129875, 107822, 50258}},
       }) {
    RULERANK_REAL_DATA(path, p.file);
    auto const data = datasets::read_fimi({}, path);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(mine({}, view_of(data), {.kind = kinds[k], .min_support = p.min_support}).size(),
                p.counts[k])
          << p.file << " " << p.min_support << " " << name_of(kinds[k]);
  }
}

TEST(real_transactions, have_the_same_itemsets_by_both_engines) {
  struct set_and_support {
    char const* file;
    std::uint32_t min_support;
  };
  for (auto const& [file, min_support] : std::initializer_list<set_and_support>{
           {"fim/chess.dat", 2877},
           {"fim/chess.dat", 2558},
           {"fim/mushroom.dat", 3250},
           {"fim/mushroom.dat", 2500},
           {"fim/T10I4D100K.dat", 1000},
           {"fim/T10I4D100K.dat", 500},
       }) {
    RULERANK_REAL_DATA(path, file);
    auto const data = datasets::read_fimi({}, path);
    for (itemset_kind const kind : kinds) {
      mining_options options{.kind = kind, .min_support = min_support};
      options.engine = mining_engine::apriori;
      auto const expected = supports_in(mine({}, view_of(data), options));
      options.engine = mining_engine::vertical;
      EXPECT_GT(expected.size(), 0U);
      EXPECT_EQ(supports_in(mine({}, view_of(data), options)), expected)
          << file << " " << min_support << " " << name_of(kind);
    }
  }
}

}  // namespace
}  // namespace rulerank::rules::miner_test
