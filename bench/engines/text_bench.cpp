// Sparse search engines compared with each other, on a synthetic collection of a published shape or
// on a real one:
//
//   text_bench SHAPE|COLLECTION QUERIES K THREADS [rounds=N|rounds=asked] [seed=S] ENGINE...
//   e.g. text_bench rcv1 500 30 1 mt:50 tiles
//
// COLLECTION is a path that contains a /, read as in `search text`. QUERIES 0: the published number
// of the shape. ENGINE is NAME[@GPUS][:QUERIES of those, evenly spaced]; mt~N and tiles~N use N
// threads instead, fish+GROUP and fish-intra+GROUP process this many queries per launch, tiles@N%MB
// uses this much memory of each GPU for its index. Queries are sampled from the collection with
// seed S (2) and removed from it; tf-idf weights, cosine. Every engine's neighbours are compared
// with tiles on the CPU before it is timed: equal documents and values, bit for bit; or, for the
// published engines for GPUs, which sum in single precision, scores within its error, rank by rank.
//
// All engines are prepared first; then each is timed once per round, one after the other. A round
// is the median of as many calls as take 50 ms, from 1 to 100. N rounds (3); rounds=asked: one
// round for each line of standard input, whose seconds per query are written as a line of standard
// output. One JSON line per engine, with medians of the rounds. `ready_s` is the time from the
// index in memory to the prepared engine, the median of three; `whole_s` adds a call of all QUERIES
// (in calls of the engine's own queries, if it has some). A ratio is the first engine's time of a
// round divided by this engine's time of the same round: median, smallest, largest; `whole_ratio`
// includes the preparation of both. `index_s`, for mt: the time to make the index from the weighted
// rows with the engine's threads. index_bytes and host_bytes are the maximum growth of memory while
// the index and the engine were made and a call was answered, device_bytes the memory of GPUs after
// it; groups, allocations and busiest_block_a_query belong to that call. save=FOLDER instead of an
// engine writes the weighted rows and the neighbours as plain arrays, for text_peer_gpu.py.

#include "bench/engines/engine_argument.hpp"
#include "bench/engines/memory.hpp"
#include "bench/engines/text_sample.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/version.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/published/engines.hpp"
#include "knn/sparse/published/fish.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/weighting.hpp"
#include "knn/text/text_index.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;

/// Returns rows r x of / count of a matrix.
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

/// Compares values rank by rank: they may differ by the error of single-precision sums, 1e-5 or,
/// for a query of m terms, (m + 4) 2^-24 if that is larger. Documents must be equal unless adjacent
/// exact values differ by less. `worst`: the largest difference.
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

/// Keeps documents that share no term with a query, so that each query has k neighbours.
constexpr knn::sparse_result_options all_documents{.pad = true};

/// An engine with its options.
struct chosen_engine {
  knn::sparse_search_options options;
  knn::fish_options fish;        ///< for this engine
  std::size_t device_bytes = 0;  ///< of each GPU for the index of tiles; 0: all free bytes
};

