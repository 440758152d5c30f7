#pragma once

#include "tuning/search_space.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/tuner.hpp"

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::tuning {

/// One object: method, bins (a number or "cv"), missing_values, unlisted, norm.
nlohmann::ordered_json to_json(datasets::discretizer_options const& options);

/// The options of a member that is fitted by a recipe, but what is said of a card's features.
settings_file settings_of(l2r::recipe const& recipe);

/// A member as a settings file has it.
nlohmann::ordered_json member_json(settings_file const& member);

/// The settings file of the members (tuning/settings_file.hpp).
nlohmann::ordered_json to_json(std::vector<settings_file> const& members);

/// What `best_settings_text` writes.
nlohmann::ordered_json best_settings(context const& ctx, tuner& t, search_result const& result,
                                     std::size_t by, search_options const& options,
                                     eval::profile const& rules,
                                     std::optional<datasets::discretizer_options> discretizer);

/// One object: method, bins (a number or "cv"), norm (where it has one), rule_size, min_support,
/// min_confidence, support_weight, smoothing, feature_share; of another kind than rules the kind,
/// and its options instead of these six; a card and a joint member as a settings file has them.
nlohmann::ordered_json to_json(candidate const& c);

/// The lists; strengths by cross-fitting are the word cross-fit.
nlohmann::ordered_json to_json(search_space const& s);

nlohmann::ordered_json to_json(search_options const& options);

}  // namespace rulerank::tuning
