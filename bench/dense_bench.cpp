// Exact search in dense vectors: every engine on drawn data.
//
//   dense_bench [shape=ROWSxDIMENSIONS[xTYPE]] [metric=l2|ip|cosine] [k=32] [threads=N]
//   dense_bench rows=FILE queries=FILE ...    vectors of files (datasets/vectors.hpp)
//   dense_bench --benchmark_filter=/1$        Google Benchmark's options
//
// Shapes without one: 70000x784 and 300000x128, of float32, normal values. Batches of 1, 4, 16, 32,
// 128 and 1024 queries. Before anything is timed, the answers of some queries, in batches of each
// kind of work, are held against the definition, to the bit. bytes_per_second: of the rows, once a
// batch; items_per_second: pairs of row and query; recomputed: pairs a query that were computed by
// the definition.

#include "core/context.hpp"
#include "knn/dense/dense_reference.hpp"
#include "knn/dense/search.hpp"

#include <bit>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
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

/// Normal values; of integers scaled to their range.
vectors draw(std::size_t rows, std::size_t dimensions, element type, std::uint32_t seed) {
  std::mt19937 random(seed);
  bool const is_integer = type == element::int8 || type == element::uint8;
  std::normal_distribution<float> value(type == element::uint8 ? 128.0F : 0.0F,
                                        is_integer ? 30.0F : 1.0F);
  float const least = type == element::uint8 ? 0.0F : -128.0F;
  std::vector<float> values(rows * dimensions);
  for (float& one : values) {
    one = value(random);
    if (is_integer) one = std::clamp(std::round(one), least, least + 255);
  }
  return datasets::converted({}, vectors(std::move(values), dimensions), type,
                             datasets::rounding::nearest);
}

task drawn_task(std::string const& shape, std::size_t queries) {
  std::size_t end = 0;
  std::size_t const rows = std::stoul(shape, &end);
  std::string const rest = shape.substr(end + 1);
  std::size_t const dimensions = std::stoul(rest, &end);
  element const type = end < rest.size() ? type_named(rest.substr(end + 1)) : element::float32;
  return {shape, draw(rows, dimensions, type, 1), draw(queries, dimensions, type, 2)};
}

void check(context const& ctx, knn::dense_index const& index, task const& on, std::size_t k) {
  std::size_t const some = std::min<std::size_t>(on.queries.size(), 5);
  knn::neighbours const expected =
      knn::search_reference(on.rows, on.queries.rows(0, some), index.metric(), k);
  for (std::size_t const count : {std::size_t{1}, some, on.queries.size()}) {
    knn::neighbours const found = index.search(ctx, on.queries.rows(0, count), k);
    for (std::size_t i = 0; i < std::min(some, count) * k; ++i)
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
  std::size_t k = 32;
  context ctx;
};

/// Takes what is ours out of the arguments.
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
      read.k = std::stoul(value);
    else if (name == "threads")
      read.ctx.threads = std::stoi(value);
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  if (read.shapes.empty() && read.rows.empty()) read.shapes = {"70000x784", "300000x128"};
  return read;
}

void time_searches(benchmark::State& state, context const& ctx, knn::dense_index const& index,
                   vectors const& queries, std::size_t k) {
  knn::dense_search_work work;
  for (auto _ : state) benchmark::DoNotOptimize(index.search(ctx, queries, k, {}, &work));
  auto const rounds = static_cast<std::int64_t>(state.iterations());
  auto const pairs = static_cast<std::int64_t>(index.size() * queries.size());
  state.SetItemsProcessed(rounds * pairs);
  state.SetBytesProcessed(rounds * static_cast<std::int64_t>(index.size() * index.dimensions() *
                                                             datasets::bytes_of(index.type())));
  state.counters["recomputed"] =
      static_cast<double>(work.recomputed) /
      (static_cast<double>(rounds) * static_cast<double>(queries.size()));
}

void add_benchmarks(settings const& chosen, task const& on) {
  for (knn::dense_engine_entry const& engine : knn::dense_engines()) {
    auto const index = std::make_shared<knn::dense_index>(
        chosen.ctx, on.rows, knn::dense_index_options{chosen.metric, engine.which});
    check(chosen.ctx, *index, on, chosen.k);
    for (std::size_t const count : {1, 4, 16, 32, 128, 1024}) {
      if (count > on.queries.size()) continue;
      benchmark::RegisterBenchmark(fmt::format("{}/{}/{}", engine.name, on.name, count).c_str(),
                                   [=](benchmark::State& state) {
                                     time_searches(state, chosen.ctx, *index,
                                                   on.queries.rows(0, count), chosen.k);
                                   })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    settings const chosen = read_settings(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    for (std::string const& shape : chosen.shapes) add_benchmarks(chosen, drawn_task(shape, 1024));
    if (!chosen.rows.empty())
      add_benchmarks(chosen, {chosen.rows, datasets::read_vectors(chosen.ctx, chosen.rows),
                              datasets::read_vectors(chosen.ctx, chosen.queries)});
    benchmark::RunSpecifiedBenchmarks();
  } catch (std::exception const& e) {
    std::cerr << "dense_bench: " << e.what() << '\n';
    return 1;
  }
}
