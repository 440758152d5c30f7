#pragma once

#include "l2r/linear/linear.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::l2r {

/// One object: rule_size, min_support, min_confidence, support_weight, smoothing, feature_share.
nlohmann::ordered_json to_json(scoring_options const& options);
/// Throws `error` naming `name` and, before the key, `prefix` for a number that is missing (without
/// a feature share all features count) or does not fit, and for options that make no sense.
scoring_options scoring_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                     std::string const& prefix = {});

/// One object: loss, points_penalty, smoothness; with `cross_fit` loss, points_penalty (the word
/// cross-fit), folds.
nlohmann::ordered_json to_json(scorecard_options const& options);
/// Throws `error` naming `name` and, before the key, `prefix` for a value that is missing or does
/// not fit.
scorecard_options scorecard_options_from(nlohmann::ordered_json const& json,
                                         std::string const& name, std::string const& prefix = {});

/// One object: strength (a number, or "cross-fit"), folds, missing_values, unlisted.
nlohmann::ordered_json to_json(linear_options const& options);
/// Throws `error` naming `name` and, before the key, `prefix` for a value that is missing or does
/// not fit.
linear_options linear_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                   std::string const& prefix = {});

/// One object: max_pairs, folds.
nlohmann::ordered_json to_json(joint_options const& options);
/// Throws `error` naming `name` and, before the key, `prefix` for a value that is missing or does
/// not fit.
joint_options joint_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                 std::string const& prefix = {});

/// What a model file holds of a size of a card and of a range of totals.
nlohmann::ordered_json to_json(card_trial const& of);
nlohmann::ordered_json to_json(card_total const& of);

/// One object: name, reason, labels (the counts), members (kind and options of each).
nlohmann::ordered_json to_json(recommendation const& of, label_counts const& labels);

}  // namespace rulerank::l2r
