#include "al/engine.hpp"
#include "al/measured_sampling.hpp"
#include "al/partition.hpp"
#include "al/published/counters.hpp"
#include "al/published/engines.hpp"
#include "al/sampler_reference.hpp"
#include "al/support_table.hpp"
#include "al/testing.hpp"
#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/feature_order.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

namespace rulerank::inline v0::al::al_test {
namespace {

[[maybe_unused]] bool const published_engines_are_listed = (add_published_engines(), true);

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

sampler_options options_for(engine which, rules::rule_size rule_size, rules::thresholds t,
                            std::size_t partitions) {
  sampler_options options;
  options.engine = which;
  options.rule_size = rule_size;
  options.thresholds = t;
  options.partitions = partitions;
  return options;
}

/// All engines, including those that this build lacks.
struct named_engine {
  engine which;
  std::string name;
};
std::vector<named_engine> const all_engines{{engine::ssarp, "ssarp"},
                                            {engine::pssarp, "pssarp"},
                                            {engine::prss, "prss"},
                                            {engine::delta, "delta"}};

void PrintTo(named_engine const& e, std::ostream* out) {
  *out << e.name;
}

/// Whether the engine needs a GPU.
bool runs_on_gpu(engine which) {
  engine_info const* const found = find_engine(engines(), which);
  return found == nullptr || !includes(found->where, runs_on::cpu);
}

/// Why an engine cannot run here; empty if it can.
std::string why_not_here(named_engine const& e) {
  if (find_engine(engines(), e.which) == nullptr) return "engine " + e.name + " needs CUDA";
  if (!runs_on_gpu(e.which) || !testing_tools::gpus().empty()) return {};
  return "engine " + e.name + ": " + list_devices().why_none;
}

/// The context for an engine: for a GPU engine, with one thread the first GPU, else all.
context context_for(engine which, int threads = 0) {
  context ctx;
  ctx.threads = threads;
  if (runs_on_gpu(which)) ctx.devices = testing_tools::gpus();
  if (threads == 1 && !ctx.devices.empty()) ctx.devices = {ctx.devices.front()};
  return ctx;
}

class every_engine : public testing::TestWithParam<named_engine> {
 protected:
  void SetUp() override {
    if (auto const why = why_not_here(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  engine tested() const { return GetParam().which; }
};

INSTANTIATE_TEST_SUITE_P(al, every_engine, testing::ValuesIn(all_engines),
                         [](auto const& i) { return i.param.name; });

std::vector<rules::thresholds> const grid{{1, 0.001}, {1, 0.2}, {1, 0.5}, {2, 0.01}, {1, 0.0}};

TEST_P(every_engine, selects_as_the_definition_says) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    std::size_t const documents = 1 + seed * 9;
    auto const data = random_data(seed, documents, 6, 4, static_cast<std::int32_t>(seed % 4));
    for (rules::rule_size const rule_size : {2U, 3U, 4U, 5U}) {
      for (auto const& t : grid) {
        for (std::size_t partitions : {1, 2}) {
          context const ctx = context_for(tested(), 1 + static_cast<int>(seed % 3));
          auto const found = reduce(ctx, data, options_for(tested(), rule_size, t, partitions));
          EXPECT_EQ(found.engine, tested());
          std::vector<std::size_t> order(6);
          std::iota(order.begin(), order.end(), std::size_t{0});
          auto const features = deal_features(order, partitions);
          std::size_t rows = 0;
          for (std::size_t q = 0; q < partitions; ++q) {
            auto const expected = reference::reduce_partition(data, features[q], rule_size, t);
            std::vector<std::size_t> documents_found;
            std::vector<std::uint64_t> rules_found;
            for (choice const& c : found.choices) {
              if (c.partition != q) continue;
              ASSERT_EQ(c.iteration, documents_found.size());
              documents_found.push_back(c.document);
              rules_found.push_back(c.rules);
            }
            ASSERT_EQ(documents_found, expected.documents);
            ASSERT_EQ(rules_found, expected.rules);
            rows += expected.documents.size();
          }
          ASSERT_EQ(found.choices.size(), rows);
        }
      }
    }
  }
}

TEST_P(every_engine, agrees_with_ssarp_on_wide_partitions) {
  // 20 features: wider than a mask.
  auto const data = random_data(77, 150, 20, 3, 2);
  for (rules::rule_size const rule_size : {2U, 3U, 4U}) {
    for (auto const& t : grid) {
      context const ctx = context_for(tested(), 2);
      expect_same(reduce(ctx, data, options_for(tested(), rule_size, t, 1)),
                  reduce(ctx, data, options_for(engine::ssarp, rule_size, t, 1)));
    }
  }
}

TEST_P(every_engine, labels_are_names_however_large) {
  auto const small = random_data(31, 200, 12, 4, 2);
  auto large = small;
  std::array<std::int32_t, 3> const as{0, 2'000'000'000, std::numeric_limits<std::int32_t>::max()};
  for (std::int32_t& label : large.labels) label = as[static_cast<std::size_t>(label)];
  large.max_label = as.back();
  context const ctx = context_for(tested());
  expect_same(reduce(ctx, large, options_for(tested(), 4, {1, 0.2}, 1)),
              reduce(ctx, small, options_for(tested(), 4, {1, 0.2}, 1)));
}

TEST_P(every_engine, does_not_depend_on_threads) {
  auto const data = random_data(5, 700, 24, 5, 4);
  context const one = context_for(tested(), 1);
  auto const expected = reduce(one, data, options_for(tested(), 3, {1, 0.2}, 2));
  for (int threads : {2, 3, 8}) {
    context const ctx = context_for(tested(), threads);
    expect_same(reduce(ctx, data, options_for(tested(), 3, {1, 0.2}, 2)), expected);
  }
}

TEST_P(every_engine, does_not_depend_on_processes) {
  if (runs_on_gpu(tested())) GTEST_SKIP() << "threads that use one GPU at once are no processes";
  auto const data = random_data(5, 700, 24, 5, 4);
  for (std::size_t const partitions : {1, 2, 5})
    for (std::size_t const budget : {0, 7, 40}) {
      auto options = options_for(tested(), 3, {1, 0.2}, partitions);
      options.max_documents = budget;
      for (std::size_t const iterations : {0, 90}) {
        context const one = context_for(tested(), 1);
        auto const expected = reduce_to_iterations(one, data, options, iterations);
        for (int const processes : {2, 3, 5}) {
          std::vector<sample> found(static_cast<std::size_t>(processes));
          testing_tools::run_processes(processes, [&](process_group const& group) {
            context ctx = context_for(tested(), 2);
            ctx.processes = &group;
            found[static_cast<std::size_t>(group.rank())] =
                reduce_to_iterations(ctx, data, options, iterations);
          });
          for (sample const& one_process : found) {
            expect_same(one_process, expected);
            for (std::size_t q = 0; q < partitions; ++q) {
              EXPECT_EQ(one_process.partitions[q].iterations, expected.partitions[q].iterations);
              EXPECT_EQ(one_process.partitions[q].stopped_after,
                        expected.partitions[q].stopped_after);
              EXPECT_EQ(one_process.partitions[q].rules_lost, expected.partitions[q].rules_lost);
            }
          }
        }
      }
    }
}

TEST(over_processes, few_documents_leave_processes_without_any) {
  auto const data = random_data(8, 70, 6, 4, 2);
  context const one;
  auto const expected = reduce(one, data, options_for(engine::delta, 3, {}, 1));
  testing_tools::run_processes(4, [&](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    expect_same(reduce(ctx, data, options_for(engine::delta, 3, {}, 1)), expected);
  });
}

TEST_P(every_engine, keeps_to_a_budget_in_iteration_then_partition_order) {
  auto const data = random_data(6, 300, 12, 5, 2);
  context const ctx = context_for(tested(), 2);
  auto const all = reduce(ctx, data, options_for(tested(), 3, {}, 3));
  for (std::size_t budget = 1; budget < all.documents.size() + 5; ++budget) {
    auto options = options_for(tested(), 3, {}, 3);
    options.max_documents = budget;
    std::set<std::size_t> asked;
    auto const some = reduce(ctx, data, options, [&](std::size_t d) {
      asked.insert(d);
      return data.labels[d];
    });
    EXPECT_EQ(some.documents.size(), std::min(budget, all.documents.size()));
    EXPECT_TRUE(std::ranges::equal(asked, some.documents)) << "a label was asked for in vain";
    std::size_t iterations = 0;
    for (partition_report const& part : some.partitions) iterations += part.iterations;
    EXPECT_EQ(iterations, some.choices.size());
    ASSERT_LE(some.choices.size(), all.choices.size());
    if (some.choices.size() < all.choices.size()) {
      std::size_t const next = all.choices[some.choices.size()].document;
      EXPECT_EQ(some.documents.size(), budget);
      EXPECT_FALSE(asked.contains(next)) << "it could have gone on";
    }
    for (std::size_t i = 0; i < some.choices.size(); ++i) {
      EXPECT_EQ(some.choices[i].document, all.choices[i].document);
      EXPECT_EQ(some.choices[i].partition, all.choices[i].partition);
    }
  }
}

TEST_P(every_engine, fixed_iterations_go_past_the_stop_rule) {
  auto const data = random_data(8, 200, 6, 4, 2);
  context const ctx = context_for(tested());
  auto const stopped = reduce(ctx, data, options_for(tested(), 3, {}, 1));
  auto options = options_for(tested(), 3, {}, 1);
  auto const fixed = reduce_to_iterations(ctx, data, options, 150);
  EXPECT_EQ(fixed.documents.size(), 150U);
  EXPECT_EQ(fixed.partitions[0].stopped_after, stopped.documents.size());
  for (std::size_t i = 0; i < stopped.choices.size(); ++i)
    EXPECT_EQ(fixed.choices[i].document, stopped.choices[i].document);
  options.engine = engine::ssarp;
  expect_same(fixed, reduce_to_iterations(ctx, data, options, 150));
  options.max_documents = 40;
  EXPECT_EQ(reduce_to_iterations(ctx, data, options, 150).documents.size(), 40U);
  options.max_documents = 190;
  expect_same(fixed, reduce_to_iterations(ctx, data, options, 150));
}

TEST_P(every_engine, a_large_support_stops_after_two_documents) {
  auto const data = random_data(9, 100, 6, 4, 2, 1000);
  context const ctx = context_for(tested());
  auto const found = reduce(ctx, data, options_for(tested(), 3, {50, 0.0}, 1));
  EXPECT_EQ(found.choices.size(), 2U);
}

TEST_P(every_engine, asks_for_a_label_only_when_it_chooses) {
  auto data = random_data(10, 120, 12, 4, 2);
  context const ctx = context_for(tested());
  auto const expected = reduce(ctx, data, options_for(tested(), 3, {}, 2));
  auto const labels = data.labels;
  std::fill(data.labels.begin(), data.labels.end(), datasets::unlabelled);
  std::vector<std::size_t> asked;
  auto const found = reduce(ctx, data, options_for(tested(), 3, {}, 2), [&](std::size_t d) {
    asked.push_back(d);
    return labels[d];
  });
  expect_same(found, expected);
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  EXPECT_EQ(asked, found.documents);
  EXPECT_THROW(reduce(ctx, data, options_for(tested(), 3, {}, 2)), usage_error);
}

TEST_P(every_engine, stops_on_request) {
  auto const data = random_data(11, 500, 12, 5, 2);
  context ctx = context_for(tested());
  std::size_t reports = 0;
  ctx.progress = [&](std::string_view, std::uint64_t, std::uint64_t) { return ++reports < 3; };
  EXPECT_THROW(reduce(ctx, data, options_for(tested(), 3, {}, 1)), interrupted);
}

TEST_P(every_engine, refuses_what_makes_no_sense) {
  auto const data = random_data(12, 20, 4, 3, 1);
  context const ctx = context_for(tested());
  EXPECT_THROW(reduce(ctx, data, options_for(tested(), 1, {}, 1)), usage_error);
  EXPECT_THROW(reduce(ctx, data, options_for(tested(), 3, {}, 5)), usage_error);
  EXPECT_THROW(reduce(ctx, data, options_for(tested(), 3, {1, 2.0}, 1)), usage_error);
  auto options = options_for(tested(), 3, {}, 1);
  options.feature_order = {0, 1, 2, 2};
  EXPECT_THROW(reduce(ctx, data, options), usage_error);
  auto const none = random_data(12, 20, 0, 3, 1);
  EXPECT_THROW(reduce(ctx, none, options_for(tested(), 3, {}, 0)), usage_error);
}

/// Samples of more than one word of 128 documents; set sizes at the ends of a block of documents.
TEST_P(every_engine, agrees_with_ssarp_at_every_size) {
  struct size_case {
    std::size_t documents, chosen;
    rules::rule_size rule_size;
    std::int32_t max_label;
  };
  int seed = 100;
  for (size_case const& c : {size_case{127, 0, 3, 0},
                             {128, 0, 4, 1},
                             {129, 129, 5, 2},
                             {255, 130, 3, 3},
                             {256, 0, 4, 4},
                             {257, 257, 3, 5},
                             {1024, 1024, 2, 8},
                             {1025, 520, 3, 30}}) {
    auto data = random_data(static_cast<std::uint64_t>(++seed), c.documents, 6, 4, c.max_label, 5);
    for (std::int32_t& label : data.labels)
      if (label % 4 == 1) ++label;  // labels that are absent
    data.max_label = *std::ranges::max_element(data.labels);
    for (auto const& t : grid) {
      if (c.documents > 500 && t.min_confidence != 0.2) continue;  // limits the run time
      auto options = options_for(engine::ssarp, c.rule_size, t, 2);
      auto const run = [&](context const& ctx) {
        return reduce_to_iterations(ctx, data, options, c.chosen);
      };
      auto const expected = run(context_for(engine::ssarp));
      options.engine = tested();
      expect_same(run(context_for(tested(), 1)), expected);
      if (runs_on_gpu(tested())) expect_same(run(context_for(tested())), expected);
    }
  }
}

TEST_P(every_engine, itemsets_of_many_items) {
  auto const data = random_data(14, 60, 9, 2, 2);
  for (rules::rule_size const rule_size : {6U, 8U, 11U, 40U})
    expect_same(reduce(context_for(tested()), data, options_for(tested(), rule_size, {1, 0.2}, 1)),
                reduce({}, data, options_for(engine::ssarp, rule_size, {1, 0.2}, 1)));
}

/// Every kernel of prss, two blocks of documents on one GPU, and growing bitmaps, with few
/// documents and choices, for sanitizers of GPU code.
TEST(prss, agrees_with_ssarp_in_each_kernel) {
  RULERANK_NEEDS_GPU();
  struct kernel_case {
    std::size_t documents, features, chosen;
    rules::rule_size rule_size;
    std::int32_t max_label;
  };
  int seed = 200;
  for (kernel_case const& c : {kernel_case{300, 5, 12, 3, 1},
                               {300, 5, 12, 4, 2},
                               {300, 5, 12, 4, 4},
                               {300, 5, 40, 3, 12},
                               {300, 6, 6, 6, 1},
                               {300, 6, 6, 6, 2},
                               {300, 6, 6, 6, 4},
                               {300, 6, 20, 6, 12},
                               {530, 2, 520, 2, 1}}) {
    auto const data =
        random_data(static_cast<std::uint64_t>(++seed), c.documents, c.features, 3, c.max_label);
    auto options = options_for(engine::ssarp, c.rule_size, {1, 0.2}, 1);
    auto const expected = reduce_to_iterations({}, data, options, c.chosen);
    options.engine = engine::prss;
    expect_same(reduce_to_iterations(context_for(engine::prss), data, options, c.chosen), expected);
  }
}

TEST(prss, has_class_bitmaps_that_shared_memory_does_not_hold) {
  RULERANK_NEEDS_GPU();
  auto data = random_data(15, 1340, 1, 4, 0, 1000);
  std::iota(data.labels.begin(), data.labels.end(), 0);
  data.max_label = 1339;
  auto options = options_for(engine::delta, 2, {1, 0.0}, 1);  // every rule counts
  constexpr std::size_t chosen = 1330;  // 1,336 classes of 11 words: 229.6 KiB
  auto const expected = reduce_to_iterations({}, data, options, chosen);
  options.engine = engine::prss;
  expect_same(reduce_to_iterations(context_for(engine::prss), data, options, chosen), expected);
}

TEST(prss, refuses_itemsets_of_more_items_than_it_keeps) {
  RULERANK_NEEDS_GPU();
  auto const data = random_data(16, 30, 18, 2, 1);
  EXPECT_THROW(reduce(context_for(engine::prss), data, options_for(engine::prss, 18, {}, 1)),
               usage_error);
}

TEST(prss, needs_a_gpu) {
  auto const data = random_data(17, 30, 4, 2, 1);
  EXPECT_THROW(reduce({}, data, options_for(engine::prss, 3, {}, 1)), device_error);
}

TEST(delta, counts_the_rules_that_lost_their_validity) {
  auto const data = random_data(13, 300, 6, 3, 2);
  context const ctx;
  for (double confidence : {0.001, 0.5}) {
    auto const options = options_for(engine::delta, 3, {1, confidence}, 1);
    std::uint64_t const lost =
        reduce_to_iterations(ctx, data, options, 100).partitions[0].rules_lost;
    if (confidence < 0.01)  // a label among at most 100 documents keeps a hundredth
      EXPECT_EQ(lost, 0U);
    else
      EXPECT_GT(lost, 0U);
  }
}

TEST(support_table, takes_what_it_asks_for) {
  rules::validity const valid({}, 100);
  memory_gate memory;
  support_table<std::uint64_t> table(valid, memory, "");
  std::uint64_t asked = 0;
  for (std::uint64_t n = 0; n < 300'000; ++n) {
    table.need_class(n % 3);
    EXPECT_EQ(table.add(n, n % 3).gained, 1);
    EXPECT_GE(table.bytes(), table.size() * (8 + 4 + 4 * std::min<std::uint64_t>(n + 2, 4)));
    asked = std::max(asked, table.bytes());
  }
  EXPECT_LT(asked, 300'000 * 100);
  for (std::uint64_t n = 0; n < 300'000; ++n) EXPECT_EQ(table.add(n, (n + 1) % 3).gained, 1);
  EXPECT_EQ(table.size(), 300'000U);
}

TEST(support_table, refuses_what_memory_does_not_hold) {
  rules::validity const valid({}, 100);
  memory_gate memory([] { return std::uint64_t{100'000}; }, 0);
  support_table<std::uint64_t> table(valid, memory, "a table");
  table.need_class(0);
  EXPECT_PRED2(says, message_of<usage_error>([&] {
                 for (std::uint64_t n = 0; n < 300'000; ++n) table.add(n, 0);
               }),
               "a table: the itemsets need 0.00 GB more, ...");
  EXPECT_LE(table.bytes(), 100'000U);
}

/// Two partitions whose tables grow at the same time, one by classes and one by itemsets: while one
/// checks the available memory, the other waits.
TEST(support_table, grows_while_no_other_does) {
  std::atomic<int> inside{0};
  std::atomic<bool> together{false};
  memory_gate memory(
      [&] {
        if (++inside > 1) together = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        --inside;
        return ~std::uint64_t{0};
      },
      0);
  rules::validity const valid({}, 100);
  std::barrier start(2);
  std::jthread const by_classes([&] {
    support_table<std::uint64_t> table(valid, memory, "");
    table.need_class(0);
    table.add(1, 0);
    start.arrive_and_wait();
    for (std::size_t k = 1; k < 5; ++k) table.need_class(k);
  });
  support_table<key128> table(valid, memory, "");
  table.need_class(0);
  start.arrive_and_wait();
  for (std::uint64_t n = 0; n < 120; ++n) table.add(n, 0);
  EXPECT_FALSE(together);
}

constexpr std::chrono::milliseconds slow(300);

/// A counter with a slow constructor.
std::unique_ptr<rule_counter> slowly_made(sampling_setup const& setup, partition const& part) {
  std::this_thread::sleep_for(slow);
  return make_recount(part, setup.max_items(), setup.valid);
}

TEST(loops, are_timed_without_what_is_done_before_them) {
  context const ctx;
  auto const data = random_data(1, 20, 3, 3, 1);
  sampling_setup const setup(ctx, data, {});
  auto const begin = std::chrono::steady_clock::now();
  auto const loops = make_counted_loops(setup, {.make_counter = slowly_made}, nullptr);
  loops->advance(ctx, 2, [&](std::size_t, std::size_t document, std::size_t, std::uint64_t) {
    return data.labels[document];
  });
  std::chrono::duration<double> const rest = std::chrono::steady_clock::now() - begin - slow;
  EXPECT_EQ(loops->report(0).iterations, 2U);
  EXPECT_GT(loops->report(0).seconds, 0);
  EXPECT_LE(loops->report(0).seconds, rest.count());
}

TEST(engines, are_named) {
  for (auto const& info : engines()) EXPECT_EQ(engine_from(info.name), info.which);
  EXPECT_EQ(engine_from("auto"), engine::automatic);
  EXPECT_THROW(engine_from("nosuch"), usage_error);
}

/// There is one default engine for the CPU and one for GPUs, and the default runs.
class default_engine : public testing::TestWithParam<runs_on> {};

INSTANTIATE_TEST_SUITE_P(al, default_engine, testing::Values(runs_on::cpu, runs_on::gpus),
                         [](auto const& i) {
                           return i.param == runs_on::cpu ? "of_the_cpu" : "of_gpus";
                         });

TEST_P(default_engine, is_the_only_one_and_runs) {
  runs_on const where = GetParam();
  std::vector<engine> defaults;
  for (auto const& info : engines())
    if (includes(info.default_on, where)) {
      EXPECT_TRUE(includes(info.where, where));
      defaults.push_back(info.which);
    }
  if (where == runs_on::gpus && defaults.empty())
    GTEST_SKIP() << "no engine for GPUs in a build without CUDA";
  ASSERT_EQ(defaults.size(), 1U);
  context ctx;
  if (where == runs_on::gpus) {
    RULERANK_NEEDS_GPU();
    ctx = testing_tools::on_gpus(1);
  }
  EXPECT_EQ(reduce(ctx, random_data(1, 20, 4, 3, 1), {}).engine, defaults[0]);
}

/// A selection by the published engines. The file holds its set, this struct its order.
struct golden {
  std::string set, method;
  rules::rule_size rule_size;
  std::uint64_t first;  ///< digest of the first choices
  std::uint64_t all;    ///< digest of all
};
std::vector<golden> const goldens{
    {"OHSUMED", "tube", 3, 0x91db4bf4a5051d55, 0x6e3c7c41685f68fb},
    {"OHSUMED", "tube", 4, 0x4ec82fd6a43a008a, 0xe31df85ca32c3f65},
    {"OHSUMED", "width", 3, 0xe03f82bd0610f5b3, 0x2f9ddc0348d243d9},
    {"OHSUMED", "width", 4, 0xe03f82bd0610f5b3, 0xe75068b394af0a4a},
    {"OHSUMED", "frequency", 3, 0x8389a2d820417482, 0xfc75fb135a56768e},
    {"OHSUMED", "frequency", 4, 0xba13eb68b6405444, 0x0b626d3829dd216a},
    {"MQ2008", "tube", 3, 0xa5123e9bfc360123, 0x8300bfef2961d882},
    {"MQ2008", "tube", 4, 0x2cab0ff8dc31c83e, 0x7142b3f227077ba8},
    {"MQ2008", "width", 3, 0x2a163b9711d6140d, 0x5937795202131ae7},
    {"MQ2008", "width", 4, 0x24245b2415a1b6f3, 0x420a32106c51ac47},
    {"MQ2008", "frequency", 3, 0x46ba0eb850b186d8, 0xf460c73d2d4989a7},
    {"MQ2008", "frequency", 4, 0xe74565755d8f38ab, 0x8bde58cb22b12373},
};
constexpr std::size_t first_choices = 60;
void PrintTo(golden const& of, std::ostream* out) {
  *out << of.set << " " << of.method << " " << of.rule_size;
}

/// FNV-1a over documents, partitions, iterations and rules.
std::uint64_t digest_of(std::span<choice const> choices) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (choice const& c : choices)
    for (std::uint64_t const number : {std::uint64_t{c.document}, std::uint64_t{c.partition},
                                       std::uint64_t{c.iteration}, c.rules})
      for (int shift = 0; shift < 64; shift += 8)
        digest = (digest ^ (number >> shift & 0xFF)) * 0x100000001b3U;
  return digest;
}

class golden_selection : public testing::TestWithParam<std::tuple<golden, named_engine>> {};
std::string const delta_on_gpus = "delta_on_gpus";

INSTANTIATE_TEST_SUITE_P(al, golden_selection,
                         testing::Combine(testing::ValuesIn(goldens), testing::ValuesIn([] {
                                            auto all = all_engines;
                                            all.push_back({engine::delta, delta_on_gpus});
                                            return all;
                                          }())),
                         [](auto const& i) {
                           golden const& of = std::get<0>(i.param);
                           bool const slow = std::get<1>(i.param).which == engine::pssarp;
                           return (slow ? "slow_" : "") + of.set + "_" + of.method + "_" +
                                  std::to_string(of.rule_size) + "_" + std::get<1>(i.param).name;
                         });

TEST_P(golden_selection, is_reproduced_in_its_order) {
  auto const& [of, tested] = GetParam();
  if (auto const why = why_not_here(tested); !why.empty()) GTEST_SKIP() << why;
  context where = context_for(tested.which);
  if (tested.name == delta_on_gpus) {
    RULERANK_NEEDS_GPU();
    where.devices = testing_tools::gpus();
  }
  RULERANK_REAL_DATA(train, "letor/" + of.set + "/Fold1/train.txt");
  RULERANK_REAL_DATA(selected, "golden-definitions/" + of.set + ".Fold1." + of.method + ".size" +
                                   std::to_string(of.rule_size) + ".Q4.order-none.selected.txt");
  context const cpu;
  auto const data = datasets::read_svmlight(cpu, train);
  datasets::discretizer_options how;
  how.method = datasets::binning_from(of.method);
  auto const binned =
      datasets::apply_discretizer(cpu, data, datasets::fit_discretizer(cpu, data, how));
  auto options = options_for(tested.which, of.rule_size, {}, 4);
  // The published engines on the CPU take minutes for the whole set.
  bool const whole =
      of.rule_size == 3 || (tested.which != engine::ssarp && tested.which != engine::pssarp);
  if (!whole) options.max_documents = first_choices;
  auto const ours = reduce(where, binned, options);
  ASSERT_GE(ours.choices.size(), first_choices);
  EXPECT_EQ(digest_of(std::span(ours.choices).first(first_choices)), of.first);
  if (!whole) return;
  EXPECT_EQ(digest_of(ours.choices), of.all);
  std::ifstream in(selected);
  std::vector<std::size_t> expected;
  for (std::size_t d = 0; in >> d;) expected.push_back(d);
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(ours.documents, expected);
}

/// Whether the engine recounts all rules in each iteration on the CPU: minutes for a real set.
bool is_recounted(named_engine const& e) {
  return e.which == engine::ssarp || e.which == engine::pssarp;
}

/// A published engine and ours, on fold 1 of real sets.
struct real_case {
  named_engine published;
  std::string set, method;
  rules::rule_size rule_size;
};
class real_sets : public testing::TestWithParam<real_case> {};

INSTANTIATE_TEST_SUITE_P(al, real_sets, testing::ValuesIn([] {
                           std::vector<real_case> all;
                           for (named_engine const& e : all_engines)
                             for (std::string const set : {"OHSUMED", "MQ2008", "MQ2008-agg"})
                               for (std::string const method : {"tube", "width", "frequency"})
                                 for (rules::rule_size const size : {2U, 3U})
                                   if (e.which != engine::delta)
                                     all.push_back({e, set, method, size});
                           return all;
                         }()),
                         [](auto const& i) {
                           std::string set = i.param.set;
                           std::replace(set.begin(), set.end(), '-', '_');
                           bool const slow =
                               i.param.rule_size == 3 && is_recounted(i.param.published);
                           return (slow ? "slow_" : "") + i.param.published.name + "_" + set + "_" +
                                  i.param.method + "_" + std::to_string(i.param.rule_size);
                         });

TEST_P(real_sets, engines_agree) {
  auto const& p = GetParam();
  if (auto const why = why_not_here(p.published); !why.empty()) GTEST_SKIP() << why;
  RULERANK_REAL_DATA(train, "letor/" + p.set + "/Fold1/train.txt");
  context const ctx;
  auto const data = datasets::read_svmlight(ctx, train);
  datasets::discretizer_options how;
  how.method = datasets::binning_from(p.method);
  auto const binned =
      datasets::apply_discretizer(ctx, data, datasets::fit_discretizer(ctx, data, how));
  auto const order = datasets::order_features(ctx, binned, datasets::feature_order::chi2);
  for (auto const& t : {rules::thresholds{1, 0.001}, rules::thresholds{1, 0.2},
                        rules::thresholds{1, 0.5}, rules::thresholds{2, 0.01}}) {
    auto options = options_for(engine::delta, p.rule_size, t, 0);
    options.feature_order = order;
    auto const ours = reduce(ctx, binned, options);
    EXPECT_GE(ours.documents.size(), 2U);
    std::uint64_t lost = 0;
    for (auto const& part : ours.partitions) lost += part.rules_lost;
    std::cout << "support " << t.min_support << ", confidence " << t.min_confidence << ": |U| "
              << ours.documents.size() << ", rules lost " << lost << "\n";
    options.engine = p.published.which;
    expect_same(ours, reduce(context_for(options.engine), binned, options));
  }
}

}  // namespace
}  // namespace rulerank::al::al_test
