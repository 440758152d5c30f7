#pragma once

#include <cstdint>
#include <string_view>

namespace rulerank::rules {

/// A smallest support as people write it: a count ("500"), or a share of the transactions with a
/// percent sign ("10%", "0.05%").
struct support_bound {
  std::uint64_t value = 0;  ///< the count, or percent x 10^decimals
  unsigned decimals = 0;
  bool percent = false;

  /// The fewest of n transactions that reach it, exactly; at least 1.
  std::uint32_t of(std::uint64_t n) const;
};

/// Throws `usage_error` for what is neither, for more than 100 % and for more than 9 decimals.
support_bound support_bound_from(std::string_view text);

/// A smallest share such as a confidence: "80%" or "0.8"; 0 to 1. Throws `usage_error`.
double share_from(std::string_view text);

}  // namespace rulerank::rules
