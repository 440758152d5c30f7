#pragma once

#include "tuning/search_space.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/tuner.hpp"

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::tuning {

/// An object with method, bins (a number or "cv"), missing_values, unlisted, norm.
nlohmann::ordered_json to_json(datasets::discretizer_options const& options);

/// The options of a recipe's member, without a card's specifications of features.
settings_file settings_of(l2r::recipe const& recipe);

/// A member's object in a settings file.
nlohmann::ordered_json member_json(settings_file const& member);

/// The settings file of the members (tuning/settings_file.hpp).
nlohmann::ordered_json to_json(std::vector<settings_file> const& members);

/// The content of `best_settings_text`.
nlohmann::ordered_json best_settings(context const& ctx, tuner& t, search_result const& result,
                                     std::size_t by, search_options const& options,
                                     eval::profile const& rules,
                                     std::optional<datasets::discretizer_options> discretizer);

/// An object with method, bins (a number or "cv"), norm (if set), rule_size, min_support,
/// min_confidence, support_weight, smoothing, feature_share. Kinds other than rules have the kind
/// and its options instead of the last six; a card and a joint member have the form of settings
/// files.
nlohmann::ordered_json to_json(candidate const& c);

/// The lists; the strength for cross-fitting is the string cross-fit.
nlohmann::ordered_json to_json(search_space const& s);

nlohmann::ordered_json to_json(search_options const& options);

}  // namespace rulerank::tuning
