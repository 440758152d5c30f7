// Measures over a synthetic test set, and the randomization test.
//
//   eval_bench                               one thread
//   eval_bench --benchmark_filter=measures   Google Benchmark's options
//
// Before the timing, averages over ties are compared with the mean over many random orders, and the
// randomization test with that on two threads.

#include "core/context.hpp"
#include "core/random.hpp"
#include "eval/evaluate.hpp"
#include "eval/significance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

using namespace rulerank;
using namespace rulerank::eval;

context with_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

struct drawn_set {
  std::vector<std::int32_t> labels;
  std::vector<double> scores;
  std::vector<datasets::query_group> queries;
  labelled_queries view() const { return {labels, queries, {}}; }
};

/// Labels 0 to 4, scores on a grid so coarse that some tie.
drawn_set draw(std::size_t queries, std::size_t documents) {
  random_engine engine(1);
  drawn_set set;
  for (std::size_t q = 0; q < queries; ++q) {
    std::size_t const begin = set.labels.size();
    for (std::size_t d = 0; d < documents; ++d) {
      auto const label =
          static_cast<std::int32_t>(std::min(uniform_below(engine, 5), uniform_below(engine, 5)));
      set.labels.push_back(label);
      set.scores.push_back(std::round(20 * (label + 8 * uniform_unit(engine))));
    }
    set.queries.push_back({std::to_string(q), begin, set.labels.size()});
  }
  return set;
}

profile with_ties(tie_rule ties) {
  profile p = make_profile("standard");
  p.ties = ties;
  return p;
}

/// Shuffles documents within queries: a random order of every tie.
bool average_is_right(std::vector<measure> const& measures) {
  drawn_set const set = draw(20, 60);
  std::vector<double> const exact =
      evaluate(with_threads(1), set.view(), set.scores, measures, with_ties(tie_rule::average))
          .averages();
  std::vector<double> sums(measures.size(), 0.0);
  constexpr int rounds = 400;
  random_engine engine(2);
  for (int round = 0; round < rounds; ++round) {
    drawn_set other = set;
    for (datasets::query_group const& query : set.queries) {
      std::vector<std::size_t> order(query.size());
      std::iota(order.begin(), order.end(), query.begin);
      shuffle(std::span(order), engine);
      for (std::size_t i = 0; i < order.size(); ++i) {
        other.labels[query.begin + i] = set.labels[order[i]];
        other.scores[query.begin + i] = set.scores[order[i]];
      }
    }
    std::vector<double> const once =
        evaluate(with_threads(1), other.view(), other.scores, measures, with_ties(tie_rule::stable))
            .averages();
    for (std::size_t m = 0; m < sums.size(); ++m) sums[m] += once[m];
  }
  for (std::size_t m = 0; m < sums.size(); ++m)
    if (std::abs(sums[m] / rounds - exact[m]) > 0.01) return false;
  return true;
}

void measures(benchmark::State& state, std::string const& names, tie_rule ties) {
  std::vector<measure> const list = parse_measures(names);
  if (!average_is_right(list)) return state.SkipWithError("averages over ties are wrong");
  drawn_set const set = draw(2000, 120);
  profile const p = with_ties(ties);
  for (auto _ : state)
    benchmark::DoNotOptimize(evaluate(with_threads(1), set.view(), set.scores, list, p).values);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(set.labels.size()));
}
BENCHMARK_CAPTURE(measures, map_ndcg10, "MAP,NDCG@10", tie_rule::stable)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(measures, letor_tables, "NDCG@1-10,MeanNDCG,P@1-10,MAP", tie_rule::stable)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(measures, letor_tables_average, "NDCG@1-10,MeanNDCG,P@1-10,MAP",
                  tie_rule::average)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(measures, err_average, "ERR,pFound", tie_rule::average)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(measures, tau, "tau", tie_rule::stable)->Unit(benchmark::kMillisecond);

void fisher(benchmark::State& state) {
  random_engine engine(4);
  std::vector<double> differences(static_cast<std::size_t>(state.range(0)));
  for (double& d : differences) d = uniform_unit(engine) - 0.48;
  if (fisher_randomisation(with_threads(1), differences).p !=
      fisher_randomisation(with_threads(2), differences).p)
    return state.SkipWithError("the number of threads changes the result");
  for (auto _ : state)
    benchmark::DoNotOptimize(fisher_randomisation(with_threads(1), differences).p);
  state.SetItemsProcessed(state.iterations() * state.range(0) * 100'000);
}
BENCHMARK(fisher)->Arg(106)->Arg(784)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
