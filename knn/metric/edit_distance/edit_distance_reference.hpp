#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// For tests: the dynamic program by its definition (Wagner and Fischer 1974).
namespace rulerank::inline v0::knn {

inline std::size_t edit_distance_reference(std::span<std::uint32_t const> a,
                                           std::span<std::uint32_t const> b) {
  std::vector<std::vector<std::size_t>> cell(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j)
      cell[i][j] = i == 0   ? j
                   : j == 0 ? i
                            : std::min({cell[i - 1][j] + 1, cell[i][j - 1] + 1,
                                        cell[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
  return cell[a.size()][b.size()];
}

}  // namespace rulerank::knn
