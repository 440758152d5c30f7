#pragma once

#include "core/aligned.hpp"
#include "core/context.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/tile_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// A posting within a tile: the document's offset in the tile, and its weight as an integer.
struct tile_posting {
  std::uint16_t offset;
  std::uint16_t weight;
};

/// The order of the postings of a list in a tile.
enum class tile_lists {
  by_document,  ///< for scalar code: ascending
  /// For vector instructions of CPUs: a frequent term has a weight for every document instead of
  /// postings.
  frequent_dense,
  /// For warps of GPUs: pads lists with weights of 0 to whole lanes, and places postings that are
  /// added simultaneously in different banks of shared memory.
  over_banks,
};
/// The weights of a term for every document of a tile, mostly 0, and the number of nonzero weights.
struct dense_list {
  std::span<std::uint16_t const> weights;
  std::size_t postings = 0;
};
/// Postings that a lane processes at a time.
inline constexpr std::uint32_t postings_a_lane = 4;

/// Posting lists divided into tiles of documents, with integer weights: weight times `unit`, after
/// division by the document's norm or, for inner products, by the largest weight. Nonzero weights
/// never round to 0, so a sum is 0 exactly if query and document share no term. Valid only for
/// weights of 0 and from 1e-100 to 1e100.
class tile_index {
 public:
  static constexpr double unit = 32767;

  /// `tile_size`: documents per tile, at most 65,536.
  tile_index(context const& ctx, sparse_index const& index, similarity metric,
             std::uint32_t tile_size, tile_lists how = tile_lists::by_document);

  std::size_t tiles() const noexcept { return base_.size(); }
  std::uint32_t documents_of(std::size_t tile) const {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(tile_size_, documents_ - tile * tile_size_));
  }
  std::span<tile_posting const> list(std::size_t tile, std::uint32_t term) const {
    std::uint32_t const* const begin = begins_of(tile) + term;
    return {postings_.data() + base_[tile] + begin[0], begin[1] - begin[0]};
  }
  /// Returns whether a term's lists are dense; `list` is then empty.
  bool is_dense(std::uint32_t term) const {
    return !dense_row_.empty() && dense_row_[term] != not_dense;
  }
  dense_list dense(std::size_t tile, std::uint32_t term) const {
    std::size_t const n = padded(tile);
    return {{dense_.data() + dense_base_[tile] + dense_row_[term] * n, n},
            dense_size_[dense_row_[term] * tiles() + tile]};
  }
  /// For devices: where the postings of each tile begin, where those of each term begin within the
  /// tile, and the postings of tiles first_tile .. last_tile - 1.
  std::span<std::uint64_t const> base() const noexcept { return base_; }
  std::span<std::uint32_t const> begin() const noexcept { return begin_; }
  std::span<tile_posting const> postings_of(std::size_t first_tile, std::size_t last_tile) const {
    std::uint64_t const end = last_tile < base_.size() ? base_[last_tile] : postings_.size();
    return {postings_.data() + base_[first_tile], postings_.data() + end};
  }
  /// The divisor of weights besides the norm: 1, or the largest weight.
  double largest_weight() const noexcept { return largest_weight_; }
  /// The largest norm of a document's weights after the division, rounded up.
  double largest_norm() const noexcept { return largest_norm_; }

 private:
  static constexpr std::uint32_t not_dense = std::numeric_limits<std::uint32_t>::max();
  void set_scale(sparse_index const& index);
  void choose_dense(sparse_index const& index);
  void count_postings(context const& ctx, sparse_index const& index, std::uint32_t fill);
  void fill_lists(sparse_index const& index, std::uint32_t term);
  void spread_over_banks(std::size_t tile);
  std::size_t first_of(std::size_t tile) const { return tile * tile_size_; }
  std::size_t end_of(std::size_t tile) const { return std::min(documents_, first_of(tile + 1)); }
  std::uint32_t const* begins_of(std::size_t tile) const {
    return begin_.data() + tile * (std::size_t{terms_} + 1);
  }
  std::size_t padded(std::size_t tile) const { return round_up(documents_of(tile), tile_padding); }

  std::size_t documents_;
  std::uint32_t tile_size_;
  std::uint32_t terms_;
  bool by_norm_;  // weights are divided by the document's norm
  double largest_weight_ = 1;
  double largest_norm_ = 1;
  std::vector<std::uint64_t> base_;   // [tiles] into postings_
  std::vector<std::uint32_t> begin_;  // [tiles][terms + 1] within the tile
  std::vector<tile_posting> postings_;
  std::vector<std::uint32_t> dense_row_;   // [terms]; empty: no list is dense
  std::vector<std::size_t> dense_base_;    // [tiles] into dense_
  aligned_vector<std::uint16_t> dense_;    // [tiles][dense terms][documents of the tile]
  std::vector<std::uint32_t> dense_size_;  // [dense terms][tiles] number of postings
};

}  // namespace rulerank::knn
