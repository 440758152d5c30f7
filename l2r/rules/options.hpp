#pragma once

#include "core/engine_info.hpp"
#include "rules/thresholds.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::l2r {

/// The engines of the score (docs/reference/definitions.md, Ranking). All give the same bits.
enum class engine { automatic, lrar, project, tensor, plrar, profl_t, profl };

using engine_info = rulerank::engine_info<engine>;

/// Every engine that can be asked for.
std::span<engine_info const> engines();

/// The word of the command line ("auto" for `automatic`); engine_from throws `usage_error`.
std::string_view name_of(engine);
engine engine_from(std::string_view);

/// What a score depends on besides the training set and the document.
struct scoring_options {
  rules::rule_size rule_size =
      rules::size_to_rank;       ///< counts the consequent: 1 <= |X| < rule_size; at least 2
  rules::thresholds thresholds;  ///< when a rule is valid, by its raw support and confidence
  double support_weight = 0;     ///< w: an itemset weighs n^w, n the documents that hold it
  double smoothing = 0;          ///< a: confidence (n_r + a prior_r) / (n + a); 0 or more
  /// Rules are made of this share of the features with items, those that predict the label best in
  /// the training set (datasets::best_features); above 0, at most 1.
  double feature_share = 1;
};

/// Throws `usage_error` for what makes no sense.
void check(scoring_options const& options);

/// Gets about how many seconds a call is going to take, before the work begins.
using long_work_fn = std::function<void(double seconds)>;

/// How a score is computed: it does not depend on these.
struct engine_options {
  l2r::engine engine = engine::automatic;
  engine_settings settings{};  ///< of the engine
  /// Called by a call that takes more than some 10 s, of project and lrar; may be empty.
  long_work_fn long_work{};
};

/// How to rank: what a score depends on, and how it is computed.
struct ranker_options {
  scoring_options scoring;
  engine_options execution{};
};

}  // namespace rulerank::l2r
