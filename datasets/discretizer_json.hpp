#pragma once

#include "datasets/discretizer.hpp"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::datasets {

/// Lossless conversion; `discretizer_from_json` throws `error` naming `name` for invalid JSON.
nlohmann::json to_json(discretizer const& fitted);
discretizer discretizer_from_json(nlohmann::json const& json, std::string const& name);

}  // namespace rulerank::datasets