/// NAME[+GROUP][~THREADS][%MB], NAME being an engine's or fish-intra.
chosen_engine read_engine(std::string const& text, int& threads) {
  std::size_t const end = std::min(text.find_first_of("+~%"), text.size());
  std::string const name = text.substr(0, end);
  auto const number = [&](char mark, unsigned long otherwise) {
    std::size_t const at = text.find(mark);
    return at < text.size() ? std::stoul(text.substr(at + 1)) : otherwise;
  };
  threads = static_cast<int>(number('~', static_cast<unsigned long>(threads)));
  bool const intra = name == "fish-intra";
  return {{.engine = knn::sparse_engine_from(intra ? "fish" : name)},
          {number('+', 1), intra ? knn::load_balance::intra : knn::load_balance::inter},
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

/// Returns the counts of terms in documents, generated for a shape or read.
knn::sparse_matrix counts_of(context const& ctx, std::string const& input) {
  if (input.find('/') == std::string::npos) {
    bench::text_shape const& shape = bench::find_text_shape(input);
    return bench::sample_text(ctx, {shape.documents, shape.terms, shape.terms_a_document});
  }
  knn::text_index_options options;
  options.weighting = {.how = knn::weighting::none};
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

workload prepared(context const& ctx, std::string const& input, std::size_t query_count,
                  std::uint64_t seed) {
  if (query_count == 0) query_count = bench::find_text_shape(input).queries;
  auto const drawn = bench::draw_queries(counts_of(ctx, input), query_count, seed);
  auto const statistics = knn::statistics_of(drawn.documents);
  knn::weighting_options const published{.tf = knn::term_frequency::raw};  // tf ln(N / df)
  knn::sparse_matrix queries = knn::weigh_queries(drawn.queries, statistics, published);
  knn::sparse_matrix documents = knn::weigh_documents(drawn.documents, statistics, published);
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
    return knn::sparse_searcher_access::with(ctx, index, chosen.options,
                                             [&](context const& on, knn::sparse_index const& of,
                                                 knn::sparse_search_options const& options) {
                                               return knn::make_tiles_on_gpus(on, of, options,
                                                                              chosen.device_bytes);
                                             });
#endif
  if (chosen.options.engine == knn::sparse_engine::fish)
    return knn::make_fish_searcher(ctx, index, chosen.options.metric, chosen.fish);
  return {ctx, index, chosen.options};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// A prepared engine and its measurements.
class contender {
 public:
  /// Throws `std::runtime_error` if the engine's neighbours differ from those of `reference`.
  contender(workload const& all, std::string const& name, std::size_t k, int threads,
            knn::sparse_searcher const& reference);

  /// One round: seconds per query, the median of its calls.
  void time();
  double last_round() const { return rounds_.back(); }
  void print(workload const& all, contender const& first) const;

 private:
  double seconds_a_query() const { return median(rounds_); }
  /// Returns the time of `queries` queries from the index in memory, given the time per query of a
  /// round.
  double whole_s(std::size_t queries, double a_query) const {
    return ready_s_ + static_cast<double>(queries) * a_query;
  }

  knn::neighbours search(knn::sparse_search_work* work = nullptr) const {
    return searcher_->search(ctx_, queries_, k_, all_documents, work);
  }

  std::string name_;
  std::size_t k_;
  context ctx_;
  chosen_engine chosen_;
  knn::sparse_matrix queries_;
  std::optional<knn::sparse_searcher> searcher_;
  double ready_s_ = 0;
  double index_s_ = 0;
  std::vector<double> rounds_;
  std::size_t calls_ = 0;
  knn::sparse_search_work work_;  ///< of one call
  std::size_t host_bytes_ = 0;
  std::size_t device_bytes_ = 0;
  double largest_difference_ = 0;
};

contender::contender(workload const& all, std::string const& name, std::size_t k, int threads,
                     knn::sparse_searcher const& reference)
    : name_(name), k_(k) {
  engine_argument const asked(name);
  ctx_.threads = threads;
  chosen_ = read_engine(asked.name, ctx_.threads);
  ctx_.devices = asked.devices;
  queries_ =
      evenly(all.queries, asked.documents == 0 ? all.queries.size()
                                               : std::min(asked.documents, all.queries.size()));
  if (!ctx_.devices.empty()) searcher_of(ctx_, all.index, chosen_);  // starts the devices
  std::vector<double> ready;
  for (int i = 0; i < 2; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    knn::sparse_searcher const one = searcher_of(ctx_, all.index, chosen_);
    ready.push_back(seconds_since(begin));
  }
  if (chosen_.options.engine == knn::sparse_engine::mt) {
    auto const begin = std::chrono::steady_clock::now();
    knn::sparse_index const index(ctx_, all.documents);
    index_s_ = seconds_since(begin);
  }
  bench::memory_growth const memory;
  std::size_t const free_before = bench::free_on(ctx_.devices);
  auto const begin = std::chrono::steady_clock::now();
  searcher_.emplace(searcher_of(ctx_, all.index, chosen_));
  ready.push_back(seconds_since(begin));
  ready_s_ = median(ready);
  knn::neighbours const found = search(&work_);
  host_bytes_ = memory.peak();
  device_bytes_ = free_before - bench::free_on(ctx_.devices);
  knn::neighbours const expected = reference.search(context{}, queries_, k, all_documents);
  if (!(sums_in_single_precision(chosen_.options.engine)
            ? nearly_the_same(found, expected, queries_, largest_difference_)
            : same(found, expected)))
    throw std::runtime_error(fmt::format(
        "{}: not the neighbours that tiles finds (values {} apart)", name, largest_difference_));
}

void contender::time() {
  std::vector<double> seconds;
  double sum = 0;
  while (seconds.empty() || (sum < 0.05 && seconds.size() < 100)) {
    seconds.push_back(search().search_s);
    sum += seconds.back();
  }
  calls_ += seconds.size();
  rounds_.push_back(median(seconds) / static_cast<double>(queries_.size()));
}

void contender::print(workload const& all, contender const& first) const {
  auto const per_query = [&](std::uint64_t n) {
    return static_cast<double>(n) / static_cast<double>(queries_.size());
  };
  std::vector<double> ratios, whole_ratios;
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    ratios.push_back(first.rounds_[r] / rounds_[r]);
    whole_ratios.push_back(first.whole_s(all.queries.size(), first.rounds_[r]) /
                           whole_s(all.queries.size(), rounds_[r]));
  }
  auto const spread = [](std::vector<double> const& of) {
    auto const [least, most] = std::minmax_element(of.begin(), of.end());
    return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", median(of), *least, *most);
  };
  fmt::print(
      "{{\"input\": \"{}\", \"documents\": {}, \"terms\": {}, \"postings\": {}, "
      "\"queries\": {}, \"k\": {}, \"threads\": {}, \"engine\": \"{}\", \"rounds\": {}, "
      "\"index_s\": {:.4g}, \"ready_s\": {:.4g}, \"seconds_a_query\": {:.4g}, \"calls\": {}, "
      "\"round_s\": [{:.4g}], \"all_queries\": {}, \"whole_s\": {:.4g}, "
      "\"ratio_to_first\": {:.4g}, \"ratio\": {}, \"whole_ratio\": {}, "
      "\"postings_read_a_query\": {:.0f}, \"postings_of_a_query\": {:.0f}, "
      "\"rescored_a_query\": {:.1f}, \"busiest_block_a_query\": {:.0f}, \"groups\": {}, "
      "\"allocations\": {}, \"index_bytes\": {}, \"host_bytes\": {}, "
      "\"device_bytes\": {}, \"largest_difference\": {:.3g}, \"commit\": \"{}\"}}\n",
      std::filesystem::path(all.input).filename().string(), all.index.size(), all.index.terms(),
      all.index.postings(), queries_.size(), k_, ctx_.thread_count(), name_, rounds_.size(),
      index_s_, ready_s_, seconds_a_query(), calls_, fmt::join(rounds_, ", "), all.queries.size(),
      whole_s(all.queries.size(), seconds_a_query()), first.seconds_a_query() / seconds_a_query(),
      spread(ratios), spread(whole_ratios), per_query(work_.postings_read), all.postings_of_a_query,
      per_query(work_.rescored), per_query(count_of(work_.counts, "busiest_block")),
      count_of(work_.counts, "groups"), count_of(work_.counts, "allocations"), all.index_bytes,
      host_bytes_, device_bytes_, largest_difference_, commit());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr,
               "usage: text_bench SHAPE|COLLECTION QUERIES K THREADS [rounds=N] ENGINE...\n");
    return 2;
  }
  context const all_threads;
  std::uint64_t seed = 2;
  for (int a = 5; a < argc; ++a)
    if (std::string_view(argv[a]).starts_with("seed=")) seed = std::stoul(argv[a] + 5);
  workload const all = prepared(all_threads, argv[1], std::stoul(argv[2]), seed);
  std::size_t const k = std::stoul(argv[3]);
  knn::sparse_searcher const reference(all_threads, all.index,
                                       {.engine = knn::sparse_engine::tiles});
  std::string rounds = "3";
  std::list<contender> contenders;
  for (int a = 5; a < argc; ++a) {
    std::string const text = argv[a];
    if (text.starts_with("seed=")) continue;
    if (text.starts_with("rounds="))
      rounds = text.substr(7);
    else if (text.starts_with("save="))
      save(text.substr(5), all, reference.search(all_threads, all.queries, k, all_documents));
    else
      contenders.emplace_back(all, text, k, std::stoi(argv[4]), reference);
  }
  auto const round = [&] {
    for (contender& c : contenders) c.time();
  };
  if (rounds == "asked") {
    fmt::print("ready\n");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
      round();
      for (contender const& c : contenders) fmt::print("{:.6g} ", c.last_round());
      fmt::print("\n");
      std::fflush(stdout);
    }
  } else {
    for (int r = 0; r < std::stoi(rounds); ++r) round();
  }
  for (contender const& c : contenders) c.print(all, contenders.front());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  rulerank::knn::add_published_sparse_engines();
  try {
    return run(argc, argv);
  } catch (std::exception const& e) {
    fmt::print(stderr, "text_bench: {}\n", e.what());
    return 1;
  }
}
