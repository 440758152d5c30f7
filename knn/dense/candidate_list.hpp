#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace rulerank::inline v0::knn {

/// A row and the bounds of its key (definition.hpp).
struct bounded_row {
  double low;
  double high;
  std::uint32_t row;
  bool exact;  ///< low and high equal the key
};

/// The candidates: rows that may be among the k nearest of the added ones, or that may be near
/// enough. Needs memory for about 2 k rows; if the bounds leave more rows, computes their keys.
class candidate_list {
 public:
  /// k = 0: keeps all rows whose key may be at most `farthest`.
  candidate_list(std::size_t k, double farthest)
      : k_(k),
        capacity_(2 * k + 32),
        check_at_(k),
        limit_(k == 0 ? farthest : std::numeric_limits<double>::infinity()) {}

  /// Rows with a larger key are not needed.
  double limit() const { return limit_; }
  std::vector<bounded_row> const& rows() const { return rows_; }
  std::vector<bounded_row>& rows() { return rows_; }
  /// Whether keys were computed to free space.
  bool widened() const { return widened_; }

  /// Adds a row. `in_order`: all earlier rows have lower numbers. settle(rows) makes all rows
  /// exact. Returns whether the limit decreased.
  template <class Settle>
  bool add(bounded_row const& one, bool in_order, Settle const& settle) {
    // Among equal keys, the lower row number is nearer.
    if (one.low > limit_ || (k_ > 0 && in_order && one.low == limit_)) return false;
    rows_.push_back(one);
    if (k_ == 0 || rows_.size() < check_at_) return false;
    double const before = limit_;
    shrink(settle);
    check_at_ = capacity_;
    return limit_ < before;
  }

 private:
  static bool is_nearer(bounded_row const& a, bounded_row const& b) {
    return a.low < b.low || (a.low == b.low && a.row < b.row);
  }
  auto kth() { return rows_.begin() + static_cast<std::ptrdiff_t>(k_ - 1); }

  template <class Settle>
  void shrink(Settle const& settle) {
    std::nth_element(rows_.begin(), kth(), rows_.end(),
                     [](auto const& a, auto const& b) { return a.high < b.high; });
    limit_ = std::min(limit_, kth()->high);
    std::erase_if(rows_, [&](bounded_row const& one) { return one.low > limit_; });
    if (rows_.size() <= (k_ + capacity_) / 2) return;
    widened_ = true;
    settle(rows_);
    std::nth_element(rows_.begin(), kth(), rows_.end(), is_nearer);
    limit_ = std::min(limit_, kth()->low);
    rows_.resize(k_);
  }

  std::size_t k_;
  std::size_t capacity_;
  std::size_t check_at_;
  double limit_;
  bool widened_ = false;
  std::vector<bounded_row> rows_;
};

}  // namespace rulerank::knn
