// Ranking engines against each other, on a synthetic set of a published shape or on files:
//
//   l2r_bench SHAPE DOCUMENTS U SIZE THREADS ENGINE...
//   l2r_bench TRAIN TEST DOCUMENTS SIZE THREADS ENGINE...    DOCUMENTS 0: all of TEST
//   e.g. l2r_bench hp2003 29521 1091 4 1 lrar:300 project
//        l2r_bench web10k 240039 2101 4 16 project tensor@1 tensor@4 profl@1/64
//
// ENGINE is NAME[@GPUS][/GIB of its cache][:DOCUMENTS of those, evenly spaced][~DOCUMENTS per
// call]. With the last, documents come in calls of this many, like queries, and a cache is kept
// between calls: the published times are of one query (Freitas 2017, tables 5.6 to 5.10). U evenly
// spaced documents of a training set represent a reduced set; cuts are fitted on the whole set
// (frequency, 10 bins). The first engine ranks all documents and is the reference: an engine whose
// scores differ in any bit is not timed. One JSON line per engine. Times are medians of `calls`,
// but an engine with a cache is timed once with an empty cache (`seconds`) and once with the filled
// one (`warm_s`). With calls, `seconds` is the total, the first call with an empty cache, and the
// quantiles are over the calls.
//
// `gpu_fill` is the share of the GPUs' resident threads (2,048 per multiprocessor) that a published
// engine's documents occupy: plrar and profl-t use one thread per document, profl a block of 256. A
// sample of a fold that does not fill a GPU is not representative of the fold and is not timed; a
// whole fold, or a query, is always timed. `cache_by_size` has, for itemsets of 2, 3, ... items:
// hits, misses and, for missed larger itemsets, hits and misses of their prefixes (table 5.13);
// `cache_slots` is the number of itemsets that a device's cache can hold (table 5.12).

#include "bench/engines/engine_argument.hpp"
#include "bitmaps/bit_kernels.hpp"
#include "core/devices.hpp"
#include "core/machine.hpp"
#include "core/version.hpp"
#include "datasets/sample.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/published/engines.hpp"
#include "l2r/published/lookups.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/ranker.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;

struct task {
  datasets::binned_dataset training, test;
  std::size_t fold_documents;  ///< that the whole test set has
};

datasets::discretizer_options const how{datasets::binning::frequency, 10};

std::vector<std::size_t> evenly(std::size_t of, std::size_t count) {
  std::vector<std::size_t> chosen(std::min(of, count));
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i * of / chosen.size();
  return chosen;
}

task drawn(context const& ctx, std::string const& name, std::size_t documents, std::size_t u) {
  datasets::sample_options options = datasets::options_of(datasets::find_shape(name));
  auto const subset = [&](std::size_t count) {
    auto const& whole = options.subsets.front();
    double const per_query =
        static_cast<double>(whole.documents) / static_cast<double>(whole.queries);
    auto const queries = static_cast<std::size_t>(static_cast<double>(count) / per_query) + 1;
    return datasets::set_size{count, std::min(queries, count)};
  };
  std::size_t const train_documents = std::max<std::size_t>(10'000, 2 * u);
  options.subsets = {subset(train_documents), subset(documents)};
  std::size_t const subsets[] = {0, 1};
  auto const train = datasets::sample_subsets(ctx, options, std::span(subsets).first(1));
  auto const test = datasets::sample_subsets(ctx, options, std::span(subsets).last(1));
  auto const cuts = datasets::fit_discretizer(ctx, train, how);
  return {datasets::subset(datasets::apply_discretizer(ctx, train, cuts), evenly(train.size(), u)),
          datasets::apply_discretizer(ctx, test, cuts), datasets::find_shape(name).test_documents};
}

task read(context const& ctx, std::string const& train_file, std::string const& test_file,
          std::size_t documents) {
  auto const train = datasets::read_svmlight(ctx, train_file);
  auto const test = datasets::read_svmlight(ctx, test_file);
  auto const cuts = datasets::fit_discretizer(ctx, train, how);
  auto binned = datasets::apply_discretizer(ctx, test, cuts);
  if (documents != 0) binned = datasets::subset(binned, evenly(test.size(), documents));
  return {datasets::apply_discretizer(ctx, train, cuts), std::move(binned), test.size()};
}

/// CPU time of all threads, which is independent of other processes.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::uint64_t bits_of(double score) {
  return std::bit_cast<std::uint64_t>(score);
}

