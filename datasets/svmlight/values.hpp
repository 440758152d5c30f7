#pragma once
// The words of a document that are numbers or ids, whatever stands between them.

#include "datasets/svmlight/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

struct document_label {
  std::int32_t label = 0;  ///< rounded down where it is fractional
  double value = 0;        ///< as it stands
};

/// Reads a label as the rules have it. Returns what was found and expected, or nothing.
std::string read_label(std::string_view token, line_rules const& rules, document_label& out);
/// Returns " (or set unlabelled to LABEL CONDITION)", or nothing unless `suggest_unlabelled`.
std::string unlabelled_hint(line_rules const& rules, std::string_view condition,
                            std::int32_t label = -1);
/// Reads the value of a feature likewise; `feature` stands in what is returned.
std::string read_value(std::string_view token, std::string_view feature, line_rules const& rules,
                       double& value);
/// Reads the number of a feature, which is made of digits, likewise.
std::string read_feature_number(std::string_view digits, line_rules const& rules,
                                std::uint32_t& feature);

}  // namespace rulerank::datasets
