// Sparse search engines against each other, on a drawn collection of a published shape or a real
// one:
//
//   text_bench SHAPE|COLLECTION QUERIES K THREADS ENGINE...
//   e.g. text_bench rcv1 500 30 1 mt:50 tiles
//
// COLLECTION is a path with a / in it, read as `search text` does.
// ENGINE is NAME[@GPUS][:QUERIES of those, evenly chosen]; mt~N and tiles~N take N threads instead,
// fish+GROUP and fish-intra+GROUP so many queries a launch, tiles@N%MB so much memory of each GPU
// for its index. Queries are drawn from the collection and removed from it; tf-idf weights, cosine.
// Every engine's neighbours are held against tiles on the CPU before it is timed: the same
// documents and the same bits, or for the published engines for GPUs, which sum in single
// precision, scores as near as that allows, rank by rank. One JSON line an engine; times are
// medians of `calls`; index_bytes and host_bytes are how far memory grew at most while the index
// and the engine were made and a call answered, device_bytes what GPUs hold after it. save=FOLDER
// instead of an engine writes the weighted rows and the neighbours as plain arrays, for
// text_peer_torch.py.

#include "bench/engine_argument.hpp"
#include "bench/memory.hpp"
#include "bench/text_sample.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/version.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/weighting.hpp"
#include "knn/text/text_index.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;

/// Rows r x of / count of a matrix.
knn::sparse_matrix evenly(knn::sparse_rows const& rows, std::size_t count) {
  knn::sparse_matrix some;
  some.terms = rows.terms;
  for (std::size_t i = 0; i < count; ++i) {
    auto const row = rows[i * rows.size() / count];
    some.push_row(row.term, row.weight);
  }
  return some;
}

bool same(knn::neighbours const& a, knn::neighbours const& b) {
  return a.id == b.id &&
         std::equal(a.value.begin(), a.value.end(), b.value.begin(), b.value.end(),
                    [](double x, double y) {
                      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
                    });
}

/// Values are as far apart as sums of single precision may be, 1e-5 or, for a query of m terms,
/// (m + 4) 2^-24 where that is more, rank by rank, and documents the same where the exact values
/// before and behind are farther than that. `worst`: the largest difference.
bool nearly_the_same(knn::neighbours const& some, knn::neighbours const& exact,
                     knn::sparse_rows const& queries, double& worst) {
  for (std::size_t i = 0; i < exact.value.size(); ++i) {
    double const off = std::abs(some.value[i] - exact.value[i]);
    auto const terms = static_cast<double>(queries[i / exact.k].size());
    double const within = std::max(1e-5, std::ldexp(terms + 4, -24));
    worst = std::max(worst, off);
    if (!(off <= within)) return false;
    bool const apart = i % exact.k > 0 && i % exact.k < exact.k - 1 &&
                       exact.value[i - 1] - exact.value[i] > 2 * within &&
                       exact.value[i] - exact.value[i + 1] > 2 * within;
    if (apart && some.id[i] != exact.id[i]) return false;
  }
  return true;
}

bool sums_in_single_precision(knn::sparse_engine e) {
  return e == knn::sparse_engine::gknn || e == knn::sparse_engine::gt ||
         e == knn::sparse_engine::fish;
}

/// An engine with its options.
struct chosen_engine {
  knn::sparse_search_options options;
  std::size_t device_bytes = 0;  ///< of each GPU for the index of tiles; 0: what is free
};

/// NAME[+GROUP][~THREADS][%MB], NAME being an engine's or fish-intra.
chosen_engine read_engine(std::string const& text, std::size_t k, int& threads) {
  std::size_t const end = std::min(text.find_first_of("+~%"), text.size());
  std::string const name = text.substr(0, end);
  auto const number = [&](char mark, unsigned long otherwise) {
    std::size_t const at = text.find(mark);
    return at < text.size() ? std::stoul(text.substr(at + 1)) : otherwise;
  };
  threads = static_cast<int>(number('~', static_cast<unsigned long>(threads)));
  bool const intra = name == "fish-intra";
  return {{.k = k,
           .engine = knn::sparse_engine_from(intra ? "fish" : name),
           .group = number('+', 1),
           .balance = intra ? knn::load_balance::intra : knn::load_balance::inter},
          number('%', 0) * 1'000'000};
}

