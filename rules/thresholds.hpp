#pragma once

#include <cstdint>
#include <span>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::rules {

/// The maximum number of items of a rule, including its consequent; at least 2.
using rule_size = std::uint32_t;
inline constexpr rule_size size_to_choose = 4;  ///< default for choosing documents (al)
inline constexpr rule_size size_to_rank = 3;    ///< default for ranking (l2r)

/// The conditions for a valid rule X -> r: sigma documents contain X and have label r, among n that
/// contain X.
struct thresholds {
  std::uint32_t min_support = 1;  ///< sigma_min, a count; 0 means 1
  double min_confidence = 0.001;  ///< theta_min, compared with double(sigma) / double(n)
};

/// Throws `usage_error` unless 0 <= min_confidence <= 1.
void check(thresholds const& t);

/// The thresholds as a table: a rule is valid if sigma >= min_valid(n).
class validity {
 public:
  /// For n = 0..max_n documents that contain the antecedent.
  validity(thresholds const& t, std::uint32_t max_n);

  /// Returns the smallest valid sigma among n documents, at least 1; n + 1 or more if there is
  /// none.
  std::uint32_t min_valid(std::uint32_t n) const { return table_[n]; }
  /// Returns the largest n such that min_valid is 1 up to n. Then every label that occurs is valid,
  /// and class-wise counts are not needed.
  std::uint32_t all_valid_up_to() const noexcept { return all_valid_up_to_; }
  std::span<std::uint32_t const> table() const noexcept { return table_; }

  /// Returns the number of valid rules of an itemset with these class-wise supports; n is their
  /// sum.
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
