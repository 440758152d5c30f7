#include "rules/thresholds.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::inline v0::rules {

void check(thresholds const& t) {
  if (!(t.min_confidence >= 0 && t.min_confidence <= 1))
    throw usage_error(
        fmt::format("found minimum confidence {}, expected 0 to 1", t.min_confidence));
}

validity::validity(thresholds const& t, std::uint32_t max_n) : table_(max_n + std::size_t{1}) {
  check(t);
  std::uint32_t const least = std::max<std::uint32_t>(t.min_support, 1);
  auto confident = [&](std::uint32_t sigma, std::uint32_t n) {
    return static_cast<double>(sigma) / static_cast<double>(n) >= t.min_confidence;
  };
  table_[0] = least;
  for (std::uint32_t n = 1; n <= max_n; ++n) {
    // The product differs from the answer by a few units at most; the division decides.
    auto sigma = static_cast<std::uint32_t>(t.min_confidence * static_cast<double>(n));
    while (sigma > 0 && confident(sigma - 1, n)) --sigma;
    while (!confident(sigma, n)) ++sigma;
    table_[n] = std::max(sigma, least);
  }
  auto const first_above =
      std::find_if(table_.begin(), table_.end(), [](std::uint32_t s) { return s > 1; });
  all_valid_up_to_ = first_above == table_.begin()
                         ? 0
                         : static_cast<std::uint32_t>(first_above - table_.begin() - 1);
}

}  // namespace rulerank::rules
