#pragma once

#include "l2r/model/json_fields.hpp"
#include "l2r/model/model.hpp"

#include <nlohmann/json.hpp>

// Units and origins of features in a model file.
namespace rulerank::inline v0::l2r {

/// The list `features` of a model file's header.
nlohmann::ordered_json to_json(feature_descriptions const& of);
/// Reads this list. Throws `error` for another type, a control character, and a feature that occurs
/// twice.
feature_descriptions feature_descriptions_from_json(json_fields const& header);

}  // namespace rulerank::l2r
