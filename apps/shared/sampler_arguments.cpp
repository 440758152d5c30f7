#include "apps/shared/sampler_arguments.hpp"

#include "apps/shared/options.hpp"
#include "core/error.hpp"
#include "datasets/feature_order.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

constexpr std::string_view file_prefix = "file:";
constexpr char const* group = "Sampling";

struct order_choice {
  datasets::feature_order order;
  std::string path;
};

order_choice order_from(std::string const& text) {
  if (text == file_prefix) throw usage_error("--feature-order: the path is empty, expected file:P");
  if (text.starts_with(file_prefix))
    return {datasets::feature_order::file, text.substr(file_prefix.size())};
  return {datasets::feature_order_from(text), {}};
}

/// 0 for auto.
std::size_t partitions_from(std::string const& text) {
  if (text == "auto") return 0;
  std::size_t partitions = 0;
  auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), partitions);
  if (status != std::errc{} || end != text.data() + text.size() || partitions == 0)
    throw usage_error(
        fmt::format("--partitions: found '{}', expected auto or a number from 1", text));
  return partitions;
}

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

std::string sampler_arguments::feature_order_file() const {
  return order_from(feature_order).path;
}

void sampler_arguments::check() const {
  partitions_from(partitions);
  order_from(feature_order);
  al::engine_from(engine);
}

al::sampler_options sampler_arguments::options(session& owner,
                                               datasets::binned_dataset const& binned) const {
  order_choice const choice = order_from(feature_order);
  owner.input(choice.path);
  al::sampler_options options;
  options.rule_size = rule_size;
  options.thresholds = {min_support, min_confidence};
  options.partitions = partitions_from(partitions);
  options.max_documents = max_documents;
  options.which = al::engine_from(engine);
  for (al::engine_info const& e : al::engines())
    if (e.which == options.which) owner.expect_device_for(e.name, where_of(e));
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

std::string ids_table(datasets::dataset const& train, al::sample const& sample) {
  std::string text = "line\tdocid\tpartition\titeration\trules\n";
  std::vector<std::size_t> const lines = datasets::input_places(train);
  for (al::choice const& c : sample.choices)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n", lines[c.document], train.docid(c.document),
                        c.partition, c.iteration, c.rules);
  return text;
}

void expect_items(datasets::dataset const& train, datasets::binned_dataset const& binned) {
  if (binned.feature_count() == 0)
    throw error({train.name, 1, 1},
                fmt::format("no feature of its {} documents has two bins, expected at least one "
                            "feature that varies",
                            train.size()));
}

}  // namespace rulerank::apps
