#pragma once

#include "al/sampler.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "datasets/feature_order.hpp"

#include <string>

namespace rulerank::inline v0::apps {

/// How a training set is reduced: --partitions --feature-order, and in `reduce` also --rule-size
/// --min-support --min-confidence --engine --max-documents --stop-when-dry --ties.
struct sampler_arguments {
  rules::rule_size rule_size = al::sampler_options{}.rule_size;
  std::string partitions = "auto";
  std::string feature_order = "chi2";
  std::uint32_t min_support = 1;
  double min_confidence = 0.001;
  std::size_t max_documents = 0;
  bool stop_when_dry = false;
  std::string ties = "index";
  std::string engine = "auto";

  /// Adds all options, for `reduce`.
  void add_to(CLI::App& verb);
  /// Adds only --partitions and --feature-order, for verbs that use the others for ranking.
  void add_partitioning_to(CLI::App& verb);
  void add_ties_to(CLI::App& verb);

  /// The value of --feature-order, and the file of file:P if any. Throws `usage_error`.
  struct order_choice {
    datasets::feature_order order;
    std::string path;
  };
  order_choice order() const;
  std::string feature_order_file() const { return order().path; }
  /// The value of --partitions, 0 for auto. Throws `usage_error`.
  std::size_t partition_count() const;
  /// Throws `usage_error` for an invalid feature order, number of partitions or engine.
  void check() const;
  /// The options, with the feature order computed for `binned`, and without tie keys.
  al::sampler_options options(session& owner, datasets::binned_dataset const& binned) const;
};

/// Reduces `binned`. Errors about unlabelled documents name their line in `train`.
al::sample reduce_labelled(session& owner, al::sampler_options const& options,
                           datasets::dataset const& train, datasets::binned_dataset const& binned);

}  // namespace rulerank::apps
