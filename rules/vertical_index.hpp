#pragma once

#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/bit_matrix.hpp"
#include "datasets/discretizer.hpp"
#include "rules/itemset.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::rules {

/// The vertical layout of a training set: one bit row per item over the documents, which are
/// ordered by descending label (ties by index), each label beginning at an aligned word. A
/// class-wise support is a popcount over a range of the row, without an AND with a class bitmap.
class vertical_index {
 public:
  /// Throws `usage_error` if a document has no label or there are no documents.
  explicit vertical_index(datasets::binned_dataset const& training);

  std::size_t documents() const noexcept { return positions_.size(); }
  std::size_t items() const noexcept { return rows_.rows(); }
  /// The classes are the labels that occur, descending.
  std::size_t class_count() const noexcept { return labels_.size(); }
  std::int32_t class_label(std::size_t k) const { return labels_[k]; }
  std::uint32_t class_size(std::size_t k) const { return class_sizes_[k]; }
  /// The words of each class in a row; ranges start and end at multiples of 8 words.
  std::span<bitmaps::word_range const> ranges() const noexcept { return ranges_; }

  std::span<bitmaps::word const> row(item x) const { return rows_.row(x); }
  bitmaps::bit_matrix const& rows() const noexcept { return rows_; }
  /// The column (bit position) of each document.
  std::span<std::uint32_t const> positions() const noexcept { return positions_; }

  /// The class-wise supports of one item, and their sum.
  std::span<std::uint32_t const> item_supports(item x) const {
    return {item_supports_.data() + x * labels_.size(), labels_.size()};
  }
  std::uint32_t item_support(item x) const { return item_totals_[x]; }

 private:
  std::vector<std::int32_t> labels_;
  std::vector<std::uint32_t> class_sizes_;
  std::vector<bitmaps::word_range> ranges_;
  std::vector<std::uint32_t> positions_;
  bitmaps::bit_matrix rows_;
  std::vector<std::uint32_t> item_supports_;  // [items × classes]
  std::vector<std::uint32_t> item_totals_;
};

/// Counts the supports of itemsets in a vertical index, for one thread: a SupportSource. Keeps the
/// intersections of an itemset's first items for the next one (the f_x of Freitas 2017, figure
/// 3.6), so queries in the order of a walk take one AND per itemset.
class vertical_counter {
 public:
  explicit vertical_counter(vertical_index const& index)
      : index_(index), last_(index.rows().stride()) {}
  std::size_t class_count() const noexcept { return index_.class_count(); }
  std::int32_t class_label(std::size_t k) const { return index_.class_label(k); }
  std::uint32_t supports(std::span<item const> x, std::span<std::uint32_t> counts);

 private:
  /// Returns the kept intersection of the first k + 1 items.
  std::span<bitmaps::word const> prefix(std::size_t k) const {
    if (k == 0) return index_.row(kept_[0]);
    return rows_[k];
  }

  vertical_index const& index_;
  std::vector<item> kept_;                           // the items whose intersections are kept
  std::vector<aligned_vector<bitmaps::word>> rows_;  // [k] of kept_[0..k], k >= 1
  aligned_vector<bitmaps::word> last_;
};

static_assert(SupportSource<vertical_counter>);

}  // namespace rulerank::rules
