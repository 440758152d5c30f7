#include "core/error.hpp"
#include "rules/mining/miner.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace rulerank::inline v0::rules {
namespace {

__extension__ using wide_number = unsigned __int128;
constexpr unsigned most_decimals = 36;  // so that 100 x 10^decimals is a `wide_number`

bool read_digits(std::string_view text, std::uint64_t& value) {
  auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

/// Reads digits with at most `most_decimals` behind a point; value is times 10^decimals.
bool read_decimal(std::string_view text, std::uint64_t& value, unsigned& decimals) {
  std::size_t const point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  std::string_view const behind = text.substr(std::min(point + 1, text.size()));
  digits += behind;
  decimals = static_cast<unsigned>(behind.size());
  return behind.size() <= most_decimals && (point == text.size() || !behind.empty()) &&
         read_digits(digits, value);
}

wide_number power_of_ten(unsigned n) {
  wide_number p = 1;
  for (; n > 0; --n) p *= 10;
  return p;
}

}  // namespace

std::uint32_t support_bound::of(std::uint64_t n) const {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (!percent) return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(value, 1, most));
  wide_number const whole = wide_number{100} * power_of_ten(decimals);
  wide_number const least = (wide_number{value} * n + whole - 1) / whole;
  return static_cast<std::uint32_t>(std::clamp<wide_number>(least, 1, most));
}

support_bound support_bound_from(std::string_view text) {
  support_bound bound;
  bool valid = false;
  if (text.ends_with('%')) {
    bound.percent = true;
    valid = read_decimal(text.substr(0, text.size() - 1), bound.value, bound.decimals) &&
            bound.value <= 100 * power_of_ten(bound.decimals);
  } else {
    valid = read_digits(text, bound.value);
  }
  if (!valid)
    throw usage_error("found '" + std::string(text) +
                      "', expected a count of transactions such as 500, or a share such as 10%, of "
                      "at most 19 digits and without an exponent");
  return bound;
}

double share_from(std::string_view text) {
  // Any number of digits; a percentage is a share with another exponent, so it is rounded once.
  std::string number(text);
  if (number.ends_with('%')) number.replace(number.size() - 1, 1, "e-2");
  bool const is_plain = !text.empty() && text.find_first_not_of("0123456789.%") == text.npos &&
                        text.front() != '.' && number.find(".e") == number.npos &&
                        number.back() != '.';
  double share = 0;
  auto const [end, status] = std::from_chars(number.data(), number.data() + number.size(), share);
  if (is_plain && status == std::errc{} && end == number.data() + number.size() && share <= 1)
    return share;
  throw usage_error("found '" + std::string(text) +
                    "', expected a share from 0 to 1 such as 0.8, or in percent such as 80%");
}

}  // namespace rulerank::rules