/// Itemsets of the documents, whether they occur in training or not.
struct itemset_counts {
  double all = 0;             ///< of 1 to rule_size - 1 items
  std::uint64_t largest = 0;  ///< of rule_size - 1 items
};
itemset_counts itemsets_of(datasets::binned_dataset const& data, rules::rule_size rule_size) {
  itemset_counts total;
  for (std::size_t d = 0; d < data.documents; ++d) {
    std::uint64_t items = 0;
    for (std::size_t f = 0; f < data.feature_count(); ++f)
      items += data.code(f, d) != datasets::no_item;
    total.all += static_cast<double>(rules::itemset_count(items, rule_size - 1));
    total.largest += rules::binomial(items, rule_size - 1);
  }
  return total;
}

/// Times of an engine's calls, in seconds.
struct measured {
  l2r::scored first, last;           ///< `last`: of the repeated calls, if any
  std::vector<double> host, device;  ///< ascending, of the repeated calls, or only of the first
  double cpu_s = 0;                  ///< mean of the calls
  double warm_s = 0;
  double calls_s = 0, calls_device_s = 0;  ///< by calls: the total

  static double quantile(std::vector<double> const& times, double q) {
    return times[static_cast<std::size_t>(q * static_cast<double>(times.size()))];
  }
  double seconds() const { return calls_s > 0 ? calls_s : quantile(host, .5); }
  double device_s() const { return calls_s > 0 ? calls_device_s : quantile(device, .5); }
};

/// Adds the results and counts of another call.
void add(l2r::scored& all, l2r::scored const& call) {
  all.scores.insert(all.scores.end(), call.scores.begin(), call.scores.end());
  rulerank::add(all.counts, call.counts);
  if (call.counts.contains("cache_slots"))
    all.counts["cache_slots"] = count_of(call.counts, "cache_slots");
  all.timings.prepare_s = call.timings.prepare_s;
}

/// Measures consecutive calls of `a_call` documents each.
measured measure_by_calls(context const& ctx, l2r::ranker const& ranker,
                          datasets::binned_dataset const& test, std::size_t a_call) {
  std::vector<datasets::binned_dataset> queries;
  for (std::size_t begin = 0; begin < test.documents; begin += a_call) {
    std::vector<std::size_t> chosen(std::min(a_call, test.documents - begin));
    std::iota(chosen.begin(), chosen.end(), begin);
    queries.push_back(datasets::subset(test, chosen));
  }
  // On GPUs, the first call also allocates memory; documents without items do not change a cache.
  datasets::binned_dataset empty = queries.front();
  std::fill(empty.codes.begin(), empty.codes.end(), datasets::no_item);
  ranker.score(ctx, empty);
  measured m;
  double const before = cpu_seconds();
  for (auto const& query : queries) {
    l2r::scored const call = ranker.score(ctx, query);
    m.host.push_back(call.timings.score_s);
    m.device.push_back(call.timings.device_s);
    m.calls_s += call.timings.score_s;
    m.calls_device_s += call.timings.device_s;
    add(m.first, call);
  }
  m.cpu_s = (cpu_seconds() - before) / static_cast<double>(queries.size());
  if (count_of(m.first.counts, "cache_misses") != 0 && m.calls_s < 3)
    for (auto const& query : queries) m.warm_s += ranker.score(ctx, query).timings.score_s;
  std::sort(m.host.begin(), m.host.end());
  std::sort(m.device.begin(), m.device.end());
  return m;
}

measured measure(context const& ctx, l2r::ranker const& ranker,
                 datasets::binned_dataset const& test) {
  measured m;
  double before = cpu_seconds();
  m.first = ranker.score(ctx, test);
  m.cpu_s = cpu_seconds() - before;
  double const first_s = m.first.timings.score_s;
  m.host = {first_s};
  m.device = {m.first.timings.device_s};
  // A filled cache changes the next call.
  if (count_of(m.first.counts, "cache_misses") != 0) {
    if (first_s < 3) m.warm_s = ranker.score(ctx, test).timings.score_s;
    return m;
  }
  // On GPUs, the first call also allocates memory.
  double const limit = ctx.devices.empty() ? 0.2 : 5;
  if (first_s >= limit) return m;
  int const repeats =
      std::clamp(static_cast<int>(0.4 / std::max(first_s, 1e-5)), first_s < 0.2 ? 5 : 2, 1000);
  m.host.clear();
  m.device.clear();
  before = cpu_seconds();
  for (int r = 0; r < repeats; ++r) {
    m.last = ranker.score(ctx, test);
    m.host.push_back(m.last.timings.score_s);
    m.device.push_back(m.last.timings.device_s);
  }
  m.cpu_s = (cpu_seconds() - before) / repeats;
  std::sort(m.host.begin(), m.host.end());
  std::sort(m.device.begin(), m.device.end());
  return m;
}

