// The published dense engines for GPUs, compared with `flat`, on synthetic data with the shapes of
// their publications:
//
//   dense_published_bench [TABLE...] [engine=flat,ppk,ppb,sbq,gs] [threads=N] [rounds=25] [part=1]
//                         [shape=ROWSxDIMENSIONS]
//
// TABLE, all without one:
//   batches   Cordeiro, Meyer and Zola 2023, Table 1, and Cordeiro 2023, Tables 5.2 and 5.3: four
//             shapes, 1 to 128 queries, k of 32, 64 and 128
//   queries   Cordeiro 2023, Table 5.1: 700,000 x 128, 512 to 8,192 queries, k 32
//   rows      Liu, Zheng and Liu 2019, Table 1: 1,200 queries, 2^10 to 2^15 rows, k 25; gs by the
//             trial, by searches for the minimum and by sorting, and the votes of 24 classes
//   k         Liu, Zheng and Liu 2019, figure 5: 1,200 queries, 16,384 x 32, the time of the
//             selection alone as k grows
//   clusters  of no publication, as `far`, what bounds of flat tell apart badly: 300,000 x 128 in
//             20 tight clusters, 128 queries, k 32
//   far       the same shape under cosine, values of mean 10 and deviation 1
//
// shape: replaces the shapes of `batches`. part: divides the rows of the shapes and the queries of
// `queries`, for a trial of the benchmark itself. Values are uniform in [0, 1), as published; those
// of clusters deviate by 0.01 from uniform centres. Before an engine is timed, its results are
// compared with `flat` on the CPU, which is exact: for the first and last queries of a batch, rank
// by rank, within single precision, or bit for bit for `flat` on the GPU. One JSON line per cell,
// with medians of at most 25 rounds (fewer if a round takes a second) after a warm-up round:
// search_ms from queries in host memory to neighbours there; kernel_ms of the kernels only (as in
// Table 1); selection_ms of sbq's K-selection and gs's selection. `flat` has instead device_ms,
// from the first copy to the last, and widened, the number of queries. The rows are already on the
// device.

#include "bench/engines/dense_lists.hpp"
#include "core/context.hpp"
#include "core/devices.hpp"
#include "core/machine.hpp"
#include "knn/classification.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/published/engines.hpp"
#include "knn/dense/published/gs.hpp"
#include "knn/dense/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;
using datasets::vectors;
using std::size_t;

/// The shapes of `batches`.
struct shape {
  size_t rows, dimensions;
};
constexpr shape shapes[] = {{70'000, 784}, {300'000, 128}, {1'275'219, 128}, {3'000'000, 300}};
std::string name_of(shape const& of) {
  return fmt::format("{}x{}", of.rows, of.dimensions);
}

struct settings {
  std::set<std::string> tables;
  std::vector<std::string> engines{"flat", "ppk", "ppb", "sbq", "gs"};
  size_t rounds = 25;
  size_t part = 1;
  std::string shape;
  context gpu;
  context cpu;
};

/// Uniform in [0, 1), the same for every number of threads.
vectors draw(settings const& chosen, size_t count, size_t dimensions, std::uint64_t seed) {
  std::vector<float> values(count * dimensions);
  auto const threads = static_cast<size_t>(chosen.cpu.thread_count());
  std::vector<std::jthread> workers;
  for (size_t t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (size_t i = values.size() * t / threads; i < values.size() * (t + 1) / threads; ++i) {
        std::uint64_t x = (seed << 40) + i;  // SplitMix64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U + 0x9E3779B97F4A7C15U;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
        x ^= x >> 31;
        values[i] = static_cast<float>(x >> 40) * 0x1p-24F;
      }
    });
  workers.clear();
  return vectors(std::move(values), dimensions);
}

/// Maps uniform values to others with the same deviation as normal values.
vectors map(vectors const& even, std::function<float(size_t i, float value)> const& to) {
  auto const* const from = reinterpret_cast<float const*>(even.data());
  std::vector<float> values(from, from + even.size() * even.dimensions());
  for (size_t i = 0; i < values.size(); ++i) values[i] = to(i, values[i]);
  return vectors(std::move(values), even.dimensions());
}
float centred(float even, float deviation) {
  return (even - 0.5F) * std::sqrt(12.0F) * deviation;
}
vectors draw_clusters(settings const& chosen, size_t count, size_t dimensions, std::uint64_t seed) {
  constexpr size_t clusters = 20;
  vectors const drawn = draw(chosen, clusters, dimensions, 3);
  auto const* const centres = reinterpret_cast<float const*>(drawn.data());
  return map(draw(chosen, count, dimensions, seed), [&](size_t i, float value) {
    return centres[i % (clusters * dimensions)] + centred(value, 0.01F);
  });
}
vectors draw_far(settings const& chosen, size_t count, size_t dimensions, std::uint64_t seed) {
  return map(draw(chosen, count, dimensions, seed),
             [](size_t, float value) { return 10 + centred(value, 1); });
}

