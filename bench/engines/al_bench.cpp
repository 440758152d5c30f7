// Sampling engines against each other (Freitas 2017, tables 5.3 and 5.5 in shape):
//
//   al_bench SHAPE|TRAIN SIZE THREADS PARTITIONS ITERATIONS [rounds=N] ENGINE[~THREADS][@GPUS]...
//                                            default: td2003 3 1 0 0 ssarp delta
//
// On a shape, each partition chooses exactly ITERATIONS documents (0: the published mean number),
// with the stop rule off, so that random early stops have no effect; the line shows where the rule
// would have stopped. On a file, the stop rule ends the sampling. PARTITIONS 0: all, otherwise the
// first ones: a stated sample. Cuts are tube, 10 bins. Every engine runs in each of N rounds (1),
// one after the other. The first engine is the reference: an engine that chooses other documents is
// not timed.
//
// One JSON line per engine, with medians of the rounds. `seconds` is the total from bin codes in
// memory to chosen documents: making partitions, sending data, loops. `loop_s` is only the loops,
// without the work before a partition's first iteration. It is the sum over the partitions if they
// run one after the other, and null if they run in parallel on a CPU. A ratio is the first engine's
// time of a round divided by this engine's time of the same round, for the same quantity: median,
// smallest, largest.

#include "al/measured_sampling.hpp"
#include "al/published/engines.hpp"
#include "bench/engines/engine_argument.hpp"
#include "bitmaps/bit_kernels.hpp"
#include "core/machine.hpp"
#include "datasets/feature_order.hpp"
#include "datasets/sample.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;

/// Returns only the columns `features`.
datasets::binned_dataset columns_of(datasets::binned_dataset const& data,
                                    std::vector<std::size_t> const& features) {
  datasets::binned_dataset out = data;
  out.features.clear();
  out.has_missing_item.clear();
  out.item_begin = {0};
  out.codes.clear();
  for (std::size_t f : features) {
    out.features.push_back(data.features[f]);
    out.has_missing_item.push_back(data.has_missing_item[f]);
    out.item_begin.push_back(out.item_begin.back() + data.bins(f));
    out.codes.insert(out.codes.end(), data.column(f), data.column(f) + data.stride);
  }
  return out;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The workload on which all engines of a line are timed.
struct workload {
  std::string input;
  datasets::binned_dataset data;
  al::sampler_options options;
  std::size_t features;        ///< of the whole data set
  std::size_t all_partitions;  ///< the data has `options.partitions` of them
  std::size_t fixed;           ///< iterations
};

workload prepared(char** argv) {
  context const ctx;
  bool const file = std::filesystem::exists(argv[1]);
  datasets::dataset const train =
      file ? datasets::read_svmlight(ctx, argv[1])
           : datasets::sample_fold(ctx, datasets::find_shape(argv[1])).train;
  auto const binned =
      datasets::apply_discretizer(ctx, train, datasets::fit_discretizer(ctx, train, {}));
  auto const order = datasets::order_features(ctx, binned, datasets::feature_order::chi2);
  workload all;
  all.input = argv[1];
  all.options.rule_size = static_cast<rules::rule_size>(std::stoul(argv[2]));
  auto const shown = std::stoul(argv[4]);
  all.fixed = std::stoul(argv[5]);
  all.features = binned.feature_count();
  all.all_partitions = (order.size() + 11) / 12;
  if (!file) {
    datasets::shape const& shape = datasets::find_shape(argv[1]);
    all.all_partitions = static_cast<std::size_t>(shape.partitions);
    if (all.fixed == 0)
      all.fixed = all.options.rule_size <= 3 ? shape.iterations_3 : shape.iterations_4;
  }
  // A sample of the partitions is a data set of their features, assigned to partitions in the same
  // way.
  std::size_t const run =
      shown == 0 ? all.all_partitions : std::min<std::size_t>(shown, all.all_partitions);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i % all.all_partitions < run) kept.push_back(order[i]);
  all.data = columns_of(binned, kept);
  all.options.partitions = run;
  return all;
}

/// An engine and its measurements, one value per round.
struct contender {
  std::string name;
  context ctx;
  al::engine which;
  std::vector<double> seconds, loop_s;  ///< `loop_s` is empty if loops are not timed separately
  std::size_t iterations = 0, chosen = 0;
  std::string stopped;

  contender(std::string const& text, int threads) : name(text) {
    std::size_t const mark = std::min(text.find('~'), text.size());
    std::size_t const end = std::min(text.find('@'), text.size());
    engine_argument const asked(text.substr(0, std::min(mark, end)) + text.substr(end));
    which = al::engine_from(asked.name);
    ctx.threads = mark < text.size() ? std::stoi(text.substr(mark + 1)) : threads;
    ctx.devices = asked.devices;
  }

