// Exact search in dense vectors by `flat`, on synthetic data.
//
//   dense_bench [shape=ROWSxDIMENSIONS[xTYPE]] [metric=l2|ip|cosine] [k=32[,K...]] [threads=N]
//               [batches=1,4,16,32,128,1024] [values=normal|uniform] [devices=N] [rate=BYTES]
//               [device_bytes=N]
//   dense_bench rows=FILE queries=FILE ...    vectors of files (datasets/vectors.hpp)
//   dense_bench --benchmark_filter=/1$        Google Benchmark's options
//
// Default shapes: 70000x784 and 300000x128, of float32. values: normal by default; uniform in [0,
// 1), or over the range of integers, which makes distances nearly equal. Before the timing, the
// results of some queries, in batches of each size, are compared bit for bit with the definition,
// or on GPUs (devices=N: the first N) with `flat` on the CPU. bytes_per_second: of the rows, once
// per batch; items_per_second: pairs of row and query; recomputed: pairs per query that were
// computed by the definition; widened: see dense_search_work; p50_ms, p95_ms, p99_ms: of whole
// calls. On GPUs also device_ms, from the first copy to the last; read_ms, the time to read the
// rows once at `rate` bytes per second (of each GPU, default 4.28e12); and of_read, the ratio
// device_ms / read_ms. device_bytes: the memory of each GPU that `flat` may use; every search
// copies the remaining rows to the GPU, so `rate` is then that of the bus.

#include "bench/engines/dense_lists.hpp"
#include "core/context.hpp"
#include "core/machine.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "knn/dense/dense_reference.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/published/engines.hpp"
#include "knn/dense/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace {

using namespace rulerank;
using datasets::element;
using datasets::vectors;

struct task {
  std::string name;
  vectors rows;
  vectors queries;
};

element type_named(std::string const& name) {
  for (datasets::named_element const& one : datasets::elements())
    if (one.name == name) return one.which;
  throw std::invalid_argument("unknown type " + name);
}

/// Normal or uniform values, for integers scaled to their range. One seed for a group of rows, so
/// that the result does not depend on the number of threads.
vectors draw(std::size_t rows, std::size_t dimensions, element type, bool uniform,
             std::uint32_t seed) {
  bool const is_integer = type == element::int8 || type == element::uint8;
  float const mean = type == element::uint8 ? 128.0F : 0.0F;
  float const least = type == element::uint8 ? 0.0F : -128.0F;
  std::vector<float> values(rows * dimensions);
  parallel_for({}, rows, 1024, [&](std::size_t begin, std::size_t end, int) {
    std::seed_seq of{seed, static_cast<std::uint32_t>(begin)};
    std::mt19937 random(of);
    std::normal_distribution<float> normal(mean, is_integer ? 30.0F : 1.0F);
    std::uniform_real_distribution<float> even(is_integer ? least : 0.0F,
                                               is_integer ? least + 255 : 1.0F);
    for (std::size_t i = begin * dimensions; i < end * dimensions; ++i) {
      values[i] = uniform ? even(random) : normal(random);
      if (is_integer) values[i] = std::clamp(std::round(values[i]), least, least + 255);
    }
  });
  return datasets::converted({}, vectors(std::move(values), dimensions), type,
                             datasets::rounding::nearest);
}

task drawn_task(std::string const& shape, std::size_t queries, bool uniform) {
  std::size_t end = 0;
  std::size_t const rows = std::stoul(shape, &end);
  std::string const rest = shape.substr(end + 1);
  std::size_t const dimensions = std::stoul(rest, &end);
  element const type = end < rest.size() ? type_named(rest.substr(end + 1)) : element::float32;
  return {shape + (uniform ? "-uniform" : ""), draw(rows, dimensions, type, uniform, 1),
          draw(queries, dimensions, type, uniform, 2)};
}

/// Returns the k nearest rows of some queries.
using search_function =
    std::function<knn::neighbours(vectors const& queries, std::size_t k, knn::dense_search_work&)>;

