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

/// The engines that compute the score (docs/reference/definitions.md, Ranking). All give the same
/// bits.
enum class engine { automatic, lrar, project, tensor, plrar, profl_t, profl };

using engine_info = rulerank::engine_info<engine>;

/// Every selectable engine.
std::span<engine_info const> engines();

/// The command-line keyword ("auto" for `automatic`); engine_from throws `usage_error`.
std::string_view name_of(engine);
engine engine_from(std::string_view);

/// The options that determine a score.
struct scoring_options {
  rules::rule_size rule_size =
      rules::size_to_rank;       ///< counts the consequent: 1 <= |X| < rule_size; at least 2
  rules::thresholds thresholds;  ///< when a rule is valid, by its raw support and confidence
  double support_weight = 0;     ///< w: the weight of an itemset is n^w, n its support
  double smoothing = 0;          ///< a: the confidence is (n_r + a prior_r) / (n + a); 0 or more
  /// The share of the features with items that rules use: those that best predict the label in the
  /// training set (datasets::best_features); above 0, at most 1.
  double feature_share = 1;
};

/// Throws `usage_error` for invalid options.
void check(scoring_options const& options);

/// Called with the estimated seconds of a call before its work begins.
using long_work_fn = std::function<void(double seconds)>;

/// The options that do not affect scores, only how they are computed.
struct engine_options {
  l2r::engine engine = engine::automatic;
  engine_settings settings{};  ///< of the engine
  /// Called by project and lrar for calls of more than about 10 s; may be empty.
  long_work_fn long_work{};
};

/// How to rank: the options of the score and of its computation.
struct ranker_options {
  scoring_options scoring;
  engine_options execution{};
};

}  // namespace rulerank::l2r
