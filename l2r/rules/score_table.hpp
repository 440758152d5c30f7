#pragma once

#include "l2r/rules/options.hpp"
#include "l2r/rules/score_math.hpp"
#include "rules/vertical_index.hpp"

#include <cstdint>
#include <vector>

namespace rulerank::inline v0::l2r {

/// The itemsets that a document can hold: of at most rule_size - 1 of so many features. Throws
/// `usage_error` that names both where they are more than 64 bits count.
std::uint64_t itemsets_a_document(scoring_options const& options, std::size_t features);

/// The fixed-point tables of one training set and one set of options, made once and shared by all
/// engines (docs/reference/definitions.md, Ranking).
///
/// With I the itemsets that a document can hold and c the largest label, a sum stays below
/// 2^s x max(c, 1) x I x M, where M = max(1, n_max^w) bounds an itemset's weight and n_max is the
/// largest support of an item. 64 bits: s = 62 - ceil(log2(max(c, 1) I M)). The relative error of a
/// table entry is at most max over n of (n + a) / (2^s n^w); where that exceeds 1e-6 the sums take
/// 128 bits: s = 64, lower where 126 - ceil(log2(max(c, 1) I M)) is lower, and with a weight or
/// smoothing that bound itself. Without them the entries are floor((2^s + floor(n / 2)) / n), else
/// the real number rounded to the nearest integer.
class score_table {
 public:
  /// `features`: feature columns of the training set. Throws `usage_error` for options that make
  /// no sense, for more itemsets than itemsets_a_document counts, and for a support weight whose
  /// terms do not fit even 128 bits.
  score_table(rules::vertical_index const& index, std::size_t features,
              scoring_options const& options, bool wide_sums = false);

  /// Whether the sums take 128 bits; then `wide()` holds the tables, else `narrow()`.
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

  /// s: the fixed point has this many bits after the point.
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