struct cell {
  std::string table, engine;
  size_t rows, dimensions, queries, k;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Times a search; one took `first` seconds. `more`: further members of the JSON line.
void time_cell(settings const& chosen, cell const& of, double first,
               std::function<double(knn::dense_search_work&)> const& search,
               std::string const& more = {}) {
  size_t const least = std::min<size_t>(first > 0.5 ? 1 : 3, chosen.rounds);
  size_t const rounds = std::clamp(static_cast<size_t>(0.25 / first), least, chosen.rounds);
  std::vector<double> seconds, kernels, selections, device;
  knn::dense_search_work last;
  for (size_t i = 0; i < rounds; ++i) {
    last = {};
    seconds.push_back(search(last) * 1e3);
    kernels.push_back(1e-6 * static_cast<double>(count_of(last.counts, "kernel_ns")));
    selections.push_back(1e-6 * static_cast<double>(count_of(last.counts, "selection_ns")));
    device.push_back(last.device_s * 1e3);
  }
  std::string parts =
      of.engine == "flat"
          ? fmt::format(R"("device_ms": {:.4g}, "widened": {})", median(device), last.widened)
          : fmt::format(R"("kernel_ms": {:.4g}, "selection_ms": {:.4g})", median(kernels),
                        median(selections));
  if (of.engine == "gs")
    parts += fmt::format(R"(, "by_minima": {}, "by_sorting": {})",
                         count_of(last.counts, "by_minima"), count_of(last.counts, "by_sorting"));
  fmt::print(R"({{"table": "{}", "engine": "{}", "rows": {}, "dimensions": {}, "queries": {}, )"
             R"("k": {}, "rounds": {}, "search_ms": {:.4g}, {}{}}})"
             "\n",
             of.table, of.engine, of.rows, of.dimensions, of.queries, of.k, rounds, median(seconds),
             parts, more);
  std::fflush(stdout);
}

/// The exact results of some queries, by query number.
class exact_answers {
 public:
  exact_answers(settings const& chosen, vectors const& rows, vectors const& queries,
                std::vector<size_t> const& counts, size_t k,
                knn::similarity metric = knn::similarity::l2)
      : rows_(rows), k_(k), metric_(metric) {
    std::set<size_t> asked;
    for (size_t const count : counts)
      for (size_t i = 0; i < std::min<size_t>(count, 4); ++i) {
        asked.insert(i);
        asked.insert(count - 1 - i);
      }
    std::vector<float> values;
    for (size_t const q : asked) {
      place_[q] = place_.size();
      auto const* const from = reinterpret_cast<float const*>(queries.data()) + q * dimensions();
      values.insert(values.end(), from, from + dimensions());
    }
    knn::dense_index const index(chosen.cpu, rows,
                                 {.metric = metric, .engine = knn::dense_engine::flat});
    found_ = index.search(chosen.cpu, vectors(std::move(values), dimensions()), k);
  }

  /// The results of flat must be equal. For other engines, squares of distances, and cosines, must
  /// agree within single precision; for gs, whose products cancel, within the bound from the norms.
  void check(knn::neighbours const& found, std::string const& engine) const {
    double const unit = 0x1p-24 * (static_cast<double>(dimensions()) + 8);
    for (auto const& [q, place] : place_) {
      if (q >= found.queries) break;
      for (size_t i = 0; i < std::min(found.k, k_); ++i) {
        double const distance = found.values_of(q)[i];
        double const expected = found_.values_of(place)[i];
        double const scale =
            engine == "gs" ? 2.0 * static_cast<double>(dimensions()) : expected * expected;
        bool const same = distance == expected && found.ids_of(q)[i] == found_.ids_of(place)[i];
        bool const near = metric_ == knn::similarity::cosine
                              ? std::abs(distance - expected) <= unit
                              : std::abs(distance * distance - expected * expected) <= unit * scale;
        if (engine == "flat" ? !same : !near)
          throw std::runtime_error(
              fmt::format("{}: query {} of {}, neighbour {}: found {}, expected {}", engine, q,
                          found.queries, i, distance, expected));
      }
    }
  }