/// The workload of all engines of a line, and the results of the first engine.
struct bench {
  std::string input;
  context ctx;
  task sets;
  l2r::ranker_options options;
  std::string first;  ///< the first engine, as the line has it
  std::vector<double> expected;
  double first_s = 0, first_cpu_s = 0;
};

/// Returns whether an engine computed the first engine's scores of the documents `some`, and
/// counted all itemsets.
bool is_right(bench const& b, std::string const& asked, std::vector<std::size_t> const& some,
              measured const& m, itemset_counts const& itemsets) {
  for (l2r::scored const* of : {&m.first, &m.last})
    for (std::size_t i = 0; i < of->scores.size(); ++i)
      if (bits_of(b.expected.at(some[i])) != bits_of(of->scores[i])) {
        fmt::print(stderr, "{}: not the scores of {}, not timed\n", asked, b.first);
        return false;
      }
  l2r::scored const& result = m.first;
  std::uint64_t const hits = count_of(result.counts, "cache_hits");
  std::uint64_t const misses = count_of(result.counts, "cache_misses");
  if (count_of(result.counts, "prefix_lookups") == 0 || hits + misses == itemsets.largest)
    return true;
  fmt::print(stderr, "{}: {} hits and {} misses are not {} itemsets\n", asked, hits, misses,
             itemsets.largest);
  return false;
}

/// Returns the resident threads that a published engine needs per document on a GPU; 0 for other
/// engines.
std::size_t threads_a_document(l2r::engine e) {
  if (e == l2r::engine::plrar || e == l2r::engine::profl_t) return 1;
  return e == l2r::engine::profl ? 256 : 0;
}

/// Returns the share of the devices' resident threads that `documents` concurrent documents occupy;
/// 1 for engines to which this does not apply.
double gpu_fill(context const& ctx, l2r::engine e, std::size_t documents) {
  constexpr double threads_a_multiprocessor = 2048;
  std::size_t const threads = threads_a_document(e);
  if (threads == 0 || ctx.devices.empty()) return 1;
  double resident = 0;
  for (device const& d : list_devices().devices)
    if (std::find(ctx.devices.begin(), ctx.devices.end(), d.ordinal) != ctx.devices.end())
      resident += threads_a_multiprocessor * d.multiprocessors;
  return std::min(1.0, static_cast<double>(documents * threads) / resident);
}

std::string by_size(l2r::scored const& result) {
  std::string text;
  for (std::size_t k = 2; result.counts.contains(fmt::format("hits.{}", k)); ++k) {
    l2r::cache_lookups const of = l2r::lookups_of(result.counts, k);
    text += fmt::format("{}[{}, {}, {}, {}]", text.empty() ? "" : ", ", of.hits, of.misses,
                        of.prefix_hits, of.prefix_misses);
  }
  return text;
}