/// `expected`: for the first queries.
void check(search_function const& search, task const& on, knn::neighbours const& expected,
           std::vector<std::size_t> const& batches) {
  std::size_t const k = expected.k;
  for (std::size_t const batch : batches) {
    std::size_t const count = std::min(batch, on.queries.size());
    knn::dense_search_work ignored;
    knn::neighbours const found = search(on.queries.rows(0, count), k, ignored);
    for (std::size_t i = 0; i < std::min(expected.queries, count) * k; ++i)
      if (found.id[i] != expected.id[i] || std::bit_cast<std::uint64_t>(found.value[i]) !=
                                               std::bit_cast<std::uint64_t>(expected.value[i]))
        throw std::runtime_error(fmt::format("{}: query {} of {}: neighbour {} is another", on.name,
                                             i / k, count, i % k));
  }
}

struct settings {
  std::vector<std::string> shapes;
  std::string rows, queries;
  knn::similarity metric = knn::similarity::l2;
  std::vector<std::size_t> ks{32};
  std::vector<std::size_t> batches{1, 4, 16, 32, 128, 1024};
  bool uniform = false;
  double rate = 4.28e12;
  std::size_t device_bytes = 0;
  context ctx;
};

std::vector<std::size_t> numbers_of(std::string const& list) {
  std::vector<std::size_t> numbers;
  std::istringstream from(list);
  for (std::string one; std::getline(from, one, ',');) numbers.push_back(std::stoul(one));
  return numbers;
}

/// Removes the benchmark's own settings from the arguments.
settings read_settings(int& argc, char** argv) {
  settings read;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    std::size_t const at = argument.find('=');
    std::string const name = argument.substr(0, at);
    std::string const value = at == std::string::npos ? "" : argument.substr(at + 1);
    if (name == "shape")
      read.shapes.push_back(value);
    else if (name == "rows")
      read.rows = value;
    else if (name == "queries")
      read.queries = value;
    else if (name == "metric")
      read.metric = knn::dense_similarity_from(value);
    else if (name == "k")
      read.ks = numbers_of(value);
    else if (name == "batches")
      read.batches = numbers_of(value);
    else if (name == "values" && (value == "normal" || value == "uniform"))
      read.uniform = value == "uniform";
    else if (name == "rate")
      read.rate = std::stod(value);
    else if (name == "device_bytes")
      read.device_bytes = std::stoul(value);
    else if (name == "devices")
      for (int d = 0; d < std::stoi(value); ++d) read.ctx.devices.push_back(d);
    else if (name == "threads")
      read.ctx.threads = std::stoi(value);
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  if (read.shapes.empty() && read.rows.empty()) read.shapes = {"70000x784", "300000x128"};
  return read;
}

#if RULERANK_HAS_CUDA
/// `flat` on GPUs with the requested memory limit.
search_function search_of_small_gpus(settings const& chosen, vectors const& rows) {
  auto const own = std::make_shared<knn::dense_rows>(rows);
  std::shared_ptr<knn::dense_search_engine> const engine =
      knn::make_flat_on_gpus(chosen.ctx, *own, {chosen.metric, knn::dense_engine::flat},
                             {.device_bytes = chosen.device_bytes});
  return [=, metric = chosen.metric, ctx = chosen.ctx](vectors const& queries, std::size_t k,
                                                       knn::dense_search_work& work) {
    vectors const floats = datasets::converted(ctx, queries, element::float32);
    knn::dense_request request;
    request.queries = floats.values<float>();
    request.count = floats.size();
    request.k = std::min(k, own->size());
    std::vector<std::vector<knn::dense_candidate>> lists(request.count);
    engine->search(ctx, request, lists, work);
    return bench::neighbours_of(lists, request.k, metric);
  };
}
#endif

search_function search_of(settings const& chosen, vectors const& rows) {
  if (chosen.device_bytes > 0) {
#if RULERANK_HAS_CUDA
    if (!chosen.ctx.devices.empty()) return search_of_small_gpus(chosen, rows);
#endif
    throw std::invalid_argument("device_bytes: expected devices beside it");
  }
  auto const index = std::make_shared<knn::dense_index>(
      chosen.ctx, rows, knn::dense_index_options{chosen.metric, knn::dense_engine::flat});
  return [index, ctx = chosen.ctx](vectors const& queries, std::size_t k,
                                   knn::dense_search_work& work) {
    return index->search(ctx, queries, k, {}, &work);
  };
}

