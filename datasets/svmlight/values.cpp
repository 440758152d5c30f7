#include "datasets/svmlight/values.hpp"

#include "datasets/input/number.hpp"
#include "datasets/input/text_source.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::int32_t largest_label = std::numeric_limits<std::int32_t>::max();

}  // namespace

std::string read_label(std::string_view token, line_rules const& rules, document_label& out) {
  double& value = out.value;
  number_kind const kind = read_number(token, value);
  char const* const number = rules.fractional_labels ? "a number" : "an integer";
  if (rules.any_label)
    return kind == number_kind::finite
               ? std::string()
               : fmt::format("found label {}, expected a finite number", rulerank::quoted(token));
  if (kind == number_kind::malformed)
    return fmt::format("label {} is not a number, expected {} of 0 or more",
                       rulerank::quoted(token), number);
  if (kind == number_kind::missing || kind == number_kind::infinite)
    return fmt::format("found label {}, expected {} of 0 or more", rulerank::quoted(token), number);
  bool const fractional = kind == number_kind::finite && value != std::floor(value);
  if (fractional && !rules.fractional_labels)
    return fmt::format(
        "label {} is fractional, expected {} of 0 or more, because labels are classes; only "
        "evaluate reads fractional labels",
        rulerank::quoted(token), number);
  if (kind == number_kind::too_large || std::abs(value) > largest_label)
    return fmt::format("label {} is out of range, expected {} of 0 to {}", rulerank::quoted(token),
                       number, largest_label);
  out.label = static_cast<std::int32_t>(std::floor(value));
  if (rules.unlabelled && out.label == *rules.unlabelled && !fractional) {
    out.label = unlabelled;
    value = unlabelled;
  } else if (out.label < 0) {
    std::string text = fmt::format("label {} is negative, expected {} of 0 or more",
                                   rulerank::quoted(token), number);
    if (rules.unlabelled)
      text += fmt::format(" (or {} for a document without a label)", *rules.unlabelled);
    else if (!fractional)
      text += unlabelled_hint(rules, "if it means that the document has no label", out.label);
    return text;
  }
  return {};
}

std::string unlabelled_hint(line_rules const& rules, std::string_view condition,
                            std::int32_t label) {
  if (!rules.suggest_unlabelled) return {};
  return fmt::format(" (or {}{} {})", rules.options_are_arguments ? "unlabelled=" : "--unlabelled ",
                     label, condition);
}

std::string read_value(std::string_view token, std::string_view feature, line_rules const& rules,
                       double& value) {
  switch (read_number(token, value)) {
    case number_kind::missing:
      return rules.missing_values
                 ? std::string()
                 : fmt::format("value {} of feature {} is missing, expected a finite number",
                               rulerank::quoted(token), feature);
    case number_kind::finite:
      return std::abs(value) <= rules.largest
                 ? std::string()
                 : fmt::format("value {} of feature {} is too large, expected at most {}",
                               rulerank::quoted(token), feature, rules.largest);
    case number_kind::infinite:
    case number_kind::too_large:
      return fmt::format(
          "value {} of feature {} is {}, expected a finite number", rulerank::quoted(token),
          feature,
          token.find_first_of("0123456789") == token.npos ? "infinite" : "too large for a double");
    case number_kind::malformed:
      break;
  }
  return fmt::format(
      "value {} of feature {} is not a number, expected a number such as 0.5, or nan or NULL",
      rulerank::quoted(token), feature);
}

std::string read_feature_number(std::string_view digits, line_rules const& rules,
                                std::uint32_t& feature) {
  std::uint64_t number = 0;
  for (char const c : digits) {
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
    if (number > max_feature)
      return fmt::format("feature {} is too large, expected at most {}", rulerank::quoted(digits),
                         max_feature);
  }
  if (number == 0 && !rules.zero_based)
    return fmt::format("found feature 0, expected 1 or more (or {} if features begin with 0)",
                       rules.options_are_arguments ? "zero_based=True" : "--zero-based");
  feature = static_cast<std::uint32_t>(number);
  return {};
}

}  // namespace rulerank::datasets
