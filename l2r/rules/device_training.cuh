#pragma once

#include "bitmaps/bit_product.cuh"
#include "core/device_memory.hpp"
#include "l2r/rules/engine.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

// A prepared training set in one device's memory, and the view of it that kernels get.
namespace rulerank::inline v0::l2r {

inline constexpr std::uint32_t no_row = 0xFFFFFFFFU;

/// The bit rows: row x is item x; row `items` has all bits set, row `items + 1` none. A row
/// consists of `chunks` chunks of 256 bits. Classes, with labels descending, start at a chunk
/// boundary and are padded to one. Memory order: by chunk, then by row.
struct row_view {
  std::uint32_t const* words = nullptr;  ///< [chunks][items + 2][8]
  std::uint32_t items = 0;
  std::uint32_t chunks = 0;
  std::uint32_t classes = 0;
  std::uint32_t const* class_end = nullptr;  ///< [classes] the chunk after the class's last one
  /// [chunks] Multiplier of the running count after this chunk, for w = sum of r n_r: the label of
  /// the class that ends here minus the next label; 0 within a class.
  std::uint32_t const* step = nullptr;

  /// The eight words of one chunk of row r.
  __device__ std::uint32_t const* words_of(std::uint32_t r, std::uint32_t chunk) const {
    return words + (std::size_t{chunk} * (items + 2) + r) * bitmaps::product_words;
  }
  __device__ std::uint32_t word(std::uint32_t r, std::uint32_t w) const {
    return __ldg(words_of(r, w / bitmaps::product_words) + w % bitmaps::product_words);
  }
};

/// The test documents of one launch.
struct document_view {
  std::uint32_t documents = 0;
  std::uint32_t features = 0;
  std::uint8_t const* codes = nullptr;  ///< [features][stride]
  std::size_t stride = 0;
  std::uint32_t const* rows = nullptr;  ///< [features][256] the row of a code, or `no_row`

  __device__ std::uint32_t row_of(std::uint32_t f, std::uint32_t d) const {
    return rows[f * 256 + codes[f * stride + d]];
  }
};

/// Device copies of the tables of a score_view.
template <class Sum>
class device_score_table {
 public:
  explicit device_score_table(score_view<Sum> const& host)
      : factor_(copy_to_device(host.factor, host.size)),
        unit_(copy_to_device(host.unit, host.size)),
        extra_(copy_to_device(host.extra, std::size_t{host.classes} * host.size)),
        min_valid_(copy_to_device(host.min_valid, host.size)),
        labels_(copy_to_device(host.labels, host.classes)),
        view_(host) {
    view_.factor = factor_.data();
    view_.unit = unit_.data();
    view_.extra = host.extra == nullptr ? nullptr : extra_.data();
    view_.min_valid = min_valid_.data();
    view_.labels = labels_.data();
  }
  score_view<Sum> const& view() const noexcept { return view_; }

 private:
  device_buffer<Sum> factor_, unit_, extra_;
  device_buffer<std::uint32_t> min_valid_;
  device_buffer<std::int32_t> labels_;
  score_view<Sum> view_;
};

/// The contribution of each itemset of one item: [items].
template <class Sum>
std::vector<score_sums<Sum>> sums_of_single_items(prepared_training const& training) {
  rules::vertical_index const& index = training.index;
  std::vector<score_sums<Sum>> sums(index.items());
  for (rules::item x = 0; x < index.items(); ++x)
    sums[x] = training.table.view<Sum>().classwise(index.item_support(x),
                                                   index.item_supports(x).data(), 1);
  return sums;
}

/// A copy of a prepared training set in the memory of the current device. Immutable: several
/// threads may read it.
class device_training {
 public:
  explicit device_training(prepared_training const& training) {
    rules::vertical_index const& index = training.index;
    auto const items = static_cast<std::uint32_t>(index.items());
    std::vector<std::uint32_t> class_end;
    std::vector<std::uint32_t> step;
    for (std::size_t k = 0; k < index.class_count(); ++k) {
      auto const class_chunks =
          (index.class_size(k) + bitmaps::product_bits - 1) / bitmaps::product_bits;
      step.resize(step.size() + class_chunks);
      std::int32_t const next = k + 1 < index.class_count() ? index.class_label(k + 1) : 0;
      step.back() = static_cast<std::uint32_t>(index.class_label(k) - next);
      class_end.push_back(static_cast<std::uint32_t>(step.size()));
    }
    auto const chunks = static_cast<std::uint32_t>(step.size());
    std::size_t const rows = items + std::size_t{2};
    std::vector<std::uint32_t> words(chunks * rows * bitmaps::product_words);
    for (std::uint32_t x = 0; x < items; ++x) {
      auto const row = index.row(x);
      std::uint32_t chunk = 0;
      for (std::size_t k = 0; k < class_end.size(); ++k) {
        bitmaps::word const* from = row.data() + index.ranges()[k].begin;
        for (; chunk < class_end[k]; ++chunk) {
          std::uint32_t* to = words.data() + (chunk * rows + x) * bitmaps::product_words;
          for (std::uint32_t w = 0; w < bitmaps::product_words / 2; ++w) {
            *to++ = static_cast<std::uint32_t>(*from);
            *to++ = static_cast<std::uint32_t>(*from++ >> 32);
          }
        }
      }
    }
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
      std::fill_n(words.begin() +
                      static_cast<std::ptrdiff_t>((chunk * rows + items) * bitmaps::product_words),
                  bitmaps::product_words, ~0U);
    words_ = copy_to_device(words);
    class_end_ = copy_to_device(class_end);
    step_ = copy_to_device(step);
    rows_ = {.words = words_.data(),
             .items = items,
             .chunks = chunks,
             .classes = static_cast<std::uint32_t>(class_end.size()),
             .class_end = class_end_.data(),
             .step = step_.data()};

    std::size_t const features = training.features.size();
    std::vector<std::uint32_t> row_of(features * 256, no_row);
    for (std::size_t f = 0; f < features; ++f)
      for (std::uint32_t x = training.item_begin[f]; x < training.item_begin[f + 1]; ++x)
        if (index.item_support(x) > 0) row_of[f * 256 + x - training.item_begin[f]] = x;
    row_of_ = copy_to_device(row_of);
  }

  row_view const& rows() const noexcept { return rows_; }
  /// [features][256] the table for document_view::rows.
  std::uint32_t const* row_of_code() const noexcept { return row_of_.data(); }

 private:
  device_buffer<std::uint32_t> words_, class_end_, step_, row_of_;
  row_view rows_;
};

}  // namespace rulerank::l2r
