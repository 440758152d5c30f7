#include "knn/sparse/tile_index.hpp"

#include "core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rulerank::knn {

namespace {

constexpr std::uint32_t lanes = 32;
/// A term is dense where more than one document in `dense_share` has it.
constexpr std::size_t dense_share = 8;

/// Orders the postings of a list for the lanes of a warp, each of which takes postings_a_lane at a
/// time: those that the lanes add at the same time lie in different banks as far as can be.
class bank_order {
 public:
  void spread(std::span<tile_posting> list) {
    if (list.size() < lanes) return;
    std::array<std::uint32_t, lanes + 1> begin{};
    for (tile_posting const& p : list) ++begin[p.offset % lanes + 1];
    for (std::uint32_t b = 0; b < lanes; ++b) begin[b + 1] += begin[b];
    by_bank_.resize(list.size());
    std::array<std::uint32_t, lanes> next;
    std::copy_n(begin.begin(), lanes, next.begin());
    for (tile_posting const& p : list) by_bank_[next[p.offset % lanes]++] = p;
    std::copy_n(begin.begin(), lanes, next.begin());
    std::uint32_t bank = 0;
    for (std::size_t from = 0; from < list.size(); from += std::size_t{lanes} * postings_a_lane) {
      std::size_t const size =
          std::min<std::size_t>(list.size() - from, std::size_t{lanes} * postings_a_lane);
      for (std::size_t turn = 0; turn < postings_a_lane; ++turn)
        for (std::size_t i = turn; i < size; i += postings_a_lane) {
          while (next[bank] == begin[bank + 1]) bank = (bank + 1) % lanes;
          list[from + i] = by_bank_[next[bank]++];
          bank = (bank + 1) % lanes;
        }
    }
  }

 private:
  std::vector<tile_posting> by_bank_;
};

}  // namespace

tile_index::tile_index(context const& ctx, sparse_index const& index, similarity metric,
                       std::uint32_t tile_size, tile_lists how)
    : documents_(index.size()),
      tile_size_(tile_size),
      terms_(index.terms()),
      by_norm_(metric != similarity::inner_product) {
  std::size_t const tiles = (documents_ + tile_size - 1) / tile_size;
  base_.resize(tiles);
  begin_.resize(tiles * (std::size_t{terms_} + 1));
  set_scale(index);
  if (how == tile_lists::frequent_dense) choose_dense(index);
  count_postings(ctx, index.documents(), how == tile_lists::over_banks ? postings_a_lane : 1);
  parallel_for(ctx, tiles, 1, [&](std::size_t tile, std::size_t, int) {
    fill_tile(index, tile);
    if (how == tile_lists::over_banks) spread_over_banks(tile);
  });
}

void tile_index::set_scale(sparse_index const& index) {
  if (!by_norm_) {
    largest_weight_ = 0;
    for (double const w : index.documents().weight) largest_weight_ = std::max(largest_weight_, w);
    double largest = 0;
    for (double const n : index.norms()) largest = std::max(largest, n);
    largest_norm_ = largest_weight_ > 0 ? largest / largest_weight_ : 0;
  }
  largest_norm_ *= 1 + 1e-9;
}

/// Gives the terms of many documents dense lists of zeros.
void tile_index::choose_dense(sparse_index const& index) {
  std::size_t dense_terms = 0;
  dense_row_.assign(terms_, not_dense);
  for (std::uint32_t t = 0; t < terms_; ++t)
    if (index.list(t).size() > documents_ / dense_share)
      dense_row_[t] = static_cast<std::uint32_t>(dense_terms++);
  std::size_t all = 0;
  for (std::size_t tile = 0; tile < tiles(); ++tile) {
    dense_base_.push_back(all);
    all += dense_terms * padded(tile);
  }
  dense_.assign(all, 0);
  dense_size_.assign(dense_terms * tiles(), 0);
}

/// Finds where the postings of each tile and term begin. `fill`: a list's size is a multiple of it.
void tile_index::count_postings(context const& ctx, sparse_rows const& rows, std::uint32_t fill) {
  parallel_for(ctx, tiles(), 1, [&](std::size_t tile, std::size_t, int) {
    std::uint32_t* const begin = begin_.data() + tile * (std::size_t{terms_} + 1);
    for (std::uint64_t i = rows.begin[first_of(tile)]; i < rows.begin[end_of(tile)]; ++i)
      if (rows.weight[i] != 0 && !is_dense(rows.term[i])) ++begin[rows.term[i] + 1];
    for (std::uint32_t t = 0; t < terms_; ++t)
      begin[t + 1] = begin[t] + (begin[t + 1] + fill - 1) / fill * fill;
  });
  std::uint64_t all = 0;
  for (std::size_t tile = 0; tile < tiles(); ++tile) {
    base_[tile] = all;
    all += begins_of(tile)[terms_];
  }
  postings_.resize(all);
}

void tile_index::fill_tile(sparse_index const& index, std::size_t tile) {
  sparse_rows const rows = index.documents();
  std::vector<std::uint32_t> next(begins_of(tile), begins_of(tile) + terms_);
  std::size_t const first = first_of(tile);
  for (std::size_t d = first; d < end_of(tile); ++d) {
    double const scale = unit / (by_norm_ ? index.norms()[d] : largest_weight_);
    for (std::uint64_t i = rows.begin[d]; i < rows.begin[d + 1]; ++i) {
      if (rows.weight[i] == 0) continue;
      double const weight = std::clamp(std::nearbyint(rows.weight[i] * scale), 1.0, unit);
      std::uint32_t const t = rows.term[i];
      if (is_dense(t)) {
        dense_[dense_base_[tile] + dense_row_[t] * padded(tile) + (d - first)] =
            static_cast<std::uint16_t>(weight);
        ++dense_size_[dense_row_[t] * tiles() + tile];
      } else {
        postings_[base_[tile] + next[t]++] = {static_cast<std::uint16_t>(d - first),
                                              static_cast<std::uint16_t>(weight)};
      }
    }
  }
}

void tile_index::spread_over_banks(std::size_t tile) {
  std::uint32_t const* const begin = begins_of(tile);
  bank_order order;
  for (std::uint32_t t = 0; t < terms_; ++t)
    order.spread({postings_.data() + base_[tile] + begin[t], begin[t + 1] - begin[t]});
}

}  // namespace rulerank::knn