template <class T>
void save(std::filesystem::path const& file, std::vector<T> const& values) {
  output_file to(file.string());
  to.write({reinterpret_cast<char const*>(values.data()), values.size() * sizeof(T)});
  to.commit();
}
void save(std::filesystem::path const& folder, std::string const& name,
          knn::sparse_matrix const& rows) {
  save(folder / (name + ".begin.u64"), rows.begin);
  save(folder / (name + ".term.u32"), rows.term);
  save(folder / (name + ".weight.f64"), rows.weight);
}

/// How often documents have terms: drawn in a shape, or read.
knn::sparse_matrix counts_of(context const& ctx, std::string const& input) {
  if (input.find('/') == std::string::npos) {
    bench::text_shape const& shape = bench::find_text_shape(input);
    return bench::sample_text(ctx, {shape.documents, shape.terms, shape.terms_a_document});
  }
  knn::text_index_options options;
  options.weighting.how = knn::weighting::none;
  auto const collection = knn::text_index::build(ctx, input, options);
  knn::sparse_rows const rows = collection.index().documents();
  knn::sparse_matrix counts;
  counts.terms = rows.terms;
  for (std::size_t d = 0; d < rows.size(); ++d) counts.push_row(rows[d].term, rows[d].weight);
  return counts;
}

/// The collection and the queries that all engines search.
struct workload {
  std::string input;
  knn::sparse_matrix queries, documents;
  knn::sparse_index index;
  std::size_t index_bytes;
  double postings_of_a_query;
};

workload prepared(context const& ctx, std::string const& input, std::size_t query_count) {
  auto const drawn = bench::draw_queries(counts_of(ctx, input), query_count, 2);
  auto const statistics = knn::statistics_of(drawn.documents);
  knn::sparse_matrix queries = knn::weigh_queries(drawn.queries, statistics, {});
  knn::sparse_matrix documents = knn::weigh_documents(drawn.documents, statistics, {});
  bench::memory_growth const index_memory;
  auto const before_index = std::chrono::steady_clock::now();
  knn::sparse_index index(ctx, documents);
  std::chrono::duration<double> const indexed = std::chrono::steady_clock::now() - before_index;
  double lists = 0;
  for (std::uint32_t const t : queries.term) lists += static_cast<double>(index.list(t).size());
  double const of_a_query = lists / static_cast<double>(queries.size());
  fmt::print(
      stderr,
      "{} documents, {} postings, {:.0f} of them in the lists of a query; {:.2f} s to index\n",
      index.size(), index.postings(), of_a_query, indexed.count());
  return {
      input,     std::move(queries), std::move(documents), std::move(index), index_memory.peak(),
      of_a_query};
}

void save(std::filesystem::path const& folder, workload const& all,
          knn::neighbours const& nearest) {
  std::filesystem::create_directories(folder);
  save(folder, "documents", all.documents);
  save(folder, "queries", all.queries);
  save(folder / "neighbours.document.u32", nearest.id);
  save(folder / "neighbours.score.f64", nearest.value);
}

knn::sparse_searcher searcher_of(context const& ctx, knn::sparse_index const& index,
                                 chosen_engine const& chosen) {
#if RULERANK_HAS_CUDA
  if (chosen.device_bytes > 0)
    return {ctx, index, chosen.options,
            [&](context const& on, knn::sparse_index const& of,
                knn::sparse_search_options const& options) {
              return knn::make_tiles_on_gpus(on, of, options, chosen.device_bytes);
            }};
#endif
  return {ctx, index, chosen.options};
}

/// What was measured of an engine.
struct measurement {
  std::size_t queries = 0;
  double ready_s = 0;
  double seconds_a_query = 0;
  std::size_t calls = 0;
  knn::sparse_search_work work;  ///< of one call
  std::size_t host_bytes = 0;
  std::size_t device_bytes = 0;
  double largest_difference = 0;
};

