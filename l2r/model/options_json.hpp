#pragma once

#include "l2r/linear/linear.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::l2r {

/// An object with rule_size, min_support, min_confidence, support_weight, smoothing, feature_share.
nlohmann::ordered_json to_json(scoring_options const& options);
/// Throws `error` naming `name` and the key, preceded by `prefix`, for a missing or invalid number
/// (feature_share may be missing: all features), and for invalid options.
scoring_options scoring_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                     std::string const& prefix = {});

/// An object with loss, points_penalty, smoothness; with `cross_fit`: loss, points_penalty (the
/// string cross-fit), folds.
nlohmann::ordered_json to_json(scorecard_options const& options);
/// Throws `error` naming `name` and the key, preceded by `prefix`, for a missing or invalid value.
scorecard_options scorecard_options_from(nlohmann::ordered_json const& json,
                                         std::string const& name, std::string const& prefix = {});

/// An object with strength (a number, or "cross-fit"), folds, missing_values, unlisted.
nlohmann::ordered_json to_json(linear_options const& options);
/// Throws `error` naming `name` and the key, preceded by `prefix`, for a missing or invalid value.
linear_options linear_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                   std::string const& prefix = {});

/// An object with max_pairs, folds.
nlohmann::ordered_json to_json(joint_options const& options);
/// Throws `error` naming `name` and the key, preceded by `prefix`, for a missing or invalid value.
joint_options joint_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                 std::string const& prefix = {});

/// An object with portable, features_normalized_within_queries and, if measured,
/// order_changed_in_halves.
nlohmann::ordered_json to_json(portability const& of);

/// An object with loss, chosen and frontier, a list of trials.
nlohmann::ordered_json to_json(card_sizes const& of);
/// Throws `error` naming `name` and the key, preceded by `prefix`, for a missing or invalid value.
card_sizes card_sizes_from(nlohmann::ordered_json const& json, std::string const& name,
                           std::string const& prefix = {});

/// A card size and a range of totals as model files store them.
nlohmann::ordered_json to_json(card_trial const& of);
nlohmann::ordered_json to_json(card_total const& of);

/// An object with name, reason, labels (the counts), members (kind and options of each).
nlohmann::ordered_json to_json(recommendation const& of, label_counts const& labels);

}  // namespace rulerank::l2r
