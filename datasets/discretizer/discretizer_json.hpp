#pragma once

#include "datasets/discretizer.hpp"

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::datasets {

/// The most cuts of a feature: 250 bins and "missing" have codes below `no_item`.
inline constexpr std::size_t most_cuts = 249;

/// Lossless conversion; `discretizer_from_json` throws `error` naming `name` for invalid JSON.
nlohmann::json to_json(discretizer const& fitted);
discretizer discretizer_from_json(nlohmann::json const& json, std::string const& name);

}  // namespace rulerank::datasets
