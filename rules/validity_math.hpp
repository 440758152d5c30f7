#pragma once

#include "core/host_device.hpp"

#include <cstdint>

// The step of validity for host and device alike: what a document that is counted into an itemset
// does to the itemset's valid rules (see docs/reference/definitions.md and rules::validity).
namespace rulerank::inline v0::rules {

/// What one more document does to the valid rules of an itemset that it holds.
struct rule_change {
  std::int32_t gained = 0;  ///< rules that became valid
  std::int32_t lost = 0;    ///< rules that became invalid
};

/// The thresholds of a `validity`, which must outlive it; trivially copyable, so that a kernel can
/// be given one. Several threads may count at once, each another itemset.
struct validity_view {
  std::uint32_t const* min_valid = nullptr;  ///< [max_n + 1] the smallest valid support among n
  std::uint32_t all_valid_up_to = 0;         ///< up to this n every support from 1 on is valid

  /// Counts one more document of class k, k < classes, into the supports of an itemset:
  /// supports[0] is n, the number of documents that hold it, supports[1 + r] those of class r.
  /// n < max_n before the call.
  RULERANK_HOST_DEVICE rule_change count(std::uint32_t* supports, std::uint32_t classes,
                                         std::uint32_t k) const {
    std::uint32_t const n = supports[0]++;
    if (n + 1 <= all_valid_up_to) return {supports[1 + k]++ == 0 ? 1 : 0, 0};
    std::uint32_t const before = min_valid[n];
    std::uint32_t const after = min_valid[n + 1];
    rule_change change;
    for (std::uint32_t r = 0; r < classes; ++r) {
      bool const was = supports[1 + r] >= before;
      if (r == k) ++supports[1 + r];
      bool const is = supports[1 + r] >= after;
      change.gained += static_cast<std::int32_t>(is && !was);
      change.lost += static_cast<std::int32_t>(was && !is);
    }
    return change;
  }
};

}  // namespace rulerank::rules
