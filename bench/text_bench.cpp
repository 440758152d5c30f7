// Sparse search engines against each other, on a drawn collection of a published shape or a real
// one:
//
//   text_bench SHAPE|COLLECTION QUERIES K THREADS ENGINE...
//   e.g. text_bench rcv1 500 30 1 mt:50 tiles
//
// COLLECTION is a path with a / in it, read as `search text` does.
// ENGINE is NAME[@GPUS][:QUERIES of those, evenly chosen]; mt~N and tiles~N take N threads instead,
// fish+GROUP and fish-intra+GROUP so many queries a launch, tiles@N%MB so much memory of each GPU
// for its index. Queries are drawn from the collection
// and removed from it; tf-idf weights, cosine. Every engine's neighbours are held against tiles on
// the CPU before it is timed: the same documents and the same bits, or for the published engines
// for GPUs, which sum in single precision, scores as near as that allows, rank by rank. One JSON
// line an engine; times are medians of `calls`; index_bytes and host_bytes are how far memory grew
// at most while the index and the engine were made and a call answered, device_bytes what GPUs hold
// after it. save=FOLDER instead of an engine writes the weighted rows and the neighbours as plain
// arrays, for text_peer_torch.py.

#include "bench/engine_argument.hpp"
#include "bench/memory.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/version.hpp"
#include "knn/sparse/sample.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/weighting.hpp"
#include "knn/text/text_index.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
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
  return a.document == b.document &&
         std::equal(a.score.begin(), a.score.end(), b.score.begin(), b.score.end(),
                    [](double x, double y) {
                      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
                    });
}

/// Scores are as far apart as sums of single precision may be, 1e-5 or, for a query of m terms,
/// (m + 4) 2^-24 where that is more, rank by rank, and documents the same where the exact scores
/// before and behind are farther than that. `worst`: the largest difference.
bool nearly_the_same(knn::neighbours const& some, knn::neighbours const& exact,
                     knn::sparse_rows const& queries, double& worst) {
  for (std::size_t i = 0; i < exact.score.size(); ++i) {
    double const off = std::abs(some.score[i] - exact.score[i]);
    auto const terms = static_cast<double>(queries[i / exact.k].size());
    double const within = std::max(1e-5, std::ldexp(terms + 4, -24));
    worst = std::max(worst, off);
    if (!(off <= within)) return false;
    bool const apart = i % exact.k > 0 && i % exact.k < exact.k - 1 &&
                       exact.score[i - 1] - exact.score[i] > 2 * within &&
                       exact.score[i] - exact.score[i + 1] > 2 * within;
    if (apart && some.document[i] != exact.document[i]) return false;
  }
  return true;
}

bool sums_in_single_precision(knn::sparse_engine e) {
  return e == knn::sparse_engine::gknn || e == knn::sparse_engine::gt ||
         e == knn::sparse_engine::fish;
}

