#include "l2r/rules/ranker.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/published/engines.hpp"
#include "l2r/published/itemset_cache_math.hpp"
#include "l2r/published/lookups.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "l2r/testing.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::ranker_test {
namespace {

[[maybe_unused]] bool const published_engines_are_listed = (add_published_engines(), true);

using datasets::binned_dataset;
using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;
using testing_tools::documents_of;
using testing_tools::drawn_set;
using testing_tools::drawn_shape;
using testing_tools::golden_case;
using testing_tools::golden_cases;
using testing_tools::golden_name;
using testing_tools::golden_scores_of;
using testing_tools::items_of;
using testing_tools::numbers_in;
using testing_tools::read_fold;
using testing_tools::real_fold;

std::vector<std::uint64_t> bits_of(std::vector<double> const& scores) {
  std::vector<std::uint64_t> bits;
  for (double s : scores) bits.push_back(std::bit_cast<std::uint64_t>(s));
  return bits;
}

/// Every engine, including those that this build lacks.
struct named_engine {
  engine which;
  std::string name;
};
void PrintTo(named_engine const& e, std::ostream* out) {
  *out << e.name;
}
std::vector<named_engine> const cpu_engines{{engine::lrar, "lrar"}, {engine::project, "project"}};
std::vector<named_engine> const gpu_engines{{engine::tensor, "tensor"},
                                            {engine::plrar, "plrar"},
                                            {engine::profl_t, "profl_t"},
                                            {engine::profl, "profl"}};
std::vector<named_engine> const all_engines = [] {
  auto all = cpu_engines;
  all.insert(all.end(), gpu_engines.begin(), gpu_engines.end());
  return all;
}();
std::string name_of_instance(::testing::TestParamInfo<named_engine> const& of) {
  return of.param.name;
}

bool runs_on_gpu(engine which) {
  return std::ranges::any_of(gpu_engines, [&](auto const& e) { return e.which == which; });
}

/// Why an engine cannot run on this many GPUs, or needs none; empty if it can.
std::string why_not_here(named_engine const& e, std::size_t gpus = 1) {
  if (find_engine(engines(), e.which) == nullptr)
    return "engine " + e.name + ": not in a build without CUDA";
  if (!runs_on_gpu(e.which)) return {};
  auto const why = rulerank::testing_tools::why_not_on_gpus(gpus);
  return why.empty() ? why : "engine " + e.name + ": " + why;
}

/// A test over all engines; skips, by name, an engine that cannot run here.
class every_engine : public ::testing::TestWithParam<named_engine> {
 protected:
  void SetUp() override {
    if (auto const why = why_not_here(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  static engine tested() { return GetParam().which; }
};
INSTANTIATE_TEST_SUITE_P(l2r, every_engine, ::testing::ValuesIn(all_engines), name_of_instance);

/// As every_engine, for GPU engines only.
class every_gpu_engine : public every_engine {};
INSTANTIATE_TEST_SUITE_P(l2r, every_gpu_engine, ::testing::ValuesIn(gpu_engines), name_of_instance);

/// The expected result of a parameterized test, computed once per process.
template <class Make>
auto const& once(std::string const& what, Make const& make) {
  static std::map<std::string, decltype(make())> known;
  auto const found = known.find(what);
  return found != known.end() ? found->second : known.emplace(what, make()).first->second;
}

/// The context for an engine: for GPUs the first one, or with `threads` above 1 all of them.
context context_for(engine which, int threads = 1) {
  context ctx;
  ctx.threads = threads;
  if (runs_on_gpu(which)) ctx.devices = rulerank::testing_tools::gpus();
  if (threads == 1 && !ctx.devices.empty()) ctx.devices = {ctx.devices.front()};
  return ctx;
}

scored run(engine which, binned_dataset const& training, binned_dataset const& test,
           ranker_options options, int threads = 1, engine_knobs knobs = {}) {
  context const ctx = context_for(which, threads);
  knobs.shared_from = threads % 2 == 1 ? 0 : 1'000'000;  // either form of tensor
  knobs.microseconds_a_thread = 0;
  options.execution.engine = which;
  return ranker_access::with(ctx, training, options, knobs).score(ctx, test);
}

/// Every kind of option set that changes what is computed.
std::vector<ranker_options> option_sets(std::vector<std::uint32_t> const& sizes) {
  std::vector<ranker_options> all;
  for (std::uint32_t size : sizes)
    for (rules::thresholds t : {rules::thresholds{1, .001}, {2, .01}, {5, .2}})
      for (auto [w, a] : {std::pair{0., 0.}, {-0.25, 0.}, {0., 5.}, {-0.25, 5.}, {0.5, 0.}}) {
        ranker_options options;
        options.scoring.rule_size = size;
        options.scoring.thresholds = t;
        options.scoring.support_weight = w;
        options.scoring.smoothing = a;
        all.push_back(options);
      }
  return all;
}

std::string words(ranker_options const& o) {
  scoring_options const& s = o.scoring;
  return fmt::format("size {} thresholds {} {} w {} a {}", s.rule_size, s.thresholds.min_support,
                     s.thresholds.min_confidence, s.support_weight, s.smoothing);
}

struct case_of_shape {
  std::string name;
  drawn_shape shape;
};

void PrintTo(case_of_shape const& c, std::ostream* out) {
  *out << c.name;
}

class against_reference : public ::testing::TestWithParam<std::tuple<case_of_shape, named_engine>> {
};

TEST_P(against_reference, bit_for_bit) {
  auto const& [of_shape, tested] = GetParam();
  if (auto const why = why_not_here(tested); !why.empty()) GTEST_SKIP() << why;
  drawn_shape const shape = of_shape.shape;
  drawn_shape test_shape = shape;
  test_shape.documents = 12;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    binned_dataset const training = drawn_set(shape, seed);
    binned_dataset const test = drawn_set(test_shape, 1000 + seed);
    auto const documents = documents_of(training);
    for (ranker_options const& options : option_sets({2, 3, 4})) {
      for (bool wide : {false, true}) {
        std::string const what =
            fmt::format("{} seed {} {} wide {}", of_shape.name, seed, words(options), wide);
        auto const& expected = once(what, [&] {
          std::vector<double> scores;
          for (std::size_t d = 0; d < test.documents; ++d) {
            auto const items = items_of(test, d);
            scores.push_back(reference::score(documents, training.feature_count(), items,
                                              options.scoring, wide));
            double const plain = reference::plain_score(documents, items, options.scoring);
            EXPECT_NEAR(scores.back(), plain, 2e-6 * (1 + plain)) << what;
          }
          return scores;
        });
        EXPECT_EQ(
            bits_of(run(tested.which, training, test, options, 1, {.wide_sums = wide}).scores),
            bits_of(expected))
            << what;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    shapes, against_reference,
    ::testing::Combine(
        ::testing::Values(case_of_shape{"plain", {}}, case_of_shape{"binary", {90, 5, 3, {0, 1}}},
                          case_of_shape{"label_gaps", {50, 5, 3, {0, 3, 7}}},
                          case_of_shape{"label_0_missing", {50, 5, 3, {2, 1}}},
                          case_of_shape{"one_class", {30, 5, 3, {0}}},
                          case_of_shape{"one_class_3", {30, 5, 3, {3}}},
                          case_of_shape{"one_document", {1, 5, 3, {1}}},
                          case_of_shape{"two_features", {30, 2, 5}},
                          case_of_shape{"one_feature", {30, 1, 5}},
                          case_of_shape{"no_feature", {30, 0, 5}},
                          case_of_shape{"missing_items", {60, 6, 3, {0, 1, 2}, .2}},
                          case_of_shape{"absent_items", {60, 6, 3, {0, 1, 2}, .1, .5}},
                          case_of_shape{"no_item_at_all", {20, 4, 3, {0, 1, 2}, 0, 1.}},
                          case_of_shape{"word_boundary", {129, 4, 3, {0, 1}}},
                          case_of_shape{"many_bins", {70, 5, 40, {0, 1, 2}, 0, 0, .05}}),
        ::testing::ValuesIn(all_engines)),
    [](auto const& of) { return std::get<0>(of.param).name + "_" + std::get<1>(of.param).name; });

TEST_P(every_engine, larger_rules) {
  binned_dataset const training = drawn_set({60, 8, 3}, 5);
  binned_dataset const test = drawn_set({15, 8, 3}, 6);
  auto const documents = documents_of(training);
  for (std::uint32_t size : {5U, 6U, 9U, 30U}) {
    ranker_options options;
    options.scoring.rule_size = size;
    std::vector<double> expected;
    for (std::size_t d = 0; d < test.documents; ++d)
      expected.push_back(reference::score(documents, 8, items_of(test, d), options.scoring));
    for (int threads : {1, 3})
      EXPECT_EQ(bits_of(run(tested(), training, test, options, threads).scores), bits_of(expected))
          << "size " << size;
  }
}

/// Larger sets, for which rows are compressed and many documents share a traversal.
TEST_P(every_engine, agrees_with_lrar_on_any_number_of_threads) {
  int number = 0;
  for (auto const& [training_shape, test_documents] :
       {std::pair{drawn_shape{700, 24, 10, {0, 1}}, std::size_t{1}},
        {drawn_shape{700, 24, 10, {0, 1}}, std::size_t{150}},
        {drawn_shape{3000, 16, 6, {0, 1, 2, 3, 4}, .02, .02, .85}, std::size_t{60}},
        {drawn_shape{1500, 70, 10, {0, 1, 2}, 0, 0, .3}, std::size_t{3}}}) {
    binned_dataset const training = drawn_set(training_shape, 3);
    drawn_shape test_shape = training_shape;
    test_shape.documents = test_documents;
    binned_dataset const test = drawn_set(test_shape, 4);
    std::string const set = fmt::format("larger set {}", ++number);
    auto const lrar_bits = [&](ranker_options const& options, engine_knobs const& knobs) {
      return once(fmt::format("{} {} wide {}", set, words(options), knobs.wide_sums), [&] {
        return bits_of(run(engine::lrar, training, test, options, 1, knobs).scores);
      });
    };
    for (ranker_options const& options : option_sets({2, 3, 4})) {
      auto const expected = lrar_bits(options, {});
      for (int threads : {1, 2, 5}) {
        if (tested() == engine::lrar && threads > 1) continue;  // it has one
        ASSERT_EQ(bits_of(run(tested(), training, test, options, threads).scores), expected)
            << words(options) << " threads " << threads;
      }
    }
    ranker_options wide;
    wide.scoring.rule_size = 4;
    engine_knobs const knobs{.wide_sums = true};
    EXPECT_EQ(bits_of(run(tested(), training, test, wide, 2, knobs).scores),
              lrar_bits(wide, knobs));
  }
}

TEST_P(every_engine, a_class_that_fails_a_threshold_counts_no_more) {
  // One feature, one bin: 1,500 documents hold it, one of them has label 1. Its confidence is
  // 1/1500 < 0.001, so only label 0 is left.
  binned_dataset training = drawn_set({1500, 1, 1, {0}}, 1);
  training.labels[17] = 1;
  training.max_label = 1;
  binned_dataset const test = drawn_set({1, 1, 1, {0}}, 1);
  ranker_options options;
  EXPECT_EQ(run(tested(), training, test, options).scores, std::vector{0.0});
  options.scoring.thresholds.min_confidence = 0;
  EXPECT_NEAR(run(tested(), training, test, options).scores[0], 1 / 1500.0, 1e-12);
}

TEST_P(every_engine, labels_too_large_for_folded_counts) {
  binned_dataset training = drawn_set({300, 4, 2}, 1);
  for (std::size_t d = 0; d < training.documents; ++d)
    training.labels[d] = d % 3 == 0 ? 2'000'000'000 : static_cast<std::int32_t>(d % 3);
  training.max_label = 2'000'000'000;
  binned_dataset const test = drawn_set({5, 4, 2}, 2);
  auto const scores = run(engine::lrar, training, test, {}).scores;
  EXPECT_EQ(bits_of(run(tested(), training, test, {}).scores), bits_of(scores));
  EXPECT_GT(scores[0], 1e8);
}

TEST_P(every_engine, query_by_query_is_the_same) {
  binned_dataset const training = drawn_set({400, 12, 6}, 7);
  binned_dataset const test = drawn_set({50, 12, 6}, 8);
  context const ctx = context_for(tested(), 2);
  ranker_options options;
  options.scoring.rule_size = 4;
  options.execution.engine = tested();
  ranker r(ctx, training, options);
  auto const all = r.score(ctx, test);
  EXPECT_EQ(all.engine, tested());
  EXPECT_EQ(r.engine(), tested());
  for (std::size_t d = 0; d < test.documents; ++d) {
    std::vector<std::size_t> const one{d};
    EXPECT_EQ(r.score(ctx, datasets::subset(test, one)).scores, std::vector{all.scores[d]});
  }
}

/// Calls of `tensor` wait and are joined; for the other engines a knob does it.
TEST_P(every_engine, gives_the_same_bits_to_threads_at_once) {
  binned_dataset const training = drawn_set({400, 12, 6}, 7);
  context const ctx = context_for(tested());
  ranker_options options;
  options.scoring.rule_size = 4;
  options.execution.engine = tested();
  ranker const r = ranker_access::with(
      ctx, training, options, {.shared_from = 400, .join_calls = tested() != engine::tensor});
  std::vector<binned_dataset> tests;
  for (std::size_t i = 0; i < 8; ++i) tests.push_back(drawn_set({50 + 30 * i, 12, 6}, 20 + i));
  std::vector<std::vector<double>> alone;
  for (binned_dataset const& test : tests) alone.push_back(r.score(ctx, test).scores);
  std::atomic<std::size_t> joined{0};
  for (int round = 0; round < 100 && joined == 0; ++round) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < tests.size(); ++i)
      threads.emplace_back([&, i] {
        for (int again = 0; again < 10; ++again) {
          scored const result = r.score(ctx, tests[i]);
          EXPECT_EQ(bits_of(result.scores), bits_of(alone[i]));
          if (result.joined_calls > 1) ++joined;
        }
      });
    for (std::thread& one : threads) one.join();
  }
  EXPECT_GT(joined, 0U);
}

TEST(ranker, lrar_looks_every_itemset_up) {
  binned_dataset const training = drawn_set({200, 7, 3}, 1);
  binned_dataset const test = drawn_set({30, 7, 3}, 2);
  std::uint64_t itemsets = 0;
  prepared_training const prepared(training, {});
  known_items const known(prepared, test);
  for (std::size_t d = 0; d < test.documents; ++d) {
    std::uint64_t m = 0;
    for (std::size_t f = 0; f < 7; ++f) m += known.at(f, d) != no_known_item;
    itemsets += m + m * (m - 1) / 2;
  }
  scored const result = run(engine::lrar, training, test, {});
  EXPECT_EQ(count_of(result.counts, "cache_hits") + count_of(result.counts, "cache_misses"),
            itemsets);
  EXPECT_GT(count_of(result.counts, "cache_hits"), count_of(result.counts, "cache_misses"));
  ranker_options tiny;
  tiny.execution.settings[cache_bytes_setting] = 0;
  EXPECT_EQ(bits_of(run(engine::lrar, training, test, tiny).scores), bits_of(result.scores));
}

/// The engines with a cache of itemsets on each GPU, on 1, 2 and 4 of them.
class itemset_caches : public ::testing::TestWithParam<std::tuple<named_engine, std::size_t>> {
 protected:
  void SetUp() override {
    auto const& [tested, gpus] = GetParam();
    if (auto const why = why_not_here(tested, gpus); !why.empty()) GTEST_SKIP() << why;
    options_.execution.engine = tested.which;
    ctx_ = rulerank::testing_tools::on_gpus(gpus);
  }
  static std::size_t gpus() { return std::get<1>(GetParam()); }

  ranker_options options_;
  context ctx_;
};
INSTANTIATE_TEST_SUITE_P(
    l2r, itemset_caches,
    ::testing::Combine(::testing::Values(named_engine{engine::profl, "profl"},
                                         named_engine{engine::profl_t, "profl_t"}),
                       ::testing::ValuesIn(rulerank::testing_tools::gpu_counts)),
    [](auto const& of) {
      return fmt::format("{}_on_{}", std::get<0>(of.param).name, std::get<1>(of.param));
    });

TEST_P(itemset_caches, look_every_itemset_up) {
  binned_dataset const training = drawn_set({400, 12, 4, {0, 1, 2}, .05, .1}, 1);
  binned_dataset const test = drawn_set({300, 12, 4, {0, 1, 2}, .05, .1}, 2);
  for (std::uint32_t size : {2U, 3U, 4U, 5U}) {
    options_.scoring.rule_size = size;
    prepared_training const prepared(training, options_.scoring);
    known_items const known(prepared, test);
    std::vector<std::uint64_t> itemsets(size);  // by their items
    for (std::size_t d = 0; d < test.documents; ++d) {
      std::uint64_t m = 0;
      for (std::size_t f = 0; f < known.feature_count(); ++f) m += known.at(f, d) != no_known_item;
      for (std::uint32_t k = 2; k < size; ++k) itemsets[k] += rules::binomial(m, k);
    }
    auto const expected = bits_of(run(engine::lrar, training, test, options_).scores);
    for (std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{4000},
                              std::size_t{1} << 16, std::size_t{1} << 30}) {
      options_.execution.settings[cache_bytes_setting] = bytes;
      ranker const r(ctx_, training, options_);
      for (int call = 0; call < 2; ++call) {
        scored const result = r.score(ctx_, test);
        std::string const what = fmt::format("size {} cache {} call {}", size, bytes, call);
        EXPECT_EQ(bits_of(result.scores), expected) << what;
        std::uint64_t const cache_hits = count_of(result.counts, "cache_hits");
        std::uint64_t const cache_misses = count_of(result.counts, "cache_misses");
        std::uint64_t const cache_slots = count_of(result.counts, "cache_slots");
        std::uint64_t const prefix_lookups = count_of(result.counts, "prefix_lookups");
        std::uint64_t prefixes = 0;
        for (std::uint32_t k = 0; k < size; ++k) {
          cache_lookups const of = lookups_of(result.counts, k);
          EXPECT_EQ(of.hits + of.misses, itemsets[k]) << what << " of " << k;
          // A miss of more items looks for its first k, unless it has found more of them.
          std::uint64_t wanted = 0;
          for (std::uint32_t j = k + 1; k > 1 && cache_slots > 0 && j < size; ++j)
            wanted +=
                lookups_of(result.counts, j).misses - lookups_of(result.counts, j).prefix_hits;
          EXPECT_EQ(of.prefix_hits + of.prefix_misses, wanted) << what << " of " << k;
          prefixes += of.prefix_hits + of.prefix_misses;
        }
        cache_lookups const largest = lookups_of(result.counts, size - 1);
        EXPECT_EQ(cache_hits, size > 2 ? largest.hits : 0U) << what;
        EXPECT_EQ(cache_misses, size > 2 ? largest.misses : 0U) << what;
        EXPECT_EQ(prefix_lookups, prefixes) << what;
        EXPECT_TRUE(bytes > 0 || cache_hits == 0) << what;
        EXPECT_TRUE(cache_slots > 0 || size == 2 || bytes < 4000) << what;
        EXPECT_TRUE(cache_slots == 0 || (size > 2 && bytes > 0)) << what;
        if (size <= 3 || bytes == 0) {
          EXPECT_EQ(prefix_lookups, 0U) << what;
        } else if (bytes >= 4000) {  // enough for a slot
          EXPECT_GE(prefix_lookups, cache_misses) << what;
        }
        if (size > 2 && bytes == std::size_t{1} << 30 && call == 1) {
          EXPECT_GT(cache_hits, 4 * cache_misses) << what << ": it is kept";
        }
      }
    }
  }
}

constexpr std::size_t points = 7;  // a prime

/// `copies` of documents with an item of each of 7 features: the values, modulo 7, of all
/// polynomials of a degree below k; or with `leading`, of x^k and each of them. Two polynomials of
/// a degree of at most k agree in at most k points, so the documents without x^k hold every itemset
/// of k items, once, and no itemset of k + 1 items of those with it.
binned_dataset polynomials(std::size_t k, bool leading, std::size_t copies = 1) {
  std::size_t all = 1;
  for (std::size_t i = 0; i < k; ++i) all *= points;
  binned_dataset set = drawn_set({copies * all, points, points, {0}}, 1);
  for (std::size_t d = 0; d < set.documents; ++d)
    for (std::size_t x = 0; x < points; ++x) {
      std::size_t value = leading ? 1 : 0;
      std::size_t coefficients = d % all;
      for (std::size_t i = 0; i < k; ++i, coefficients /= points)
        value = (value * x + coefficients % points) % points;
      set.codes[x * set.stride + d] = static_cast<std::uint8_t>(value);
    }
  return set;
}

/// Algorithm 16, lines 10 to 16: an itemset that is not cached is built from its longest cached
/// prefix. First all itemsets of up to k items are cached; then come documents whose larger
/// itemsets are all new, and each of these must find its first k items at once.
TEST_P(itemset_caches, make_new_itemsets_of_the_longest_known_prefix) {
  binned_dataset training = drawn_set({600, points, points, {0, 1, 2}}, 9);
  random_engine draw(10);
  for (std::uint8_t& code : training.codes)
    code = static_cast<std::uint8_t>(uniform_below(draw, points));
  for (std::size_t k : {std::size_t{2}, std::size_t{3}}) {
    options_.scoring.rule_size = static_cast<std::uint32_t>(k + 2);
    ranker const r(ctx_, training, options_);
    binned_dataset const old = polynomials(k, false, gpus());  // each device gets a copy
    binned_dataset const fresh = polynomials(k, true);
    std::uint64_t unknown = 1;
    // A look-up that meets a concurrent insert of the itemset, or into its slot, misses an itemset.
    for (int call = 0; call < 100 && unknown > 0; ++call) {
      scored const result = r.score(ctx_, old);
      unknown = 0;
      for (std::size_t j = 2; j <= k; ++j) unknown += lookups_of(result.counts, j).misses;
    }
    ASSERT_EQ(unknown, 0U) << "of up to " << k << " items";
    scored const result = r.score(ctx_, fresh);
    for (std::size_t j = 2; j <= k + 1; ++j) {
      cache_lookups const of = lookups_of(result.counts, j);
      std::uint64_t const all = fresh.documents * rules::binomial(points, j);
      std::uint64_t const larger = fresh.documents * rules::binomial(points, k + 1);
      EXPECT_EQ(of.hits, j <= k ? all : 0) << j << " of " << k;
      EXPECT_EQ(of.misses, j <= k ? 0 : all) << j << " of " << k;
      EXPECT_EQ(of.prefix_hits, j == k ? larger : 0) << j << " of " << k;
      EXPECT_EQ(of.prefix_misses, 0U) << j << " of " << k;
    }
    auto const expected = bits_of(run(engine::lrar, training, fresh, options_).scores);
    EXPECT_EQ(bits_of(result.scores), expected) << k;
    EXPECT_EQ(bits_of(r.score(ctx_, fresh).scores), expected) << k << ", again";
  }
}

/// Engines on several GPUs split the documents or the features.
class several_gpus : public ::testing::TestWithParam<std::tuple<named_engine, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(
    l2r, several_gpus,
    ::testing::Combine(::testing::ValuesIn(gpu_engines),
                       ::testing::ValuesIn(rulerank::testing_tools::gpu_counts)),
    [](auto const& of) {
      return fmt::format("{}_on_{}", std::get<0>(of.param).name, std::get<1>(of.param));
    });

TEST_P(several_gpus, give_the_scores_of_project) {
  auto const& [tested, gpus] = GetParam();
  if (auto const why = why_not_here(tested, gpus); !why.empty()) GTEST_SKIP() << why;
  context const ctx = rulerank::testing_tools::on_gpus(gpus);
  binned_dataset const training = drawn_set({700, 24, 10, {0, 1, 2}, .02, .02}, 3);
  for (std::size_t documents : {1, 3, 150, 2'000}) {
    binned_dataset const test = drawn_set({documents, 24, 10, {0, 1, 2}, .02, .02}, 4);
    for (std::uint32_t size : {2U, 3U, 4U})
      for (std::size_t shared_from : {std::size_t{0}, std::size_t{1'000'000}}) {
        ranker_options options;
        options.scoring.rule_size = size;
        auto const expected = bits_of(run(engine::project, training, test, options).scores);
        options.execution.engine = tested.which;
        auto const r = ranker_access::with(ctx, training, options, {.shared_from = shared_from});
        EXPECT_EQ(bits_of(r.score(ctx, test).scores), expected)
            << documents << " documents, size " << size << ", shared from " << shared_from;
      }
  }
}

TEST_P(every_gpu_engine, takes_16_items_where_it_is_a_published_one) {
  binned_dataset const training = drawn_set({30, 18, 2}, 1);
  ranker_options options;
  options.scoring.rule_size = 18;
  if (tested() == engine::tensor)
    EXPECT_EQ(bits_of(run(tested(), training, training, options).scores),
              bits_of(run(engine::project, training, training, options).scores));
  else
    EXPECT_THROW(run(tested(), training, training, options), usage_error);
}

TEST(itemset_cache_shape, possible_itemsets) {
  std::vector<std::uint32_t> const bins{2, 3, 4};
  EXPECT_EQ(possible_itemsets(bins, 1), 0);
  EXPECT_EQ(possible_itemsets(bins, 2), 6 + 8 + 12);
  EXPECT_EQ(possible_itemsets(bins, 3), 6 + 8 + 12 + 24);
  EXPECT_EQ(possible_itemsets({}, 3), 0);
}

TEST(itemset_cache_shape, is_bounded_by_memory_and_by_need) {
  std::vector<std::uint32_t> const bins(59, 10);
  // State, 3 items and 2 counts: 8 words; 160 bytes of bitmap.
  itemset_cache_shape const large = shape_of_cache(bins, 3, 2, 40, std::size_t{4} << 30);
  EXPECT_EQ(large.slot_bytes(), 192U);
  EXPECT_EQ(large.slots, (std::uint64_t{4} << 30) / 192);
  itemset_cache_shape const pairs = shape_of_cache(bins, 2, 2, 40, std::size_t{4} << 30);
  EXPECT_EQ(pairs.slot_bytes(), 32U);
  EXPECT_EQ(pairs.slots, 2U * 1711 * 100);
  EXPECT_EQ(shape_of_cache(bins, 3, 2, 40, 0).slots, 0U);
  EXPECT_EQ(shape_of_cache(bins, 3, 2, 40, 191).slots, 0U);
  EXPECT_EQ(shape_of_cache(bins, 3, 2, 40, 192).slots, 1U);
  EXPECT_EQ(shape_of_cache(bins, 1, 2, 40, 1 << 20).slots, 0U) << "rows need no cache";
}

TEST(itemset_cache_shape, slot_is_the_bits_modulo_the_size) {
  random_engine draw(1);
  for (std::uint64_t slots :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{22369621},
        std::uint64_t{1} << 32, (std::uint64_t{1} << 63) + 1, ~std::uint64_t{0}}) {
    itemset_cache_shape shape;
    shape.slots = slots;
    shape.reciprocal = ~std::uint64_t{0} / slots;
    for (std::uint64_t bits : {std::uint64_t{0}, slots - 1, slots, ~std::uint64_t{0}})
      EXPECT_EQ(slot_of(bits, shape), bits % slots) << bits << " of " << slots;
    for (int i = 0; i < 1000; ++i) {
      auto const bits = static_cast<std::uint64_t>(draw());
      EXPECT_EQ(slot_of(bits, shape), bits % slots) << bits << " of " << slots;
    }
  }
}

TEST_P(every_engine, features_are_matched_by_number) {
  binned_dataset const training = drawn_set({200, 5, 4}, 1);
  binned_dataset test = drawn_set({20, 5, 4}, 2);
  binned_dataset other = test;
  other.features = {3, 4, 5, 7, 100};  // 1, 3, 5, 7, 9 in training: columns 3, 5, 7 are known
  binned_dataset expected = test;
  for (std::size_t d = 0; d < test.documents; ++d) {
    expected.codes[0 * test.stride + d] = datasets::no_item;
    expected.codes[1 * test.stride + d] = test.code(0, d);
    expected.codes[2 * test.stride + d] = test.code(2, d);
    expected.codes[3 * test.stride + d] = test.code(3, d);
    expected.codes[4 * test.stride + d] = datasets::no_item;
  }
  EXPECT_EQ(bits_of(run(tested(), training, other, {}).scores),
            bits_of(run(tested(), training, expected, {}).scores));
  EXPECT_THROW(run(engine::project, training, drawn_set({20, 5, 6}, 2), {}), usage_error);
}

TEST_P(every_engine, a_share_of_the_features_is_that_of_a_set_without_the_others) {
  context const ctx;
  binned_dataset training = drawn_set({200, 7, 4}, 3);
  // Features 5 and 11 equal the label; the others hardly depend on it.
  std::size_t const telling[] = {2, 5};
  for (std::size_t d = 0; d < training.documents; ++d)
    for (std::size_t const f : telling)
      training.codes[f * training.stride + d] = static_cast<std::uint8_t>(training.labels[d]);
  binned_dataset const test = drawn_set({30, 7, 4}, 4);
  binned_dataset two;
  two.documents = training.documents;
  two.stride = training.stride;
  two.item_begin = {0};
  for (std::size_t const f : telling) {
    two.features.push_back(training.features[f]);
    two.item_begin.push_back(two.item_begin.back() + training.bins(f));
    two.has_missing_item.push_back(training.has_missing_item[f]);
    two.codes.insert(two.codes.end(), training.column(f), training.column(f) + training.stride);
  }
  two.labels = training.labels;
  two.max_label = training.max_label;
  ranker_options share;
  for (double const s : {.2, .28}) {  // of 7, rounded up
    share.scoring.feature_share = s;
    EXPECT_EQ(run(tested(), training, test, share).scores, run(tested(), two, test, {}).scores);
  }
  share.scoring.feature_share = 1;
  EXPECT_EQ(run(engine::project, training, test, share).scores,
            run(engine::project, training, test, {}).scores);
  share.scoring.feature_share = 1e-9;  // one is left
  EXPECT_NO_THROW(run(engine::project, training, test, share));
}

TEST_P(every_engine, documents_without_rules_get_the_mean_label) {
  binned_dataset const training = drawn_set({50, 4, 3}, 1);
  binned_dataset test = drawn_set({3, 4, 3}, 2);
  std::fill(test.codes.begin(), test.codes.end(), datasets::no_item);
  double const mean = std::accumulate(training.labels.begin(), training.labels.end(), 0.) / 50;
  EXPECT_EQ(run(tested(), training, test, {}).scores, std::vector(3, mean));
  ranker_options strict;
  strict.scoring.thresholds.min_support = 1000;
  EXPECT_EQ(run(tested(), training, drawn_set({3, 4, 3}, 2), strict).scores, std::vector(3, mean));
}

TEST_P(every_engine, no_documents) {
  binned_dataset const training = drawn_set({50, 4, 3}, 1);
  EXPECT_TRUE(run(tested(), training, drawn_set({0, 4, 3}, 2), {}).scores.empty());
}

TEST(ranker, wrong_arguments) {
  binned_dataset const training = drawn_set({50, 4, 3}, 1);
  context const ctx;
  auto with = [&](auto change) {
    ranker_options options;
    change(options);
    return ranker(ctx, training, options).engine();
  };
  EXPECT_EQ(with([](ranker_options&) {}), engine::project);
  EXPECT_THROW(with([](ranker_options& o) { o.scoring.rule_size = 1; }), usage_error);
  EXPECT_THROW(with([](ranker_options& o) { o.scoring.rule_size = 0; }), usage_error);
  scoring_options size_8;
  size_8.rule_size = 8;
  EXPECT_EQ(itemsets_a_document(size_8, 8), 254U);
  EXPECT_THROW(itemsets_a_document(size_8, 2000), usage_error);
  EXPECT_THROW(with([](ranker_options& o) { o.scoring.thresholds.min_confidence = 1.5; }),
               usage_error);
  EXPECT_THROW(with([](ranker_options& o) { o.scoring.smoothing = -1; }), usage_error);
  EXPECT_THROW(with([](ranker_options& o) { o.scoring.support_weight = std::nan(""); }),
               usage_error);
  for (double const share : {0., -1., 1.1, std::nan("")})
    EXPECT_THROW(with([&](ranker_options& o) { o.scoring.feature_share = share; }), usage_error);
  EXPECT_THROW(ranker(ctx, drawn_set({0, 4, 3}, 1), {}), usage_error);
  binned_dataset unlabelled = training;
  unlabelled.labels[3] = datasets::unlabelled;
  EXPECT_THROW(ranker(ctx, unlabelled, {}), usage_error);
}

TEST_P(every_engine, stops_when_asked) {
  binned_dataset const training = drawn_set({400, 12, 6}, 7);
  std::stop_source stop;
  context ctx = context_for(tested());
  ranker_options options;
  options.execution.engine = tested();
  ranker r(ctx, training, options);
  ctx.stop = stop.get_token();
  stop.request_stop();
  EXPECT_THROW(r.score(ctx, training), interrupted);
}

class every_cpu_engine : public every_engine {};
INSTANTIATE_TEST_SUITE_P(l2r, every_cpu_engine, ::testing::ValuesIn(cpu_engines), name_of_instance);

/// On GPUs a whole batch is one step; see reports_every_batch.
TEST_P(every_cpu_engine, reports_progress_and_may_be_stopped) {
  binned_dataset const training = drawn_set({400, 12, 6}, 7);
  {
    std::size_t calls = 0;
    context ctx = context_for(tested(), 2);
    ctx.progress = [&](std::string_view, std::uint64_t done, std::uint64_t total) {
      EXPECT_LE(done, total);
      return ++calls < 3;
    };
    ranker_options options;
    options.execution.engine = tested();
    options.scoring.rule_size = 4;
    EXPECT_THROW(ranker(ctx, training, options).score(ctx, training), interrupted);
    EXPECT_EQ(calls, 3U);
  }
}

TEST_P(every_gpu_engine, reports_every_batch) {
  binned_dataset const training = drawn_set({400, 5, 6}, 7);
  binned_dataset const test = drawn_set({300'000, 5, 6}, 8);
  std::size_t calls = 0;
  context ctx = context_for(tested());
  ctx.progress = [&](std::string_view, std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    return ++calls < 2;
  };
  ranker_options options;
  options.execution.engine = tested();
  ranker r(ctx, training, options);
  EXPECT_THROW(r.score(ctx, test), interrupted);
  EXPECT_EQ(calls, 2U);
  ctx.progress = {};
  EXPECT_EQ(bits_of(r.score(ctx, test).scores),
            bits_of(run(engine::project, training, test, options).scores))
      << "after a call that was stopped";
}

// Batches are sized by memory: any size, a small last one, after calls of other sizes.
TEST_P(every_gpu_engine, takes_what_fits) {
  binned_dataset const training = drawn_set({400, 20, 6}, 27);
  binned_dataset const test = drawn_set({5'000, 20, 6}, 28);
  binned_dataset const few = drawn_set({10, 20, 6}, 29);
  auto const expected = bits_of(run(engine::project, training, test, {}).scores);
  auto const expected_few = bits_of(run(engine::project, training, few, {}).scores);
  for (std::size_t device_bytes : {0, 100'000, 300'000, 1'000'000, 2'000'000, 3'000'000}) {
    context const ctx = context_for(tested());
    ranker_options options;
    options.execution.engine = tested();
    engine_knobs const knobs{.shared_from = 500, .device_bytes = device_bytes};
    ranker const fresh = ranker_access::with(ctx, training, options, knobs);
    EXPECT_EQ(bits_of(fresh.score(ctx, test).scores), expected) << device_bytes;
    ranker const used = ranker_access::with(ctx, training, options, knobs);
    EXPECT_EQ(bits_of(used.score(ctx, few).scores), expected_few) << device_bytes;
    EXPECT_EQ(bits_of(used.score(ctx, test).scores), expected) << device_bytes;
    EXPECT_EQ(bits_of(used.score(ctx, few).scores), expected_few) << device_bytes;
    EXPECT_EQ(used.score(ctx, drawn_set({0, 20, 6}, 30)).scores.size(), 0U) << device_bytes;
  }
}

TEST(ranker, the_last_of_the_largest_batches_may_be_small) {
  RULERANK_NEEDS_GPU();
  binned_dataset const training = drawn_set({300, 16, 4}, 31);
  binned_dataset const test = drawn_set({(1 << 18) + 100, 16, 4}, 32);
  context ctx = context_for(engine::tensor);
  ctx.devices.resize(1);
  ranker_options options;
  options.execution.engine = engine::tensor;
  EXPECT_EQ(bits_of(ranker(ctx, training, options).score(ctx, test).scores),
            bits_of(run(engine::project, training, test, options).scores));
}

TEST_P(every_gpu_engine, reports_memory_that_holds_no_batch) {
  binned_dataset const training = drawn_set({400, 12, 6}, 7);
  context const ctx = context_for(tested());
  ranker_options options;
  options.execution.engine = tested();
  auto const r = ranker_access::with(ctx, training, options, {.device_bytes = 100});
  EXPECT_PRED2(says, message_of<device_error>([&] { r.score(ctx, training); }), "...a batch...");
}

TEST_P(every_gpu_engine, a_smaller_one_beside_it_takes_nothing_away) {
  binned_dataset const wide = drawn_set({600, 60, 6}, 17);
  binned_dataset const narrow = drawn_set({50, 3, 3}, 18);
  for (std::size_t shared_from : {std::size_t{0}, std::size_t{1} << 40}) {
    context const ctx = context_for(tested());
    ranker_options options;
    options.execution.engine = tested();
    engine_knobs const knobs{.shared_from = shared_from};
    ranker const first = ranker_access::with(ctx, wide, options, knobs);
    ranker const second = ranker_access::with(ctx, narrow, options, knobs);
    EXPECT_EQ(bits_of(first.score(ctx, wide).scores),
              bits_of(run(engine::project, wide, wide, options).scores));
    EXPECT_EQ(bits_of(second.score(ctx, narrow).scores),
              bits_of(run(engine::project, narrow, narrow, options).scores));
  }
}

/// Selecting an engine that needs a GPU without one throws, whether or not the machine has one.
TEST(ranker, engines_for_gpus_need_one) {
  binned_dataset const training = drawn_set({50, 4, 3}, 1);
  std::size_t refused = 0;
  for (engine_info const& d : engines()) {
    if (includes(d.where, runs_on::cpu)) continue;
    ranker_options options;
    options.execution.engine = d.which;
    EXPECT_THROW(ranker(context{}, training, options), device_error) << d.name;
    ++refused;
  }
  if (refused == 0) GTEST_SKIP() << "tensor, plrar, profl-t, profl: not in a build without CUDA";
  EXPECT_EQ(refused, gpu_engines.size());
}

TEST(ranker, engine_names) {
  for (engine_info const& d : engines()) {
    EXPECT_EQ(engine_from(d.name), d.which);
    EXPECT_EQ(name_of(d.which), d.name);
    auto const tested = std::ranges::find(all_engines, d.which, &named_engine::which);
    ASSERT_NE(tested, all_engines.end()) << d.name << " has no tests";
    EXPECT_EQ(runs_on_gpu(d.which), !includes(d.where, runs_on::cpu)) << d.name;
  }
  EXPECT_EQ(engine_from("auto"), engine::automatic);
  EXPECT_EQ(name_of(engine::automatic), "auto");
  EXPECT_THROW(engine_from("fast"), usage_error);
}

/// There is one default engine for the CPU and one for GPUs, and the default runs.
class default_engine : public ::testing::TestWithParam<runs_on> {};
INSTANTIATE_TEST_SUITE_P(l2r, default_engine, ::testing::Values(runs_on::cpu, runs_on::gpus),
                         [](auto const& of) {
                           return of.param == runs_on::cpu ? "of_the_cpu" : "of_gpus";
                         });

TEST_P(default_engine, is_the_only_one_and_runs) {
  std::vector<engine> defaults;
  for (engine_info const& d : engines())
    if (includes(d.default_on, GetParam())) defaults.push_back(d.which);
  if (GetParam() == runs_on::gpus && defaults.empty())
    GTEST_SKIP() << "no engine for GPUs in a build without CUDA";
  ASSERT_EQ(defaults.size(), 1U);
  context ctx;
  if (GetParam() == runs_on::gpus) {
    RULERANK_NEEDS_GPU();
    ctx = rulerank::testing_tools::on_gpus(1);
  }
  EXPECT_EQ(ranker(ctx, drawn_set({20, 3, 2}, 1), {}).engine(), defaults[0]);
}

TEST(ranker, ties_keep_input_order) {
  std::vector<double> const scores{9, .5, 1, .5, 2, 1, 9};
  EXPECT_EQ(ranking(scores, 1, 6), (std::vector<std::size_t>{4, 2, 5, 1, 3}));
}

TEST(score_table, follows_the_definition) {
  binned_dataset const training = drawn_set({200, 59, 10, {0, 1}}, 1);
  scoring_options options;
  options.rule_size = 4;
  prepared_training const prepared(training, options);
  score_table const& table = prepared.table;
  // I = 59 + 1711 + 32509 = 34279, c = 1: s = 62 - 16.
  EXPECT_EQ(table.shift(), 46);
  EXPECT_FALSE(table.is_wide());
  auto const view = table.narrow();
  EXPECT_EQ(view.factor[1], std::uint64_t{1} << 46);
  EXPECT_EQ(view.factor[3], ((std::uint64_t{1} << 46) + 1) / 3);
  EXPECT_EQ(view.factor[7], ((std::uint64_t{1} << 46) + 3) / 7);
  EXPECT_EQ(view.unit[5], std::uint64_t{1} << 46);
  EXPECT_EQ(view.unit[0], 0U);
  prepared_training const wide(training, options, 0, {.wide_sums = true});
  EXPECT_TRUE(wide.table.is_wide());
  EXPECT_EQ(wide.table.shift(), 64);
  EXPECT_TRUE(wide.table.wide().factor[1] == wide_sum{1} << 64);
}

TEST(score_table, goes_wide_by_itself) {
  // C(300, 1..5) is about 2e10 (35 bits): 200 / 2^27 exceeds 1e-6.
  drawn_shape const shape{200, 300, 2};
  scoring_options options;
  options.rule_size = 6;
  EXPECT_TRUE(prepared_training(drawn_set(shape, 1), options).table.is_wide());
  options.rule_size = 3;
  EXPECT_FALSE(prepared_training(drawn_set(shape, 1), options).table.is_wide());
}

TEST(score_table, refuses_weights_that_do_not_fit) {
  scoring_options options;
  options.support_weight = -16;
  EXPECT_THROW(prepared_training(drawn_set({3000, 3, 2}, 1), options), usage_error);
}

// Real data.

class real_folds
    : public ::testing::TestWithParam<std::tuple<std::string, std::string, named_engine>> {};

TEST_P(real_folds, agrees_with_lrar_on_any_number_of_threads) {
  std::string const& set = std::get<0>(GetParam());
  std::string const& method = std::get<1>(GetParam());
  named_engine const& tested = std::get<2>(GetParam());
  if (auto const why = why_not_here(tested); !why.empty()) GTEST_SKIP() << why;
  RULERANK_REAL_DATA(folder, "letor/" + set + "/Fold1");
  real_fold const fold = read_fold(folder, datasets::binning_from(method), 100'000, 100'000);
  auto const check_sizes = [&](std::vector<std::uint32_t> const& sizes, std::size_t documents) {
    std::vector<std::size_t> chosen(std::min(documents, fold.test.documents));
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    binned_dataset const test = datasets::subset(fold.test, chosen);
    int threads = 1;
    for (ranker_options const& options : option_sets(sizes)) {
      auto const& expected = once(fmt::format("{} {} {}", set, method, words(options)), [&] {
        return bits_of(run(engine::lrar, fold.training, test, options).scores);
      });
      threads = threads == 1 ? 2 : threads == 2 ? 5 : 1;
      ASSERT_EQ(bits_of(run(tested.which, fold.training, test, options, threads).scores), expected)
          << words(options) << " threads " << threads;
    }
  };
  check_sizes({2, 3}, 400);
  check_sizes({4}, 8);
}

/// All engines but lrar, their baseline.
INSTANTIATE_TEST_SUITE_P(sets, real_folds,
                         ::testing::Combine(::testing::Values("OHSUMED", "MQ2008", "MQ2008-agg"),
                                            ::testing::Values("tube", "width", "frequency"),
                                            ::testing::ValuesIn(all_engines.begin() + 1,
                                                                all_engines.end())),
                         [](auto const& of) {
                           std::string name = std::get<0>(of.param) + "_" + std::get<1>(of.param) +
                                              "_" + std::get<2>(of.param).name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class golden_scores : public ::testing::TestWithParam<std::tuple<golden_case, named_engine>> {};

TEST_P(golden_scores, within_1e_6) {
  auto const& [of_file, tested] = GetParam();
  auto const& [set, method, size] = of_file;
  if (auto const why = why_not_here(tested); !why.empty()) GTEST_SKIP() << why;
  RULERANK_REAL_DATA(golden, golden_scores_of(of_file));
  RULERANK_REAL_DATA(folder, "letor/" + set + "/Fold1");
  real_fold const fold = read_fold(folder, datasets::binning_from(method), 500, 100);
  auto const expected = numbers_in(golden);
  ASSERT_EQ(expected.size(), fold.test.documents);
  ranker_options options;
  options.scoring.rule_size = static_cast<std::uint32_t>(size);
  auto const scores = run(tested.which, fold.training, fold.test, options).scores;
  for (std::size_t d = 0; d < scores.size(); ++d)
    EXPECT_NEAR(scores[d], expected[d], 1e-6 * expected[d]) << "document " << d;
}

INSTANTIATE_TEST_SUITE_P(
    files, golden_scores, ::testing::Combine(golden_cases(), ::testing::ValuesIn(all_engines)),
    [](auto const& of) {
      return golden_name({std::get<0>(of.param), of.index}) + "_" + std::get<1>(of.param).name;
    });

}  // namespace
}  // namespace rulerank::l2r::ranker_test
