#include "datasets/input/number.hpp"

#include "datasets/input/fields.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace rulerank::inline v0::datasets {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// For a number that std::from_chars reports as out of range (at least 1e308 or at most 1e-323):
/// returns whether it is large, by the power of ten of the first nonzero digit.
bool is_large(std::string_view digits) {
  std::size_t const e = std::min(digits.find_first_of("eE"), digits.size());
  std::string_view const mantissa = digits.substr(0, e);
  std::size_t const point = std::min(mantissa.find('.'), mantissa.size());
  std::size_t const first = mantissa.find_first_of("123456789");
  auto const power = static_cast<long long>(point) - static_cast<long long>(first);
  std::string_view exponent = digits.substr(std::min(e + 1, digits.size()));
  bool const negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  long long shift = 0;
  if (!exponent.empty()) {
    auto const [end, status] =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), shift);
    if (status == std::errc::result_out_of_range) return !negative;
  }
  return (negative ? -shift : shift) > -power;
}

}  // namespace

number_kind read_number(std::string_view token, double& value) {
  if (same_word(token, "null")) {
    value = std::numeric_limits<double>::quiet_NaN();
    return number_kind::missing;
  }
  bool const negative = token.starts_with('-');
  std::string_view digits = token;
  if (negative || token.starts_with('+')) digits.remove_prefix(1);
  if (same_word(digits, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
    return number_kind::missing;
  }
  if (same_word(digits, "inf") || same_word(digits, "infinity")) return number_kind::infinite;
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return number_kind::malformed;
  double magnitude = 0;
  char const* const last = digits.data() + digits.size();
  auto const [end, status] = std::from_chars(digits.data(), last, magnitude);
  if (status == std::errc::invalid_argument || end != last) return number_kind::malformed;
  if (status == std::errc::result_out_of_range) {
    if (is_large(digits)) return number_kind::too_large;
    magnitude = 0;
  }
  value = negative ? -magnitude : magnitude;
  return number_kind::finite;
}

}  // namespace rulerank::datasets
