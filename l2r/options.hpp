#pragma once

#include "core/engines.hpp"
#include "rules/thresholds.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rulerank::l2r {

/// The engines of the score (docs/definitions.md, Ranking). All give the same bits.
enum class engine { automatic, lrar, project, tensor, plrar, profl_t, profl };

using engine_description = engine_entry<engine>;

/// Every engine that can be asked for.
std::span<engine_description const> engines();

/// The word of the command line ("auto" for `automatic`); engine_from throws `usage_error`.
std::string_view name_of(engine);
engine engine_from(std::string_view);

/// What a score depends on besides the training set and the document.
struct scoring_options {
  std::uint32_t rule_size = 3;   ///< counts the consequent: 1 <= |X| < rule_size; at least 2
  rules::thresholds thresholds;  ///< when a rule is valid, by its raw support and confidence
  double support_weight = 0;     ///< w: an itemset weighs n^w, n the documents that hold it
  double smoothing = 0;          ///< a: confidence (n_r + a prior_r) / (n + a); 0 or more
  /// Rules are made of this share of the features with items, those that tell most of the label in
  /// the training set (datasets::best_features); above 0, at most 1.
  double feature_share = 1;
};

/// How to rank.
struct ranker_options : scoring_options {
  l2r::engine engine = engine::automatic;
  /// Memory of lrar's cache of supports, or of profl's cache of itemsets on each GPU.
  std::size_t cache_bytes = std::size_t{4} << 30;
  /// tensor scores so many documents or more of a call together, item by item.
  std::size_t shared_from = 1500;
  /// Memory of each GPU that batches of documents may take; 0: what is free, less a reserve.
  std::size_t device_bytes = 0;
  bool wide_sums = false;  ///< 128-bit sums (in `project` also 32-bit rows) even where less
                           ///< suffices; for tests
};

/// Throws `usage_error` for what makes no sense.
void check(scoring_options const& options);

}  // namespace rulerank::l2r