  /// Returns the chosen documents, in order.
  std::vector<std::size_t> run(workload const& all) {
    al::sampler_options options = all.options;
    options.engine = which;
    if (!ctx.devices.empty() && seconds.empty())  // excludes the start of the devices
      al::reduce_to_iterations(ctx, all.data, options, 1);
    auto const begin = std::chrono::steady_clock::now();
    al::sample const found = al::reduce_to_iterations(ctx, all.data, options, all.fixed);
    seconds.push_back(seconds_since(begin));
    bool const side_by_side = which == al::engine::delta && found.partitions.size() > 1;
    double loops = 0;
    iterations = 0;
    stopped.clear();
    for (auto const& p : found.partitions) {
      iterations += p.iterations;
      loops = side_by_side && !ctx.devices.empty() ? std::max(loops, p.seconds) : loops + p.seconds;
      stopped += fmt::format("{}{}", stopped.empty() ? "" : ", ", p.stopped_after);
    }
    if (!side_by_side || !ctx.devices.empty() || ctx.thread_count() == 1) loop_s.push_back(loops);
    this->chosen = found.documents.size();
    std::vector<std::size_t> documents;
    for (auto const& c : found.choices) documents.push_back(c.document);
    return documents;
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string seconds_text(std::vector<double> const& values) {
  return values.empty() ? "null" : fmt::format("{:.5f}", median(values));
}

/// Returns median, smallest and largest of the rounds' ratios.
std::string ratio_text(std::vector<double> const& first, std::vector<double> const& own) {
  if (first.size() != own.size() || own.empty()) return "null";
  std::vector<double> ratios;
  for (std::size_t r = 0; r < own.size(); ++r) ratios.push_back(first[r] / own[r]);
  auto const [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", median(ratios), *least, *most);
}

void print_line(workload const& all, contender const& c, contender const& first) {
  double const whole = median(c.seconds);
  fmt::print(
      "{{\"input\": \"{}\", \"documents\": {}, \"features\": {}, \"rule_size\": {}, "
      "\"partitions\": {}, \"of_partitions\": {}, \"iterations\": {}, \"chosen\": {}, "
      "\"stop_rule_after\": [{}], \"threads\": {}, \"engine\": \"{}\", \"rounds\": {}, "
      "\"seconds\": {:.5f}, \"loop_s\": {}, \"us_per_iteration\": {:.1f}, "
      "\"ratio_to_first\": {:.4g}, \"whole_ratio\": {}, \"loop_ratio\": {}, "
      "\"instruction_set\": \"{}\", \"commit\": \"{}\"}}\n",
      all.input, all.data.documents, all.features, all.options.rule_size, all.options.partitions,
      all.all_partitions, c.iterations, c.chosen, c.stopped, c.ctx.thread_count(), c.name,
      c.seconds.size(), whole, seconds_text(c.loop_s),
      1e6 * whole / static_cast<double>(c.iterations), median(first.seconds) / whole,
      ratio_text(first.seconds, c.seconds), ratio_text(first.loop_s, c.loop_s),
      bitmaps::instruction_set(), commit());
}

}  // namespace

int main(int argc, char** argv) {
  rulerank::al::add_published_engines();
  char const* standard[] = {argv[0], "td2003", "3", "1", "0", "0", "ssarp", "delta"};
  if (argc == 1) {
    argv = const_cast<char**>(standard);
    argc = static_cast<int>(std::size(standard));
  }
  if (argc < 7) {
    fmt::print(stderr,
               "al_bench SHAPE|TRAIN SIZE THREADS PARTITIONS ITERATIONS [rounds=N] ENGINE...\n");
    return 2;
  }
  workload const all = prepared(argv);
  int rounds = 1;
  std::vector<contender> contenders;
  for (int a = 6; a < argc; ++a) {
    std::string const text = argv[a];
    if (text.starts_with("rounds="))
      rounds = std::stoi(text.substr(7));
    else
      contenders.emplace_back(text, std::stoi(argv[3]));
  }
  std::vector<std::size_t> expected;
  for (int round = 0; round < rounds; ++round)
    for (contender& c : contenders) {
      auto const documents = c.run(all);
      if (round == 0 && &c == &contenders.front()) expected = documents;
      if (documents == expected) continue;
      fmt::print(stderr, "{}: not the documents of {}, not timed\n", c.name,
                 contenders.front().name);
      return 1;
    }
  for (contender const& c : contenders) print_line(all, c, contenders.front());
  return 0;
}