/// NAME[+GROUP][~THREADS][%MB], NAME being an engine's or fish-intra.
void read_engine(std::string const& text, knn::sparse_search_options& options, int& threads) {
  std::size_t const end = std::min(text.find_first_of("+~%"), text.size());
  std::string const name = text.substr(0, end);
  auto const number = [&](char mark, unsigned long otherwise) {
    std::size_t const at = text.find(mark);
    return at < text.size() ? std::stoul(text.substr(at + 1)) : otherwise;
  };
  options.group = number('+', 1);
  threads = static_cast<int>(number('~', static_cast<unsigned long>(threads)));
  options.device_bytes = number('%', 0) * 1'000'000;
  bool const intra = name == "fish-intra";
  options.balance = intra ? knn::load_balance::intra : knn::load_balance::inter;
  options.engine = knn::sparse_engine_from(intra ? "fish" : name);
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
    knn::text_shape const& shape = knn::find_text_shape(input);
    return knn::sample_text(ctx, {shape.documents, shape.terms, shape.terms_a_document});
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

int run(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: text_bench SHAPE|COLLECTION QUERIES K THREADS ENGINE...\n");
    return 2;
  }
  std::size_t const query_count = std::stoul(argv[2]);
  knn::sparse_search_options options;
  options.k = std::stoul(argv[3]);
  context all_threads;
  context ctx;
  ctx.threads = std::stoi(argv[4]);
  auto const drawn = knn::draw_queries(counts_of(all_threads, argv[1]), query_count, 2);
  auto const statistics = knn::statistics_of(drawn.documents);
  knn::sparse_matrix const queries = knn::weigh_queries(drawn.queries, statistics, {});
  knn::sparse_matrix const documents = knn::weigh_documents(drawn.documents, statistics, {});
  bench::memory_growth const index_memory;
  auto const before_index = std::chrono::steady_clock::now();
  knn::sparse_index const index(all_threads, documents);
  std::chrono::duration<double> const indexed = std::chrono::steady_clock::now() - before_index;
  std::size_t const index_bytes = index_memory.peak();
  double lists = 0;
  for (std::uint32_t const t : queries.term) lists += static_cast<double>(index.list(t).size());
  fmt::print(
      stderr,
      "{} documents, {} postings, {:.0f} of them in the lists of a query; {:.2f} s to index\n",
      index.size(), index.postings(), lists / static_cast<double>(queries.size()), indexed.count());
  options.engine = knn::sparse_engine::tiles;
  knn::sparse_searcher const reference(all_threads, index, options);
  double first = 0;
  for (int a = 5; a < argc; ++a) {
    if (std::string const text = argv[a]; text.starts_with("save=")) {
      std::filesystem::path const folder = text.substr(5);
      std::filesystem::create_directories(folder);
      save(folder, "documents", documents);
      save(folder, "queries", queries);
      knn::neighbours const nearest = reference.search(all_threads, queries);
      save(folder / "neighbours.document.u32", nearest.document);
      save(folder / "neighbours.score.f64", nearest.score);
      continue;
    }
    engine_argument const asked(argv[a]);
    ctx.threads = std::stoi(argv[4]);
    read_engine(asked.name, options, ctx.threads);
    ctx.devices = asked.devices;
    knn::sparse_matrix const some = evenly(
        queries, asked.documents == 0 ? queries.size() : std::min(asked.documents, queries.size()));
    if (!ctx.devices.empty()) knn::sparse_searcher(ctx, index, options);  // wakes the devices
    bench::memory_growth const memory;
    std::size_t const free_before = bench::free_on(ctx.devices);
    auto const before = std::chrono::steady_clock::now();
    knn::sparse_searcher const searcher(ctx, index, options);
    std::chrono::duration<double> const ready = std::chrono::steady_clock::now() - before;
    knn::neighbours found = searcher.search(ctx, some);
    std::size_t const host_bytes = memory.peak();
    std::size_t const device_bytes = free_before - bench::free_on(ctx.devices);
    knn::neighbours const expected = reference.search(all_threads, some);
    double worst = 0;
    if (!(sums_in_single_precision(options.engine) ? nearly_the_same(found, expected, some, worst)
                                                   : same(found, expected))) {
      fmt::print(stderr, "text_bench: {}: not the neighbours that tiles finds (scores {} apart)\n",
                 argv[a], worst);
      return 1;
    }
    std::vector<double> seconds{found.search_s};
    double all = seconds.front();
    while (all < 0.2 ? seconds.size() < 200 : seconds.size() < 5 && all < 3) {
      found = searcher.search(ctx, some);
      seconds.push_back(found.search_s);
      all += found.search_s;
    }
    std::sort(seconds.begin(), seconds.end());
    double const each = seconds[seconds.size() / 2] / static_cast<double>(some.size());
    if (first == 0) first = each;
    auto const per_query = [&](std::uint64_t n) {
      return static_cast<double>(n) / static_cast<double>(some.size());
    };
    fmt::print(
        "{{\"input\": \"{}\", \"documents\": {}, \"terms\": {}, \"postings\": {}, "
        "\"queries\": {}, \"k\": {}, \"threads\": {}, \"engine\": \"{}\", "
        "\"ready_s\": {:.4g}, \"seconds_a_query\": {:.4g}, \"calls\": {}, "
        "\"ratio_to_first\": {:.4g}, "
        "\"postings_read_a_query\": {:.0f}, \"postings_of_a_query\": {:.0f}, "
        "\"rescored_a_query\": {:.1f}, \"index_bytes\": {}, \"host_bytes\": {}, "
        "\"device_bytes\": {}, \"largest_difference\": {:.3g}, \"commit\": \"{}\"}}\n",
        std::filesystem::path(argv[1]).filename().string(), index.size(), index.terms(),
        index.postings(), some.size(), options.k, ctx.thread_count(), argv[a], ready.count(), each,
        seconds.size(), first / each, per_query(found.postings_read),
        lists / static_cast<double>(queries.size()), per_query(found.rescored), index_bytes,
        host_bytes, device_bytes, worst, commit());
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
