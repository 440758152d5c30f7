#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>

// The combinatorial number system (Freitas 2017, Algorithm 15): numbers the k-combinations of {0,
// ..., n - 1} from 0, z = C(c_1, k) + C(c_2, k - 1) + ... + C(c_k, 1) with n > c_1 > ... > c_k. The
// published loop ends at 1 and never emits item 0; here it ends at 0.
namespace rulerank::inline v0::rules {

/// Returns n choose k, exactly. Throws `usage_error` if it exceeds 64 bits.
constexpr std::uint64_t binomial(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  if (k > n - k) k = n - k;
  __extension__ using wide = unsigned __int128;
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k; ++i) {
    wide const next = static_cast<wide>(result) * (n - k + i) / i;
    if (next > std::numeric_limits<std::uint64_t>::max())
      throw usage_error("a binomial coefficient exceeds 64 bits");
    result = static_cast<std::uint64_t>(next);
  }
  return result;
}

/// Returns the number of itemsets with 1 to max_size of n items: the sum of C(n, k) over k. Throws
/// as binomial().
constexpr std::uint64_t itemset_count(std::uint64_t n, std::uint64_t max_size) {
  std::uint64_t total = 0;
  for (std::uint64_t k = 1; k <= max_size && k <= n; ++k) {
    std::uint64_t const more = binomial(n, k);
    if (total > std::numeric_limits<std::uint64_t>::max() - more)
      throw usage_error("a number of itemsets exceeds 64 bits");
    total += more;
  }
  return total;
}

/// Writes the z-th combination of `out.size()` of n items, largest item first. z < C(n, k).
constexpr void combination_at(std::uint64_t z, std::uint32_t n, std::span<std::uint32_t> out) {
  std::uint64_t k = out.size();
  std::size_t filled = 0;
  for (std::uint32_t y = n; y-- > 0 && filled < out.size();) {
    std::uint64_t const count = binomial(y, k);
    if (count > z) continue;
    out[filled++] = y;
    z -= count;
    --k;
  }
}

/// Returns the number of a combination, largest item first: the inverse of combination_at.
constexpr std::uint64_t combination_index(std::span<std::uint32_t const> combination) {
  std::uint64_t z = 0;
  std::uint64_t k = combination.size();
  for (std::uint32_t c : combination) z += binomial(c, k--);
  return z;
}

}  // namespace rulerank::rules
