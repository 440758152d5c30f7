#pragma once

#include "core/error.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

// Parsing of all numbers on the command line: decimal, without surrounding blanks, base prefix or
// leading zeros (which mean octal to some), finite, in range.
namespace rulerank::inline v0::apps {

template <class Number>
struct number_range {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
};

/// The expected values, for messages, such as "an integer from 2 to 64".
template <class Number>
std::string expected_number(number_range<Number> within) {
  std::string const what = std::is_integral_v<Number> ? "an integer" : "a number";
  number_range<Number> const all;
  if (within.most != all.most)
    return within.least == all.least && !std::is_unsigned_v<Number>
               ? fmt::format("{} of {} or less", what, within.most)
               : fmt::format("{} from {} to {}", what, within.least, within.most);
  if (within.least == all.least && !std::is_unsigned_v<Number>) return what;
  bool const long_range = !std::is_integral_v<Number> || sizeof(Number) > 4;
  return long_range ? fmt::format("{} of {} or more", what, within.least)
                    : fmt::format("{} from {} to {}", what, within.least, within.most);
}

/// Empty for text that is not such a number.
template <class Number>
std::optional<Number> read_number(std::string_view word, number_range<Number> within = {}) {
  std::string_view const digits = word.substr(word.starts_with('-') ? 1 : 0);
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return {};
  Number value{};
  auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc{} || end != word.data() + word.size()) return {};
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(value)) return {};
  if (value < within.least || value > within.most) return {};
  return value;
}

/// The error message for such text.
template <class Number>
std::string no_number(std::string_view word, number_range<Number> within) {
  return fmt::format("found '{}', expected {}", word, expected_number(within));
}

/// Parses a number within an option's value. Throws `usage_error` for anything else.
template <class Number>
Number number_from(std::string_view option, std::string_view word,
                   number_range<std::type_identity_t<Number>> within = {}) {
  if (auto const value = read_number<Number>(word, within)) return *value;
  throw usage_error(fmt::format("{}: {}", option, no_number<Number>(word, within)));
}

}  // namespace rulerank::apps
