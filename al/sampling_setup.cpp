#include "al/sampling_setup.hpp"

#include "al/partition.hpp"
#include "al/tie_order.hpp"
#include "core/error.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::inline v0::al {

namespace {

/// Default number of features per partition.
constexpr std::size_t default_partition_width = 12;
/// Maximum number of rules per document, so that totals and their changes fit 32 bits.
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

/// The number of distinct labels, at least 1.
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
    itemsets = rules::itemset_count(width, options.rule_size - 1);
  } catch (usage_error const&) {  // exceeds 64 bits: far too many
  }
  if (itemsets >= most_rules / std::min(classes, most_rules))
    throw usage_error(
        fmt::format("rule size {} with {} features in a partition gives a document too many rules, "
                    "expected fewer than 2^29; use more partitions or smaller rules",
                    options.rule_size, width));
}

/// Throws unless the queries cover all documents contiguously.
void check_queries(std::vector<std::size_t> const& begin, std::size_t documents) {
  if (begin.empty()) return;
  if (begin.size() < 2 || begin.front() != 0 || begin.back() != documents ||
      !std::is_sorted(begin.begin(), begin.end()))
    throw usage_error(
        "found queries that overlap or leave documents out, expected each document in one query, "
        "in order");
}

std::vector<std::uint32_t> tie_order(datasets::binned_dataset const& data,
                                     sampler_options const& options) {
  if (options.tie_keys.empty()) return {};
  if (options.tie_keys.size() != data.documents)
    throw usage_error(fmt::format("found {} for ties, expected one for each of {}",
                                  counted(options.tie_keys.size(), "key"),
                                  counted(data.documents, "document")));
  return order_of_keys(options.tie_keys);
}

std::vector<std::vector<std::size_t>> features_of_partitions(datasets::binned_dataset const& data,
                                                             sampler_options const& options) {
  if (options.rule_size < 2)
    throw usage_error(fmt::format("found rule size {}, expected 2 or more (the consequent counts)",
                                  options.rule_size));
  if (data.feature_count() == 0)
    throw usage_error(
        "no feature has two bins, so there are no items; expected a feature that varies");
  auto const order = checked_order(data, options.feature_order);
  std::size_t const count = options.partitions != 0 ? options.partitions
                                                    : (order.size() + default_partition_width - 1) /
                                                          default_partition_width;
  if (count > order.size())
    throw usage_error(fmt::format("found {} for {} with items, expected at most {}",
                                  counted(count, "partition"), counted(order.size(), "feature"),
                                  order.size()));
  check_widths(data, options, count);
  check_queries(options.query_begin, data.documents);
  return deal_features(order, count);
}

}  // namespace

sampling_setup::sampling_setup(context const& where, datasets::binned_dataset const& documents,
                               sampler_options const& how)
    : ctx(where),
      data(documents),
      options(how),
      valid(how.thresholds, static_cast<std::uint32_t>(documents.documents)),
      ties(tie_order(documents, how)),
      features(features_of_partitions(documents, how)) {}

}  // namespace rulerank::al