void time_searches(benchmark::State& state, settings const& chosen, search_function const& search,
                   vectors const& rows, vectors const& queries, std::size_t k) {
  knn::dense_search_work work;
  std::vector<double> calls;
  for (auto _ : state) {
    stopwatch const watch;
    benchmark::DoNotOptimize(search(queries, k, work));
    calls.push_back(1e3 * watch.seconds());
  }
  std::sort(calls.begin(), calls.end());
  for (auto const& [name, share] : {std::pair{"p50_ms", .5}, {"p95_ms", .95}, {"p99_ms", .99}})
    state.counters[name] =
        calls[static_cast<std::size_t>(share * static_cast<double>(calls.size() - 1))];
  auto const rounds = static_cast<std::int64_t>(state.iterations());
  auto const pairs = static_cast<std::int64_t>(rows.size() * queries.size());
  auto const bytes = static_cast<std::int64_t>(rows.bytes());
  state.SetItemsProcessed(rounds * pairs);
  state.SetBytesProcessed(rounds * bytes);
  auto const searches = static_cast<double>(rounds) * static_cast<double>(queries.size());
  state.counters["recomputed"] = static_cast<double>(work.recomputed) / searches;
  state.counters["widened"] = static_cast<double>(work.widened) / searches;
  if (chosen.ctx.devices.empty()) return;
  double const read_s =
      static_cast<double>(bytes) / chosen.rate / static_cast<double>(chosen.ctx.devices.size());
  double const device_s = work.device_s / static_cast<double>(rounds);
  state.counters["device_ms"] = 1e3 * device_s;
  state.counters["read_ms"] = 1e3 * read_s;
  state.counters["of_read"] = device_s / read_s;
}

void add_benchmarks(settings const& chosen, task const& on) {
  vectors const some = on.queries.rows(0, std::min<std::size_t>(on.queries.size(), 5));
  std::map<std::size_t, knn::neighbours> expected;
  if (!chosen.ctx.devices.empty()) {
    knn::dense_index const cpu({}, on.rows, {chosen.metric, knn::dense_engine::flat});
    for (std::size_t const k : chosen.ks) expected[k] = cpu.search({}, some, k);
  } else {
    for (std::size_t const k : chosen.ks)
      expected[k] = knn::search_reference(on.rows, some, chosen.metric, k);
  }
  search_function const search = search_of(chosen, on.rows);
  for (std::size_t const k : chosen.ks) {
    check(search, on, expected[k], chosen.batches);
    for (std::size_t const count : chosen.batches) {
      if (count > on.queries.size()) continue;
      benchmark::RegisterBenchmark(fmt::format("flat/{}/k:{}/{}", on.name, k, count).c_str(),
                                   [=](benchmark::State& state) {
                                     time_searches(state, chosen, search, on.rows,
                                                   on.queries.rows(0, count), k);
                                   })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  rulerank::knn::add_published_dense_engines();
  try {
    settings const chosen = read_settings(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::AddCustomContext("commit", commit());
    benchmark::AddCustomContext("cpu", this_machine().cpu);
    std::size_t const queries = *std::max_element(chosen.batches.begin(), chosen.batches.end());
    for (std::string const& shape : chosen.shapes)
      add_benchmarks(chosen, drawn_task(shape, queries, chosen.uniform));
    if (!chosen.rows.empty())
      add_benchmarks(chosen, {chosen.rows, datasets::read_vectors(chosen.ctx, chosen.rows),
                              datasets::read_vectors(chosen.ctx, chosen.queries)});
    benchmark::RunSpecifiedBenchmarks();
  } catch (std::exception const& e) {
    std::cerr << "dense_bench: " << e.what() << '\n';
    return 1;
  }
}
