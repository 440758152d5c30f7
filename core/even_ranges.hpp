#pragma once

#include <algorithm>
#include <cstddef>

namespace rulerank::inline v0 {

struct index_range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const noexcept { return end - begin; }
};

/// The i-th of `parts` even ranges of [0, n); earlier ranges have at most one index more.
constexpr index_range even_range(std::size_t n, std::size_t parts, std::size_t i) {
  std::size_t const each = n / parts;
  std::size_t const more = n % parts;
  std::size_t const begin = i * each + std::min(i, more);
  return {begin, begin + each + (i < more ? 1 : 0)};
}

}  // namespace rulerank