/// Throws `std::runtime_error` where the engine finds other neighbours than `reference`.
measurement measured(context const& ctx, workload const& all, chosen_engine const& chosen,
                     std::string const& name, std::size_t queries,
                     knn::sparse_searcher const& reference) {
  measurement m;
  m.queries = queries == 0 ? all.queries.size() : std::min(queries, all.queries.size());
  knn::sparse_matrix const some = evenly(all.queries, m.queries);
  if (!ctx.devices.empty()) searcher_of(ctx, all.index, chosen);  // wakes the devices
  bench::memory_growth const memory;
  std::size_t const free_before = bench::free_on(ctx.devices);
  auto const before = std::chrono::steady_clock::now();
  knn::sparse_searcher const searcher = searcher_of(ctx, all.index, chosen);
  m.ready_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  knn::neighbours found = searcher.search(ctx, some, &m.work);
  m.host_bytes = memory.peak();
  m.device_bytes = free_before - bench::free_on(ctx.devices);
  knn::neighbours const expected = reference.search(context{}, some);
  if (!(sums_in_single_precision(chosen.options.engine)
            ? nearly_the_same(found, expected, some, m.largest_difference)
            : same(found, expected)))
    throw std::runtime_error(fmt::format(
        "{}: not the neighbours that tiles finds (values {} apart)", name, m.largest_difference));
  std::vector<double> seconds{found.search_s};
  double sum = seconds.front();
  while (sum < 0.2 ? seconds.size() < 200 : seconds.size() < 5 && sum < 3) {
    found = searcher.search(ctx, some);
    seconds.push_back(found.search_s);
    sum += found.search_s;
  }
  std::sort(seconds.begin(), seconds.end());
  m.seconds_a_query = seconds[seconds.size() / 2] / static_cast<double>(some.size());
  m.calls = seconds.size();
  return m;
}

void print(context const& ctx, workload const& all, std::size_t k, std::string const& engine,
           measurement const& m, double ratio_to_first) {
  auto const per_query = [&](std::uint64_t n) {
    return static_cast<double>(n) / static_cast<double>(m.queries);
  };
  fmt::print(
      "{{\"input\": \"{}\", \"documents\": {}, \"terms\": {}, \"postings\": {}, "
      "\"queries\": {}, \"k\": {}, \"threads\": {}, \"engine\": \"{}\", "
      "\"ready_s\": {:.4g}, \"seconds_a_query\": {:.4g}, \"calls\": {}, "
      "\"ratio_to_first\": {:.4g}, "
      "\"postings_read_a_query\": {:.0f}, \"postings_of_a_query\": {:.0f}, "
      "\"rescored_a_query\": {:.1f}, \"index_bytes\": {}, \"host_bytes\": {}, "
      "\"device_bytes\": {}, \"largest_difference\": {:.3g}, \"commit\": \"{}\"}}\n",
      std::filesystem::path(all.input).filename().string(), all.index.size(), all.index.terms(),
      all.index.postings(), m.queries, k, ctx.thread_count(), engine, m.ready_s, m.seconds_a_query,
      m.calls, ratio_to_first, per_query(m.work.postings_read), all.postings_of_a_query,
      per_query(m.work.rescored), all.index_bytes, m.host_bytes, m.device_bytes,
      m.largest_difference, commit());
}

int run(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: text_bench SHAPE|COLLECTION QUERIES K THREADS ENGINE...\n");
    return 2;
  }
  context const all_threads;
  workload const all = prepared(all_threads, argv[1], std::stoul(argv[2]));
  std::size_t const k = std::stoul(argv[3]);
  knn::sparse_searcher const reference(all_threads, all.index,
                                       {.k = k, .engine = knn::sparse_engine::tiles});
  double first = 0;
  for (int a = 5; a < argc; ++a) {
    if (std::string const text = argv[a]; text.starts_with("save=")) {
      save(text.substr(5), all, reference.search(all_threads, all.queries));
      continue;
    }
    engine_argument const asked(argv[a]);
    context ctx;
    ctx.threads = std::stoi(argv[4]);
    chosen_engine const chosen = read_engine(asked.name, k, ctx.threads);
    ctx.devices = asked.devices;
    measurement const m = measured(ctx, all, chosen, argv[a], asked.documents, reference);
    if (first == 0) first = m.seconds_a_query;
    print(ctx, all, k, argv[a], m, first / m.seconds_a_query);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (std::exception const& e) {
    fmt::print(stderr, "text_bench: {}\n", e.what());
    return 1;
  }
}
