#include "core/error.hpp"
#include "rules/mining/miner.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

namespace rulerank::inline v0::rules {
namespace {

__extension__ using wide_number = unsigned __int128;
constexpr int most_decimals = 36;  // so that 100 × 10^decimals fits a `wide_number`
constexpr int most_exponent = 1000;

bool read_digits(std::string_view text, std::uint64_t& value) {
  auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

/// A share in decimal notation: mantissa × 10^exponent.
struct written_share {
  std::string digits;  // of the mantissa
  int decimals = 0;    // digits after the decimal point
  int exponent = 0;
};

/// Reads 0.1, .1, 1e-1 and 10%; empty if it is none of them.
std::optional<written_share> read_share(std::string_view text) {
  written_share share;
  if (text.ends_with('%')) {
    share.exponent = -2;
    text.remove_suffix(1);
  }
  std::size_t const mark = std::min(text.find_first_of("eE"), text.size());
  std::string_view exponent = text.substr(mark);
  if (!exponent.empty()) {
    exponent.remove_prefix(exponent.substr(1).starts_with('+') ? 2 : 1);
    int of_ten = 0;
    auto const [end, status] =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), of_ten);
    if (status != std::errc{} || end != exponent.data() + exponent.size() ||
        std::abs(of_ten) > most_exponent)
      return std::nullopt;
    share.exponent += of_ten;
  }
  text = text.substr(0, mark);
  std::size_t const point = std::min(text.find('.'), text.size());
  share.digits = text.substr(0, point);
  if (point < text.size()) {
    share.digits += text.substr(point + 1);
    share.decimals = static_cast<int>(text.size() - point) - 1;
    if (share.decimals == 0) return std::nullopt;
  }
  if (share.digits.empty() || share.digits.find_first_not_of("0123456789") != share.digits.npos)
    return std::nullopt;
  return share;
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
  if (text.find_first_of(".eE%") == text.npos) {
    valid = read_digits(text, bound.value);
  } else if (auto const share = read_share(text)) {
    bound.percent = true;
    int const decimals = share->decimals - share->exponent - 2;
    std::string const zeros(static_cast<std::size_t>(std::max(-decimals, 0)), '0');
    bound.decimals = static_cast<unsigned>(std::max(decimals, 0));
    valid = decimals <= most_decimals && read_digits(share->digits + zeros, bound.value) &&
            bound.value <= 100 * power_of_ten(bound.decimals);
  }
  if (!valid)
    throw usage_error("found '" + std::string(text) +
                      "', expected a count of transactions such as 500, or a share such as 0.1, "
                      "1e-3 or 10%, of at most 19 digits");
  return bound;
}

double share_from(std::string_view text) {
  // Any number of digits. A percentage is read as a share with another exponent, so it is rounded
  // only once.
  double value = 0;
  if (auto const share = read_share(text)) {
    std::string const number =
        share->digits + "e" + std::to_string(share->exponent - share->decimals);
    auto const [end, status] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (status == std::errc{} && value <= 1) return value;
  }
  throw usage_error("found '" + std::string(text) +
                    "', expected a share from 0 to 1 such as 0.8 or 1e-3, or in percent such as "
                    "80%");
}

}  // namespace rulerank::rules
