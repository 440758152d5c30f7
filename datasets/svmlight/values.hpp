#pragma once
// Parses the words of a document that are numbers or ids, for all formats.

#include "datasets/svmlight/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

struct document_label {
  std::int32_t label = 0;  ///< rounded down if fractional
  double value = 0;        ///< as written
};

/// Reads a label under the rules. Returns what was found and expected, or an empty text.
std::string read_label(std::string_view token, line_rules const& rules, document_label& out);
/// Returns " (or --unlabelled LABEL CONDITION)", or an empty text unless `suggest_unlabelled`.
std::string unlabelled_hint(line_rules const& rules, std::string_view condition,
                            std::int32_t label = -1);
/// Reads the value of a feature; `feature` is used in the message.
std::string read_value(std::string_view token, std::string_view feature, line_rules const& rules,
                       double& value);
/// Reads the number of a feature from digits.
std::string read_feature_number(std::string_view digits, line_rules const& rules,
                                std::uint32_t& feature);

}  // namespace rulerank::datasets
