#pragma once

#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/bit_matrix.hpp"
#include "datasets/discretizer.hpp"
#include "rules/itemset.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::rules {

/// The vertical layout of a training set: one bit row per item over the documents, which are
/// ordered by label, highest first (ties by index), each label starting at an aligned word. A
/// class-wise support is a popcount over a range of the row: no AND with a class bitmap.
class vertical_index {
 public:
  /// Throws `usage_error` when a document has no label or there is no document.
  explicit vertical_index(datasets::binned_dataset const& training);

  std::size_t documents() const noexcept { return positions_.size(); }
  std::size_t items() const noexcept { return rows_.rows(); }
  /// Classes, labels descending; only labels that occur.
  std::size_t class_count() const noexcept { return labels_.size(); }
  std::int32_t class_label(std::size_t k) const { return labels_[k]; }
  std::uint32_t class_size(std::size_t k) const { return class_sizes_[k]; }
  /// The words of each class in a row; they start and end at multiples of 8 words.
  std::span<bitmaps::word_range const> ranges() const noexcept { return ranges_; }

  std::span<bitmaps::word const> row(item x) const { return rows_.row(x); }
  bitmaps::bit_matrix const& rows() const noexcept { return rows_; }
  /// The column (bit position) of each document.
  std::span<std::uint32_t const> positions() const noexcept { return positions_; }

  /// Class-wise supports of one item, and their sum.
  std::span<std::uint32_t const> item_supports(item x) const {
    return {item_supports_.data() + x * labels_.size(), labels_.size()};
  }
  std::uint32_t item_support(item x) const { return item_totals_[x]; }

  /// See SupportSource. Uses the scratch words given, one row long.
  std::uint32_t supports(std::span<item const> x, std::span<bitmaps::word> scratch,
                         std::span<std::uint32_t> counts) const;

 private:
  std::vector<std::int32_t> labels_;
  std::vector<std::uint32_t> class_sizes_;
  std::vector<bitmaps::word_range> ranges_;
  std::vector<std::uint32_t> positions_;
  bitmaps::bit_matrix rows_;
  std::vector<std::uint32_t> item_supports_;  // [items x classes]
  std::vector<std::uint32_t> item_totals_;
};

/// A vertical index with the scratch that one thread needs: a SupportSource.
class vertical_counter {
 public:
  explicit vertical_counter(vertical_index const& index)
      : index_(index), scratch_(index.rows().stride()) {}
  std::size_t class_count() const noexcept { return index_.class_count(); }
  std::int32_t class_label(std::size_t k) const { return index_.class_label(k); }
  std::uint32_t supports(std::span<item const> x, std::span<std::uint32_t> counts) {
    return index_.supports(x, scratch_, counts);
  }

 private:
  vertical_index const& index_;
  aligned_vector<bitmaps::word> scratch_;
};

}  // namespace rulerank::rules
