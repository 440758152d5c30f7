#pragma once

#include <cstdint>
#include <span>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::rules {

/// The items of a rule at most, its consequent included; 2 or more.
using rule_size = std::uint32_t;
inline constexpr rule_size size_to_choose = 4;  ///< default where documents are chosen (al)
inline constexpr rule_size size_to_rank = 3;    ///< default where rules rank (l2r)

/// When a rule X -> r counts: sigma documents with X and r, among n with X.
struct thresholds {
  std::uint32_t min_support = 1;  ///< sigma_min, a count; 0 means 1
  double min_confidence = 0.001;  ///< theta_min, compared with double(sigma) / double(n)
};

/// Throws `usage_error` unless 0 <= min_confidence <= 1.
void check(thresholds const& t);

/// The thresholds as one table: a rule is valid when sigma >= min_valid(n).
class validity {
 public:
  /// For n = 0..max_n documents that hold the antecedent.
  validity(thresholds const& t, std::uint32_t max_n);

  /// The smallest valid sigma among n documents, at least 1; n + 1 or more when none is.
  std::uint32_t min_valid(std::uint32_t n) const { return table_[n]; }
  /// Largest n below which every label that is present is valid, so that class-wise counts are not
  /// needed: min_valid(n) == 1 for all n <= this.
  std::uint32_t all_valid_up_to() const noexcept { return all_valid_up_to_; }
  std::span<std::uint32_t const> table() const noexcept { return table_; }

  /// Valid rules of an itemset with these class-wise supports, n their sum.
  std::uint32_t count(std::span<std::uint32_t const> supports, std::uint32_t n) const {
    std::uint32_t const least = table_[n];
    std::uint32_t valid = 0;
    for (std::uint32_t sigma : supports) valid += static_cast<std::uint32_t>(sigma >= least);
    return valid;
  }

 private:
  std::vector<std::uint32_t> table_;
  std::uint32_t all_valid_up_to_ = 0;
};

}  // namespace rulerank::rules
