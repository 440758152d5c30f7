#include "al/sampler.hpp"

#include "al/partition.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::al {

namespace {

constexpr std::array engine_list{
    engine_info{engine::ssarp, "ssarp", "cpu, one thread",
                "SSARP as published: all rules recounted each iteration"},
    engine_info{engine::pssarp, "pssarp", "cpu", "SSARP with the documents in parallel (OpenMP)"},
    engine_info{engine::delta, "delta", "cpu",
                "default; counts only what the chosen document changed"},
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

std::span<engine_info const> engines() {
  return engine_list;
}

std::string_view name_of(engine e) {
  for (auto const& info : engine_list)
    if (info.which == e) return info.name;
  return "auto";
}

engine engine_from(std::string_view name) {
  if (name == "auto") return engine::automatic;
  std::string known = "auto";
  for (auto const& info : engine_list) {
    if (info.name == name) return info.which;
    known += fmt::format(", {}", info.name);
  }
  throw usage_error(fmt::format("unknown engine '{}' for reduce, expected one of {}", name, known));
}

sample reduce(context const& ctx, datasets::binned_dataset const& data,
              sampler_options const& options, oracle const& label_of) {
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

  sample result;
  result.ran = options.which == engine::automatic ? engine::delta : options.which;
  auto const max_items = static_cast<std::size_t>(options.rule_size) - 1;
  rules::validity const valid(options.thresholds, static_cast<std::uint32_t>(data.documents));
  auto const features = deal_features(order, count);
  std::vector<std::vector<choice>> choices(count);
  result.partitions.resize(count);

  // The published engines take the partitions one after the other; ours side by side, or one alone
  // with all threads. A budget of documents is reached within as many iterations, so no partition
  // needs more.
  context inner = ctx;
  context outer = ctx;
  if (result.ran == engine::delta) {
    if (count > 1) inner.threads = 1;
  } else {
    outer.threads = 1;
    if (result.ran == engine::ssarp) inner.threads = 1;
  }
  bool const stop_rule = options.fixed_iterations == 0;
  std::size_t const max_iterations = stop_rule ? options.max_documents : options.fixed_iterations;

  std::mutex mutex;  // for the oracle and the progress
  std::size_t chosen_in_all = 0;
  parallel_for(outer, count, 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q) {
      auto const started = std::chrono::steady_clock::now();
      partition const part = make_partition(data, features[q]);
      auto const counter = result.ran == engine::delta ? make_delta(part, max_items, valid)
                                                       : make_recount(part, max_items, valid);
      result.partitions[q] = run_partition(
          inner, part, *counter, max_iterations, stop_rule,
          [&](std::size_t position, std::size_t iteration, std::uint64_t rules) {
            std::size_t const document = part.documents[position];
            choices[q].push_back({document, q, iteration, rules});
            std::lock_guard const lock(mutex);
            ctx.report("documents chosen", ++chosen_in_all, 0);
            std::int32_t const label = label_of ? label_of(document) : data.labels[document];
            if (label < 0)
              throw usage_error(fmt::format("document {} was chosen and has no label", document));
            return label;
          });
      result.partitions[q].seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    }
  });

  for (auto const& of_partition : choices)
    result.choices.insert(result.choices.end(), of_partition.begin(), of_partition.end());
  std::stable_sort(result.choices.begin(), result.choices.end(),
                   [](choice const& a, choice const& b) { return a.iteration < b.iteration; });
  std::unordered_set<std::size_t> distinct;
  std::size_t kept = 0;
  for (choice const& c : result.choices) {
    if (options.max_documents != 0 && distinct.size() == options.max_documents &&
        !distinct.contains(c.document))
      break;
    distinct.insert(c.document);
    ++kept;
  }
  result.choices.resize(kept);
  result.documents.assign(distinct.begin(), distinct.end());
  std::sort(result.documents.begin(), result.documents.end());
  return result;
}

}  // namespace rulerank::al