void print_line(bench const& b, std::string const& asked, std::size_t documents, std::size_t a_call,
                double fill, measured const& m, itemset_counts const& itemsets) {
  l2r::scored const& result = m.first;
  double const device_s = m.device_s();
  std::uint64_t const hits = count_of(result.counts, "cache_hits");
  std::uint64_t const misses = count_of(result.counts, "cache_misses");
  double const looked_up = static_cast<double>(hits + misses);
  fmt::print(
      "{{\"input\": \"{}\", \"documents\": {}, \"training\": {}, \"features\": {}, "
      "\"rule_size\": {}, \"threads\": {}, \"engine\": \"{}\", \"seconds\": {:.6f}, "
      "\"documents_a_call\": {}, \"seconds_a_call\": {:.6f}, \"gpu_fill\": {:.3f}, "
      "\"calls\": {}, \"p10_s\": {:.6f}, \"p90_s\": {:.6f}, \"p99_s\": {:.6f}, "
      "\"prepare_s\": {:.4f}, \"device_s\": {:.6f}, \"device_itemsets_per_s\": {:.4g}, "
      "\"cpu_seconds\": {:.4f}, "
      "\"cpu_ns_per_itemset\": {:.4f}, \"ratio_to_first\": {:.1f}, \"cpu_ratio_to_first\": "
      "{:.1f}, \"hit_rate\": {:.4f}, \"hits\": {}, \"misses\": {}, \"prefix_lookups\": {}, "
      "\"cache_slots\": {}, \"cache_by_size\": [{}], "
      "\"warm_s\": {:.6f}, \"largest_itemsets\": {}, "
      "\"instruction_set\": \"{}\", \"commit\": \"{}\"}}\n",
      b.input, documents, b.sets.training.documents, b.sets.training.feature_count(),
      b.options.scoring.rule_size, b.ctx.thread_count(), asked, m.seconds(), a_call,
      m.calls_s > 0 ? m.calls_s / static_cast<double>(m.host.size()) : m.seconds(), fill,
      m.host.size(), measured::quantile(m.host, .1), measured::quantile(m.host, .9),
      measured::quantile(m.host, .99), result.timings.prepare_s, device_s,
      device_s == 0 ? 0.0 : itemsets.all / device_s, m.cpu_s, 1e9 * m.cpu_s / itemsets.all,
      b.first_s / m.seconds(), b.first_cpu_s / m.cpu_s,
      looked_up == 0 ? 0.0 : static_cast<double>(hits) / looked_up, hits, misses,
      count_of(result.counts, "prefix_lookups"), count_of(result.counts, "cache_slots"),
      by_size(result), m.warm_s, itemsets.largest, bitmaps::instruction_set(), commit());
  std::fflush(stdout);
}

/// Times one engine; returns false if its results were wrong.
bool time_engine(bench& b, std::string const& name) {
  std::size_t const mark = std::min(name.find('~'), name.size());
  engine_argument const asked(name.substr(0, mark));
  b.options.execution.engine = l2r::engine_from(asked.name);
  b.options.execution.settings[l2r::cache_bytes_setting] = asked.gib << 30;
  b.ctx.devices = asked.devices;
  std::size_t const all = b.sets.test.documents;
  std::vector<std::size_t> const some = evenly(all, asked.documents == 0 ? all : asked.documents);
  auto const test = some.size() == all ? b.sets.test : datasets::subset(b.sets.test, some);
  itemset_counts const itemsets = itemsets_of(test, b.options.scoring.rule_size);
  std::size_t const a_call = mark == name.size()
                                 ? test.documents
                                 : std::min(std::stoul(name.substr(mark + 1)), test.documents);
  double const fill = gpu_fill(b.ctx, b.options.execution.engine, a_call);
  if (fill < 1 && mark == name.size() && test.documents < b.sets.fold_documents) {
    fmt::print(stderr, "{}: {} of {} documents occupy {:.1f} % of the GPUs, not timed\n", name,
               test.documents, b.sets.fold_documents, 100 * fill);
    return true;
  }
  l2r::ranker const ranker(b.ctx, b.sets.training, b.options);
  measured const m = mark == name.size() ? measure(b.ctx, ranker, test)
                                         : measure_by_calls(b.ctx, ranker, test, a_call);
  if (b.expected.empty()) {
    b.expected = m.first.scores;
    b.first_s = m.seconds();
    b.first_cpu_s = m.cpu_s;
  }
  if (!is_right(b, name, some, m, itemsets)) return false;
  print_line(b, name, test.documents, a_call, fill, m, itemsets);
  return true;
}

}  // namespace

// Long because a run reads from top to bottom: options, data, checks, times.
int main(int argc, char** argv) {
  rulerank::l2r::add_published_engines();
  char const* standard[] = {argv[0], "hp2003", "1000", "1091", "4", "1", "lrar", "project"};
  if (argc == 1) {
    argv = const_cast<char**>(standard);
    argc = static_cast<int>(std::size(standard));
  }
  if (argc < 7) {
    fmt::print(stderr, "l2r_bench SHAPE DOCUMENTS U SIZE THREADS ENGINE...\n");
    return 2;
  }
  bench b;
  b.input = argv[1];
  b.first = argv[6];
  b.sets = std::filesystem::exists(argv[1])
               ? read(b.ctx, argv[1], argv[2], std::stoul(argv[3]))
               : drawn(b.ctx, argv[1], std::stoul(argv[2]), std::stoul(argv[3]));
  b.options.scoring.rule_size = static_cast<std::uint32_t>(std::stoul(argv[4]));
  b.ctx.threads = std::stoi(argv[5]);
  for (int a = 6; a < argc; ++a)
    if (!time_engine(b, argv[a])) return 1;
  return 0;
}