 private:
  size_t dimensions() const { return rows_.dimensions(); }
  vectors const& rows_;
  size_t k_;
  knn::similarity metric_;
  std::map<size_t, size_t> place_;
  knn::neighbours found_;
};

/// Times every engine with several numbers of queries and neighbours.
void time_engines(settings const& chosen, std::string const& table, size_t count, size_t dimensions,
                  std::vector<size_t> const& batches, std::vector<size_t> const& ks,
                  decltype(draw)& draw_values = draw,
                  knn::similarity metric = knn::similarity::l2) {
  vectors const rows = draw_values(chosen, count, dimensions, 1);
  vectors const queries = draw_values(chosen, batches.back(), dimensions, 2);
  exact_answers const exact(chosen, rows, queries, batches, ks.back(), metric);
  for (std::string const& name : chosen.engines) {
    knn::dense_index const index(chosen.gpu, rows,
                                 {.metric = metric, .engine = knn::dense_engine_from(name)});
    for (size_t const k : ks)
      for (size_t const batch : batches) {
        vectors const some = queries.rows(0, batch);
        knn::neighbours const found = index.search(chosen.gpu, some, k);
        exact.check(found, name);
        time_cell(chosen, {table, name, count, dimensions, batch, k}, found.search_s,
                  [&](knn::dense_search_work& work) {
                    return index.search(chosen.gpu, some, k, {}, &work).search_s;
                  });
      }
  }
}

double seconds_of(std::function<void()> const& work) {
  auto const begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct named_selection {
  knn::gs_selection how;
  char const* name;
};
constexpr named_selection both[] = {{knn::gs_selection::minima, "minima"},
                                    {knn::gs_selection::sorting, "sorting"}};

/// Times gs with a fixed selection.
void time_selection(settings const& chosen, named_selection const& with, cell const& of,
                    vectors const& rows, vectors const& queries, exact_answers const& exact) {
  knn::dense_rows const own(rows);
  auto const engine = knn::make_gs_selecting(chosen.gpu, own, {}, with.how);
  knn::dense_request request;
  request.queries = {reinterpret_cast<float const*>(queries.data()),
                     queries.size() * queries.dimensions()};
  request.count = queries.size();
  request.k = of.k;
  std::vector<std::vector<knn::dense_candidate>> found;
  auto const search = [&](knn::dense_search_work& work) {
    found.assign(request.count, {});
    return seconds_of([&] { engine->search(chosen.gpu, request, found, work); });
  };
  knn::dense_search_work ignored;
  double const first = search(ignored);
  exact.check(bench::neighbours_of(found, of.k, knn::similarity::l2), "gs");
  time_cell(chosen, of, first, search, fmt::format(R"(, "selection": "{}")", with.name));
}

/// Times a search of all queries with the cell's engine.
void time_index(settings const& chosen, cell const& of, vectors const& rows, vectors const& queries,
                exact_answers const& exact) {
  knn::dense_index const index(chosen.gpu, rows, {.engine = knn::dense_engine_from(of.engine)});
  knn::neighbours const found = index.search(chosen.gpu, queries, of.k);
  exact.check(found, of.engine);
  time_cell(chosen, of, found.search_s, [&](knn::dense_search_work& work) {
    return index.search(chosen.gpu, queries, of.k, {}, &work).search_s;
  });
}

void time_rows(settings const& chosen) {
  constexpr size_t asked = 1200;
  constexpr size_t k = 25;
  for (size_t const dimensions : {32, 64, 128, 256})
    for (size_t count = 1 << 10; count <= 1 << 15; count *= 2) {
      vectors const rows = draw(chosen, count, dimensions, 1);
      vectors const queries = draw(chosen, asked, dimensions, 2);
      exact_answers const exact(chosen, rows, queries, {asked}, k);
      if (std::count(chosen.engines.begin(), chosen.engines.end(), "flat") > 0)
        time_index(chosen, {"rows", "flat", count, dimensions, asked, k}, rows, queries, exact);
      knn::dense_index const index(chosen.gpu, rows, {.engine = knn::dense_engine::gs});
      std::vector<std::uint32_t> class_of(count);
      for (size_t i = 0; i < count; ++i) class_of[i] = static_cast<std::uint32_t>(i * 7 % 24);
      knn::neighbours const found = index.search(chosen.gpu, queries, k);
      exact.check(found, "gs");
      if (knn::gs_vote(chosen.gpu, found, class_of) !=
          knn::classify(found, class_of, knn::voting::majority))
        throw std::runtime_error("gs: other classes than those of the votes");
      std::vector<double> votes;
      for (int i = 0; i < 5; ++i)
        votes.push_back(seconds_of([&] { knn::gs_vote(chosen.gpu, found, class_of); }) * 1e3);
      cell const of{"rows", "gs", count, dimensions, asked, k};
      time_cell(
          chosen, of, found.search_s,
          [&](knn::dense_search_work& work) {
            return index.search(chosen.gpu, queries, k, {}, &work).search_s;
          },
          fmt::format(R"(, "selection": "trial", "votes_ms": {:.4g})", median(votes)));
      for (named_selection const& with : both)
        time_selection(chosen, with, of, rows, queries, exact);
    }
}

void time_k(settings const& chosen) {
  constexpr size_t asked = 1200;
  constexpr size_t count = 16'384;
  constexpr size_t dimensions = 32;
  vectors const rows = draw(chosen, count, dimensions, 1);
  vectors const queries = draw(chosen, asked, dimensions, 2);
  exact_answers const exact(chosen, rows, queries, {asked}, 512);
  for (size_t const k : {1, 5, 10, 20, 30, 40, 46, 50, 60, 80, 100, 150, 200, 300, 400, 512})
    for (named_selection const& with : both)
      time_selection(chosen, with, {"k", "gs", count, dimensions, asked, k}, rows, queries, exact);
}

settings read_settings(int argc, char** argv) {
  settings read;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    size_t const at = argument.find('=');
    std::string const name = argument.substr(0, at);
    std::string const value = at == std::string::npos ? "" : argument.substr(at + 1);
    if (name == "threads")
      read.cpu.threads = std::stoi(value);
    else if (name == "rounds")
      read.rounds = std::stoul(value);
    else if (name == "part")
      read.part = std::stoul(value);
    else if (name == "shape")
      read.shape = value;
    else if (name == "engine") {
      read.engines.clear();
      for (size_t begin = 0; begin <= value.size();) {
        size_t const end = std::min(value.find(',', begin), value.size());
        read.engines.push_back(value.substr(begin, end - begin));
        begin = end + 1;
      }
    } else if (at == std::string::npos &&
               (name == "batches" || name == "queries" || name == "rows" || name == "k" ||
                name == "clusters" || name == "far")) {
      read.tables.insert(name);
    } else {
      throw std::invalid_argument("found " + argument +
                                  ", expected batches, queries, rows, k, clusters, far, engine=, "
                                  "threads=, "
                                  "rounds=, part= or shape=");
    }
  }
  if (!read.shape.empty() && std::none_of(std::begin(shapes), std::end(shapes),
                                          [&](auto const& s) { return name_of(s) == read.shape; }))
    throw std::invalid_argument("found shape " + read.shape + ", expected one of `batches`");
  if (read.tables.empty()) read.tables = {"batches", "queries", "rows", "k", "clusters", "far"};
  if (read.rounds == 0 || read.part == 0)
    throw std::invalid_argument("rounds and part are above 0");
  read.gpu.threads = read.cpu.threads;
  return read;
}

}  // namespace

