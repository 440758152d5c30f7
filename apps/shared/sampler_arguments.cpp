#include "apps/shared/sampler_arguments.hpp"

#include "apps/shared/options.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

constexpr std::string_view file_prefix = "file:";
constexpr char const* group = "Sampling";

}  // namespace

void sampler_arguments::add_partitioning_to(CLI::App& verb) {
  verb.add_option("--partitions", partitions,
                  "Partitions of the features; auto: one for every 12 with items")
      ->type_name("auto|Q")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--feature-order", feature_order,
                  "Order in which features are dealt into partitions")
      ->type_name("chi2|label|none|file:P")
      ->capture_default_str()
      ->group(group);
}

void sampler_arguments::add_to(CLI::App& verb) {
  verb.add_option("--rule-size", rule_size, "Largest rule, its consequent counted")
      ->check(CLI::Range(2, 64))
      ->capture_default_str()
      ->group(group);
  add_partitioning_to(verb);
  verb.add_option("--min-support", min_support, "Documents a valid rule covers at least")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--min-confidence", min_confidence, "Confidence of a valid rule at least")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(group);
  verb.add_option("--max-documents", max_documents, "Documents to choose at most; 0: no budget")
      ->capture_default_str()
      ->group(group);
  engine_option(verb, "--engine", engine, al::engines())->group(group);
}

sampler_arguments::order_choice sampler_arguments::order() const {
  if (feature_order == file_prefix)
    throw usage_error("--feature-order: the path is empty, expected file:P");
  if (feature_order.starts_with(file_prefix))
    return {datasets::feature_order::file, feature_order.substr(file_prefix.size())};
  return {datasets::feature_order_from(feature_order), {}};
}

std::size_t sampler_arguments::partition_count() const {
  if (partitions == "auto") return 0;
  std::size_t count = 0;
  char const* const last = partitions.data() + partitions.size();
  auto const [end, status] = std::from_chars(partitions.data(), last, count);
  if (status != std::errc{} || end != last || count == 0)
    throw usage_error(
        fmt::format("--partitions: found '{}', expected auto or a number from 1", partitions));
  return count;
}

void sampler_arguments::check() const {
  partition_count();
  order();
  al::engine_from(engine);
}

al::sampler_options sampler_arguments::options(session& owner,
                                               datasets::binned_dataset const& binned) const {
  order_choice const choice = order();
  owner.input(choice.path);
  al::sampler_options options;
  options.rule_size = rule_size;
  options.thresholds = {min_support, min_confidence};
  options.partitions = partition_count();
  options.max_documents = max_documents;
  options.which = al::engine_from(engine);
  for (al::engine_info const& e : al::engines())
    if (e.which == options.which) owner.expect_device_for(e.name, e.where);
  auto const timer = owner.stage("order features");
  options.feature_order = datasets::order_features(owner.ctx(), binned, choice.order, choice.path);
  return options;
}

al::sample sampler_arguments::reduce(session& owner, datasets::dataset const& train,
                                     datasets::binned_dataset const& binned) const {
  al::sampler_options const options = this->options(owner, binned);
  auto const timer = owner.stage("reduce");
  // Where all labels are there, engines need not ask for them one by one.
  if (std::ranges::find(train.labels, datasets::unlabelled) == train.labels.end())
    return al::reduce(owner.ctx(), binned, options);
  return al::reduce(owner.ctx(), binned, options, [&](std::size_t d) {
    if (train.labels[d] == datasets::unlabelled)
      throw error({train.name, train.line_numbers[d], 1},
                  "this document was chosen and is not labelled, expected a label");
    return train.labels[d];
  });
}

}  // namespace rulerank::apps
