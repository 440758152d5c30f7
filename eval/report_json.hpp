#pragma once

#include "eval/report.hpp"
#include "eval/table.hpp"

#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::eval {

/// An object with all members of the profile, the systems' averages by fold, their queries if
/// requested, and the comparisons.
nlohmann::ordered_json to_json(report const& r);

/// Values [measures] by the measures' names.
nlohmann::ordered_json by_measure(std::vector<measure> const& measures,
                                  std::vector<double> const& values);

/// Every member of a profile by its command-line name.
nlohmann::ordered_json to_json(profile const& p);

/// The rows as an array of objects by column name; values that are not finite become null.
nlohmann::ordered_json to_json(table const& t);

}  // namespace rulerank::eval