int main(int argc, char** argv) {
  rulerank::knn::add_published_dense_engines();
  try {
    settings chosen = read_settings(argc, argv);
    device_list const here = list_devices();
    if (here.devices.empty()) throw std::runtime_error(here.why_none);
    chosen.gpu.devices = {here.devices.front().ordinal};
    fmt::print(R"({{"commit": "{}", "gpu": "{}", "cpu": "{}", "threads": {}}})"
               "\n",
               commit(), here.devices.front().name, this_machine().cpu, chosen.cpu.thread_count());
    if (chosen.tables.contains("rows")) time_rows(chosen);
    if (chosen.tables.contains("k")) time_k(chosen);
    if (chosen.tables.contains("queries"))
      time_engines(chosen, "queries", 700'000 / chosen.part, 128,
                   {512 / chosen.part, 1024 / chosen.part, 2048 / chosen.part, 4096 / chosen.part,
                    8192 / chosen.part},
                   {32});
    if (chosen.tables.contains("clusters"))
      time_engines(chosen, "clusters", 300'000 / chosen.part, 128, {128}, {32}, draw_clusters);
    if (chosen.tables.contains("far"))
      time_engines(chosen, "far", 300'000 / chosen.part, 128, {128}, {32}, draw_far,
                   knn::similarity::cosine);
    if (chosen.tables.contains("batches"))
      for (shape const& one : shapes)
        if (chosen.shape.empty() || chosen.shape == name_of(one))
          time_engines(chosen, "batches", one.rows / chosen.part, one.dimensions,
                       {1, 16, 32, 64, 128}, {32, 64, 128});
  } catch (std::exception const& e) {
    std::cerr << "dense_published_bench: " << e.what() << '\n';
    return 1;
  }
}
