// Discretizers and feature orders: fitting, applying, Cramer's V of all pairs.
//
//  discretizer_bench             one thread, synthetic data
//   discretizer_bench --benchmark_filter=fit   Google Benchmark's options
//
// Every result is checked before it is timed: cuts against the definition (on a part of the column,
// because the definition is slow), codes against counting cuts value by value, the order against
// that with two threads.

#include "core/context.hpp"
#include "core/random.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/discretizer/cut_points.hpp"
#include "datasets/discretizer/cut_points_reference.hpp"
#include "datasets/feature_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

using namespace rulerank;
using namespace rulerank::datasets;

enum class values { six_decimals, full_precision };

/// Random dense rows; a third of the values are 0, as in LETOR.
dataset drawn(std::size_t documents, std::uint32_t features, values form) {
  random_engine engine(3);
  dataset data;
  data.labels.resize(documents);
  data.entries.resize(documents * features);
  for (std::size_t d = 0; d < documents; ++d) {
    data.labels[d] = static_cast<std::int32_t>(uniform_below(engine, 5));
    double const base = uniform_unit(engine);
    for (std::uint32_t f = 0; f < features; ++f) {
      double x = (base + uniform_unit(engine)) / 2;
      if (x < 0.35) x = 0;
      if (form == values::six_decimals) x = std::round(x * 1e6) / 1e6;
      data.entries[d * features + f] = {f + 1, x};
    }
    data.row.push_back((d + 1) * features);
  }
  data.queries = {{"1", 0, documents}};
  return data;
}

context one_thread() {
  context ctx;
  ctx.threads = 1;
  return ctx;
}

void fit(benchmark::State& state, binning method, values form) {
  auto const documents = static_cast<std::size_t>(state.range(0));
  dataset const data = drawn(documents, 8, form);
  std::vector<double> part;
  for (std::size_t d = 0; d < std::min<std::size_t>(documents, 150); ++d)
    part.push_back(data.document(d)[0].value);
  if (cut_points(binning::tube, 10, part) != reference::tube_cuts(10, part))
    return state.SkipWithError("cuts differ from the definition's");
  discretizer_options options;
  options.method = method;
  for (auto _ : state) benchmark::DoNotOptimize(fit_discretizer(one_thread(), data, options));
  state.SetItemsProcessed(state.iterations() * state.range(0) * 8);
}

void apply(benchmark::State& state) {
  auto const features = static_cast<std::uint32_t>(state.range(1));
  dataset const data =
      drawn(static_cast<std::size_t>(state.range(0)), features, values::six_decimals);
  discretizer_options options;
  options.method = binning::width;
  discretizer const fitted = fit_discretizer(one_thread(), data, options);
  binned_dataset const check = apply_discretizer(one_thread(), data, fitted);
  for (std::size_t d = 0; d < data.size(); ++d)
    for (std::size_t f = 0; f < features; ++f) {
      std::uint8_t code = 0;
      for (double const cut : fitted.features[f].cuts) code += cut <= data.document(d)[f].value;
      if (check.code(f, d) != code) return state.SkipWithError("a code is wrong");
    }
  for (auto _ : state) benchmark::DoNotOptimize(apply_discretizer(one_thread(), data, fitted));
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}

void chi2_order(benchmark::State& state) {
  auto const features = static_cast<std::uint32_t>(state.range(1));
  dataset const data =
      drawn(static_cast<std::size_t>(state.range(0)), features, values::six_decimals);
  discretizer_options options;
  options.method = binning::frequency;
  binned_dataset const binned =
      apply_discretizer(one_thread(), data, fit_discretizer(one_thread(), data, options));
  context two;
  two.threads = 2;
  if (order_features(one_thread(), binned, feature_order::chi2) !=
      order_features(two, binned, feature_order::chi2))
    return state.SkipWithError("the order depends on the threads");
  for (auto _ : state)
    benchmark::DoNotOptimize(order_features(one_thread(), binned, feature_order::chi2));
  // Documents × pairs.
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1) *
                          (state.range(1) - 1) / 2);
}

BENCHMARK_CAPTURE(fit, tube_six_decimals, binning::tube, values::six_decimals)
    ->Arg(10'000)
    ->Arg(200'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit, tube_full_precision, binning::tube, values::full_precision)
    ->Arg(200'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit, width, binning::width, values::six_decimals)
    ->Arg(200'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit, frequency, binning::frequency, values::six_decimals)
    ->Arg(200'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(apply)->Args({50'000, 131})->Unit(benchmark::kMillisecond);
BENCHMARK(chi2_order)->Args({34'815, 60})->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
