#pragma once

#include "datasets/dataset.hpp"

#include <span>
#include <string>

namespace rulerank::datasets {

/// Appends ` FEATURE:VALUE` for each entry, values round-trip exact, missing ones as `NaN`.
void append_entries(std::span<feature_value const> entries, std::string& text);

}  // namespace rulerank::datasets
