#include "apps/shared/arguments/sampler_arguments.hpp"

#include "al/sampling_seconds.hpp"
#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

constexpr std::string_view order_file_prefix = "file:";

}  // namespace

void sampler_arguments::add_partitioning_to(CLI::App& verb) {
  help_group const group(verb, "Sampling");
  offer_words(verb,
              value_option(verb, "--partitions auto|Q", partitions,
                           "Number of partitions of the features; auto: one for every 12 features"),
              {"auto"});
  offer_words(verb,
              value_option(verb, "--feature-order chi2|label|none|file:P", feature_order,
                           "Order in which partitions get features: by association with the other "
                           "features (chi2), by association with the label, by number (none), or "
                           "as file P lists their numbers, one on each line"),
              {"chi2", "label", "none", "file:"});
}

void sampler_arguments::add_ties_to(CLI::App& verb) {
  word_option(verb, "--ties", ties, {"index", "seeded"},
              "Choice among equally good documents: the last one of the file, as published "
              "(index), or a random one by --seed (seeded)");
}

void sampler_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, "Sampling");
  number_option(verb, "--rule-size", rule_size, rule_size_help, {2, 64});
  add_partitioning_to(verb);
  number_option(verb, "--min-support", min_support, "Fewest documents that a valid rule covers");
  number_option(verb, "--min-confidence", min_confidence,
                "Smallest confidence of a valid rule, 0 to 1", {0.0, 1.0});
  number_option(verb, "--max-documents", max_documents,
                "Number of documents to choose. When the rules run dry, larger rules, new items "
                "and random choice supply the rest; 0: as many as the rules choose");
  verb.add_flag("--stop-when-dry", stop_when_dry,
                "Choose fewer than --max-documents when the rules run dry, as published");
  add_ties_to(verb);
  engine_option(verb, "--engine", engine, al::engines());
}

sampler_arguments::order_choice sampler_arguments::order() const {
  if (feature_order == order_file_prefix)
    throw usage_error("--feature-order: found an empty path, expected file:P");
  if (feature_order.starts_with(order_file_prefix))
    return {datasets::feature_order::file, feature_order.substr(order_file_prefix.size())};
  return {datasets::feature_order_from(feature_order), {}};
}

std::size_t sampler_arguments::partition_count() const {
  if (partitions == "auto") return 0;
  auto const count = read_number<std::size_t>(partitions, {.least = 1});
  if (!count)
    throw usage_error(
        fmt::format("--partitions: found '{}', expected auto or a number from 1", partitions));
  return *count;
}

void sampler_arguments::check() const {
  if (stop_when_dry && max_documents == 0)
    throw usage_error("--stop-when-dry needs --max-documents");
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
  options.fill_budget = max_documents != 0 && !stop_when_dry;
  options.engine = al::engine_from(engine);
  for (al::engine_info const& e : al::engines())
    if (e.which == options.engine) {
      owner.expect_device_for(e.name, e.where);
      options.fill_budget &= e.source.empty();  // published engines stop instead
    }
  owner.choose_device(places_of(al::engines(), options.engine),
                      al::sampling_seconds(static_cast<double>(binned.documents),
                                           static_cast<double>(binned.feature_count())));
  auto const timer = owner.stage("order features");
  options.feature_order = datasets::order_features(owner.ctx(), binned, choice.order, choice.path);
  return options;
}

al::sample reduce_labelled(session& owner, al::sampler_options const& options,
                           datasets::dataset const& train, datasets::binned_dataset const& binned) {
  auto const timer = owner.stage("reduce");
  // If all labels exist, engines need not request them one by one.
  if (std::ranges::find(binned.labels, datasets::unlabelled) == binned.labels.end())
    return al::reduce(owner.ctx(), binned, options);
  return al::reduce(owner.ctx(), binned, options, [&](std::size_t d) {
    if (train.labels[d] == datasets::unlabelled)
      throw error(datasets::place_of(train, d),
                  "this chosen document has no label, expected a label, or --pending FILE to list "
                  "the documents to label");
    return train.labels[d];
  });
}

}  // namespace rulerank::apps
