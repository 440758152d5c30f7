#pragma once

#include "core/device_memory.hpp"
#include "core/for_each_device.hpp"
#include "knn/sparse/tile_index.hpp"
#include "knn/sparse/tile_search_cuda.cuh"

#include <cstdint>
#include <span>

namespace rulerank::inline v0::knn {

/// A range of whole tiles of the index.
struct tile_range {
  index_range tiles;
  index_range documents;
};

/// A part of the index in a device's memory.
class part_on_device {
 public:
  part_on_device(sparse_index const& index, tile_index const& tiles, tile_range const& part)
      : part_(part), terms_(index.terms()) {
    sparse_rows const rows = index.documents();
    std::uint64_t const row_begin = rows.begin[part.documents.begin];
    std::uint64_t const row_size = rows.begin[part.documents.end] - row_begin;
    tile_base_ = copied(tiles.base().subspan(part.tiles.begin, part.tiles.size()));
    tile_begin_ = copied(tiles.begin().subspan(part.tiles.begin * (std::size_t{terms_} + 1),
                                               part.tiles.size() * (std::size_t{terms_} + 1)));
    postings_ = copied(tiles.postings_of(part.tiles.begin, part.tiles.end));
    row_begin_ = copied(rows.begin.subspan(part.documents.begin, part.documents.size() + 1));
    row_term_ = copied(rows.term.subspan(row_begin, row_size));
    row_weight_ = copied(rows.weight.subspan(row_begin, row_size));
    norms_ = copied(index.norms().subspan(part.documents.begin, part.documents.size()));
  }
  /// The device bytes of a part.
  static std::size_t bytes(sparse_index const& index, tile_index const& tiles,
                           tile_range const& part) {
    sparse_rows const rows = index.documents();
    std::uint64_t const row_size =
        rows.begin[part.documents.end] - rows.begin[part.documents.begin];
    return part.tiles.size() * (8 + 4 * (std::size_t{index.terms()} + 1)) +
           tiles.postings_of(part.tiles.begin, part.tiles.end).size_bytes() +
           part.documents.size() * 16 + 8 + row_size * 12;
  }

  std::uint32_t first_document() const { return static_cast<std::uint32_t>(part_.documents.begin); }
  tiles_view view(std::uint32_t tile_size) const {
    return {.base = tile_base_.data(),
            .begin = tile_begin_.data(),
            .postings = postings_.data(),
            .tiles = static_cast<std::uint32_t>(part_.tiles.size()),
            .terms = terms_,
            .documents = static_cast<std::uint32_t>(part_.documents.size()),
            .tile_size = tile_size};
  }
  rows_view rows() const {
    return {.begin = row_begin_.data(),
            .term = row_term_.data(),
            .weight = row_weight_.data(),
            .norms = norms_.data()};
  }

 private:
  template <class T>
  static device_buffer<T> copied(std::span<T const> from) {
    return device_buffer<T>(from);
  }
  tile_range part_;
  std::uint32_t terms_;
  device_buffer<std::uint64_t> tile_base_, row_begin_;
  device_buffer<std::uint32_t> tile_begin_, row_term_;
  device_buffer<tile_posting> postings_;
  device_buffer<double> row_weight_, norms_;
};

}  // namespace rulerank::knn
