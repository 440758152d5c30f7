#pragma once

#include "eval/report.hpp"
#include "eval/table.hpp"

#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::eval {

/// One object with the profile in every part, the systems' averages by fold, their queries where
/// asked for, and the comparisons.
nlohmann::ordered_json to_json(report const& r);

/// Values, one a measure, by the names of the measures.
nlohmann::ordered_json by_measure(std::vector<measure> const& measures,
                                  std::vector<double> const& values);

/// Every part of a profile by its command-line name.
nlohmann::ordered_json to_json(profile const& p);

/// The rows as an array of objects by column name; what is not finite becomes null.
nlohmann::ordered_json to_json(table const& t);

}  // namespace rulerank::eval
