// Sampling engines against each other (Freitas 2017, tables 5.3 and 5.5 in shape):
//
//   al_bench SHAPE|TRAIN SIZE THREADS PARTITIONS ITERATIONS ENGINE[@GPUS]...
//                                            default: td2003 3 1 0 0 ssarp delta
//
// On a shape, each partition chooses exactly ITERATIONS documents (0: the published mean number),
// the stop rule off, so that a lucky draw proves nothing; where the rule would have stopped is
// printed. On a file the stop rule ends it. PARTITIONS 0: all, else the first so many: a stated
// sample. Cuts are tube, 10 bins. The first engine named is the one the others are held against:
// one that chooses other documents is not timed. One JSON line an engine; `loop_s` is without what
// `delta` on GPUs does before its first iteration (partitions made, data sent), and the sum over
// the partitions where they do not run side by side.

#include "al/measured_sampling.hpp"
#include "bench/engine_argument.hpp"
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

/// The columns `features` alone.
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

}  // namespace

// Long because a run reads from top to bottom: options, data, checks, times.
int main(int argc, char** argv) {
  char const* standard[] = {argv[0], "td2003", "3", "1", "0", "0", "ssarp", "delta"};
  if (argc == 1) {
    argv = const_cast<char**>(standard);
    argc = static_cast<int>(std::size(standard));
  }
  if (argc < 7) {
    fmt::print(stderr, "al_bench SHAPE|TRAIN SIZE THREADS PARTITIONS ITERATIONS ENGINE...\n");
    return 2;
  }
  context ctx;
  bool const file = std::filesystem::exists(argv[1]);
  datasets::dataset const train =
      file ? datasets::read_svmlight(ctx, argv[1])
           : datasets::sample_fold(ctx, datasets::find_shape(argv[1])).train;
  auto const binned =
      datasets::apply_discretizer(ctx, train, datasets::fit_discretizer(ctx, train, {}));
  auto order = datasets::order_features(ctx, binned, datasets::feature_order::chi2);
  al::sampler_options options;
  options.rule_size = std::stoi(argv[2]);
  ctx.threads = std::stoi(argv[3]);
  auto const shown = std::stoul(argv[4]);
  std::size_t fixed = std::stoul(argv[5]);  // iterations
  std::size_t partitions = (order.size() + 11) / 12;
  if (!file) {
    datasets::shape const& shape = datasets::find_shape(argv[1]);
    partitions = static_cast<std::size_t>(shape.partitions);
    if (fixed == 0) fixed = shape.iterations(options.rule_size);
  }
  // A sample of the partitions is a data set of their features, dealt in the same way.
  std::size_t const run = shown == 0 ? partitions : std::min<std::size_t>(shown, partitions);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i % partitions < run) kept.push_back(order[i]);
  auto const data = columns_of(binned, kept);
  options.partitions = run;

  std::vector<std::size_t> expected;
  double first_s = 0;
  for (int a = 6; a < argc; ++a) {
    std::string const argument = argv[a];
    engine_argument const asked(argument);
    options.which = al::engine_from(asked.name);
    ctx.devices = asked.devices;
    if (!ctx.devices.empty())
      al::reduce_to_iterations(ctx, data, options,
                               1);  // the devices' own start is not the engine's
    auto const begin = std::chrono::steady_clock::now();
    al::sample const found = al::reduce_to_iterations(ctx, data, options, fixed);
    double const seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::vector<std::size_t> chosen;
    std::size_t iterations = 0;
    for (auto const& c : found.choices) chosen.push_back(c.document);
    std::string stopped;
    double loop_s = 0;
    bool const side_by_side = options.which == al::engine::delta && !ctx.devices.empty();
    for (auto const& p : found.partitions) {
      iterations += p.iterations;
      loop_s = side_by_side ? std::max(loop_s, p.seconds) : loop_s + p.seconds;
      stopped += fmt::format("{}{}", stopped.empty() ? "" : ", ", p.stopped_after);
    }
    if (a == 6) {
      expected = chosen;
      first_s = seconds;
    }
    if (chosen != expected) {
      fmt::print(stderr, "{}: not the documents of {}, not timed\n", argv[a], argv[6]);
      return 1;
    }
    fmt::print(
        "{{\"input\": \"{}\", \"documents\": {}, \"features\": {}, \"rule_size\": {}, "
        "\"partitions\": {}, \"of_partitions\": {}, \"iterations\": {}, \"chosen\": {}, "
        "\"stop_rule_after\": [{}], \"threads\": {}, \"engine\": \"{}\", \"seconds\": {:.4f}, "
        "\"loop_s\": {:.4f}, \"us_per_iteration\": {:.1f}, \"ratio_to_first\": {:.1f}, "
        "\"instruction_set\": \"{}\", "
        "\"commit\": \"{}\"}}\n",
        argv[1], data.documents, binned.feature_count(), options.rule_size, run, partitions,
        iterations, found.documents.size(), stopped, ctx.thread_count(), argument, seconds, loop_s,
        1e6 * seconds / static_cast<double>(iterations), first_s / seconds,
        bitmaps::instruction_set(), commit());
    std::fflush(stdout);
  }
  return 0;
}
