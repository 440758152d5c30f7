#pragma once

#include "l2r/rules/options.hpp"
#include "l2r/rules/score_math.hpp"
#include "rules/vertical_index.hpp"

#include <cstdint>
#include <vector>

namespace rulerank::inline v0::l2r {

/// The number of itemsets of at most rule_size - 1 items of different features. Throws
/// `usage_error` naming both numbers if it does not fit 64 bits.
std::uint64_t itemsets_a_document(scoring_options const& options, std::size_t features);

/// The fixed-point tables for one training set and one set of options, shared by all engines
/// (docs/reference/definitions.md, Ranking).
///
/// Let I be the number of itemsets that a document can hold, c the largest label, n_max the largest
/// support of an item, and M = max(1, n_max^w), a bound on an itemset's weight. A sum stays below
/// 2^s x max(c, 1) x I x M. With 64 bits, s = 62 - ceil(log2(max(c, 1) I M)). The relative error of
/// a table entry is at most max over n of (n + a) / (2^s n^w). If that exceeds 1e-6, sums take 128
/// bits: s = min(64, 126 - ceil(log2(max(c, 1) I M))), and with a weight or smoothing the second
/// bound itself. Without weight and smoothing the entries are floor((2^s + floor(n / 2)) / n), else
/// the real number rounded to the nearest integer.
class score_table {
 public:
  /// `features`: feature columns of the training set. Throws `usage_error` for invalid options, for
  /// a number of itemsets that does not fit 64 bits, and for a support weight whose terms do not
  /// fit 128 bits.
  score_table(rules::vertical_index const& index, std::size_t features,
              scoring_options const& options, bool wide_sums = false);

  /// Whether sums take 128 bits: then `wide()` holds the tables, else `narrow()`.
  bool is_wide() const noexcept { return is_wide_; }
  score_view<std::uint64_t> narrow() const;
  score_view<wide_sum> wide() const;
  /// view<Sum>() is narrow() or wide().
  template <class Sum>
  score_view<Sum> view() const {
    if constexpr (sizeof(Sum) == sizeof(std::uint64_t))
      return narrow();
    else
      return wide();
  }

  /// s: the number of bits after the binary point.
  int shift() const noexcept { return shift_; }
  /// The score of a document without a valid rule.
  double mean_label() const noexcept { return mean_label_; }
  std::size_t max_itemset_size() const noexcept { return max_itemset_size_; }

 private:
  template <class Sum>
  struct tables {
    std::vector<Sum> factor, unit, extra;
  };
  template <class Sum>
  void fill(tables<Sum>& to, scoring_options const& options) const;
  template <class Sum>
  score_view<Sum> view_of(tables<Sum> const& from) const;

  std::vector<std::int32_t> labels_;
  std::vector<double> priors_;
  std::vector<std::uint32_t> min_valid_;
  std::uint32_t folded_up_to_ = 0;
  int shift_ = 0;
  bool is_wide_ = false;
  double mean_label_ = 0;
  std::size_t max_itemset_size_ = 0;
  tables<std::uint64_t> narrow_;
  tables<wide_sum> wide_;
};

}  // namespace rulerank::l2r
