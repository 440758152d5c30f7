#include "al/sampler.hpp"

#include "al/labelling.hpp"
#include "al/sampling.hpp"
#include "core/error.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace rulerank::al {

namespace {

#if RULERANK_HAS_CUDA
constexpr std::string_view delta_runs_on = "cpu, cuda";
#else
constexpr std::string_view delta_runs_on = "cpu";
#endif

constexpr std::array engine_list {
  engine_info{engine::ssarp, "ssarp", "cpu, one thread",
              "SSARP as published: all rules recounted each iteration"},
      engine_info{engine::pssarp, "pssarp", "cpu", "SSARP with the documents in parallel (OpenMP)"},
      engine_info{engine::delta, "delta", delta_runs_on,
                  "counts only what the chosen document changed", true},
#if RULERANK_HAS_CUDA
      engine_info{engine::prss, "prss", "cuda",
                  "SSARP with a document a thread of the GPU, as published"},
#endif
};

/// Features that a partition has by default.
constexpr std::size_t default_partition_width = 12;
/// Rules of one document at most, so that totals and their changes fit 32 bits.
constexpr std::uint64_t most_rules = 1U << 29;

std::vector<std::size_t> checked_order(datasets::binned_dataset const& data,
                                       std::vector<std::size_t> order) {
  std::vector<std::size_t> natural(data.feature_count());
  std::iota(natural.begin(), natural.end(), std::size_t{0});
  if (order.empty()) return natural;
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != natural)
    throw usage_error("the feature order is not a permutation of the features");
  return order;
}

/// Distinct labels of the documents that have one, at least 1.
std::uint64_t classes_of(datasets::binned_dataset const& data) {
  std::unordered_set<std::int32_t> labels(data.labels.begin(), data.labels.end());
  labels.erase(datasets::unlabelled);
  return std::max<std::uint64_t>(labels.size(), 1);
}

void check_widths(datasets::binned_dataset const& data, sampler_options const& options,
                  std::size_t partitions) {
  std::size_t const width = (data.feature_count() + partitions - 1) / partitions;
  std::uint64_t const classes = classes_of(data);
  std::uint64_t itemsets = most_rules;
  try {
    itemsets = rules::itemset_count(width, static_cast<std::uint64_t>(options.rule_size) - 1);
  } catch (usage_error const&) {  // more than 64 bits hold: too many by far
  }
  if (itemsets >= most_rules / std::min(classes, most_rules))
    throw usage_error(fmt::format(
        "rule size {} with {} features a partition gives too many rules a document, expected fewer "
        "than 2^29: use more partitions or smaller rules",
        options.rule_size, width));
}

}  // namespace

std::vector<std::vector<std::size_t>> features_of_partitions(datasets::binned_dataset const& data,
                                                             sampler_options const& options) {
  if (options.rule_size < 2)
    throw usage_error(fmt::format("rule size {}, expected 2 or more (it counts the consequent)",
                                  options.rule_size));
  if (data.feature_count() == 0) throw usage_error("no feature has two bins: there are no items");
  auto const order = checked_order(data, options.feature_order);
  std::size_t const count = options.partitions != 0 ? options.partitions
                                                    : (order.size() + default_partition_width - 1) /
                                                          default_partition_width;
  if (count > order.size())
    throw usage_error(fmt::format("{} partitions of {} features with items, expected at most {}",
                                  count, order.size(), order.size()));
  check_widths(data, options, count);
  return deal_features(order, count);
}

std::span<engine_info const> engines() {
  return engine_list;
}

std::string_view name_of(engine e) {
  return engine_name(engine_list, e);
}

engine engine_from(std::string_view name) {
  return engine_in<engine>(engine_list, name, without_cuda);
}

sample reduce(context const& ctx, datasets::binned_dataset const& data,
              sampler_options const& options, oracle const& label_of) {
  auto features = features_of_partitions(data, options);
  sampler_options chosen = options;
  if (chosen.which == engine::automatic)
    chosen.which = std::ranges::find_if(engine_list, &engine_info::is_default)->which;
  if (chosen.which == engine::prss && ctx.devices.empty())
    throw device_error("engine prss runs on GPUs, and there is none to run on");
  if (!chosen.query_begin.empty()) {
    labelling work(ctx, data, chosen);
    ask_for_labels(work, [&](question const& q) {
      if (!label_of)
        throw usage_error(fmt::format("document {} was chosen and has no label", q.document));
      return reply{reply::kind::label, label_of(q.document)};
    });
    return work.take();
  }
  sampling work(ctx, data, chosen, label_of, std::move(features));
  if (options.max_documents == 0)
    work.advance(0);
  else
    work.advance_within(options.max_documents);
  return work.take();
}

}  // namespace rulerank::al
