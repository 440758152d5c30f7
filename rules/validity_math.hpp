#pragma once

#include "core/host_device.hpp"

#include <cstdint>

// The incremental step of validity for host and device: how a document that is added to an
// itemset's counts changes its valid rules (see docs/reference/definitions.md and rules::validity).
namespace rulerank::inline v0::rules {

/// The change of an itemset's valid rules by one more document that contains it.
struct rule_change {
  std::int32_t gained = 0;  ///< rules that became valid
  std::int32_t lost = 0;    ///< rules that became invalid
};

/// A view of the thresholds of a `validity`, which must outlive it; trivially copyable, so it can
/// be an argument of a kernel. Several threads may count at once, each for another itemset.
struct validity_view {
  /// [max_n + 1] the smallest valid support among n documents.
  std::uint32_t const* min_valid = nullptr;
  std::uint32_t all_valid_up_to = 0;  ///< up to this n, every support of at least 1 is valid

  /// Adds one document of class k, k < classes, to the supports of an itemset: supports[0] is n,
  /// the number of documents that contain it; supports[1 + r] counts those of class r. Requires n <
  /// max_n.
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
