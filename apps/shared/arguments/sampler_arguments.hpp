#pragma once

#include "al/sampler.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "datasets/feature_order.hpp"

#include <string>

namespace rulerank::inline v0::apps {

/// How a training set is reduced: --partitions --feature-order, and in `reduce` itself
/// --rule-size --min-support --min-confidence --engine --max-documents --stop-when-dry --ties too.
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

  /// All options, as `reduce` has them.
  void add_to(CLI::App& verb);
  /// --partitions and --feature-order alone, for verbs that have the others for ranking.
  void add_partitioning_to(CLI::App& verb);
  void add_ties_to(CLI::App& verb);

  /// --feature-order, and the file of file:P or nothing. Throws `usage_error`.
  struct order_choice {
    datasets::feature_order order;
    std::string path;
  };
  order_choice order() const;
  std::string feature_order_file() const { return order().path; }
  /// --partitions, 0 for auto. Throws `usage_error`.
  std::size_t partition_count() const;
  /// Throws `usage_error` for a feature order, a number of partitions or an engine that is not
  /// known.
  void check() const;
  /// The options, with the features of `binned` in order and without keys of ties.
  al::sampler_options options(session& owner, datasets::binned_dataset const& binned) const;
};

/// Reduces `binned`; `train` names the lines in errors, which are those of documents without a
/// label.
al::sample reduce_labelled(session& owner, al::sampler_options const& options,
                           datasets::dataset const& train, datasets::binned_dataset const& binned);

}  // namespace rulerank::apps
