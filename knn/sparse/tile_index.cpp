#include "knn/sparse/tile_index.hpp"

#include "core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rulerank::knn {

namespace {

constexpr std::uint32_t lanes = 32;
/// A term that more than one document in so many has is dense.
constexpr std::size_t dense_share = 8;

/// Deals the postings of a list to the lanes of a warp, of which each takes postings_a_lane at a
/// time: those that the lanes add at the same time lie in different banks as far as can be.
class bank_order {
 public:
  void spread(std::span<tile_posting> list) {
    if (list.size() < lanes) return;
    std::array<std::uint32_t, lanes + 1> begin{};
    for (tile_posting const& p : list) ++begin[p.place % lanes + 1];
    for (std::uint32_t b = 0; b < lanes; ++b) begin[b + 1] += begin[b];
    by_bank_.resize(list.size());
    std::array<std::uint32_t, lanes> next;
    std::copy_n(begin.begin(), lanes, next.begin());
    for (tile_posting const& p : list) by_bank_[next[p.place % lanes]++] = p;
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
    : documents_(index.size()), tile_size_(tile_size), terms_(index.terms()) {
  sparse_rows const rows = index.documents();
  bool const by_norm = metric != similarity::inner_product;
  if (!by_norm) {
    largest_weight_ = 0;
    for (double const w : rows.weight) largest_weight_ = std::max(largest_weight_, w);
    double largest = 0;
    for (double const n : index.norms()) largest = std::max(largest, n);
    largest_norm_ = largest_weight_ > 0 ? largest / largest_weight_ : 0;
  }
  largest_norm_ *= 1 + 1e-9;

  std::uint32_t const fill = how == tile_lists::over_banks ? postings_a_lane : 1;
  std::size_t const tiles = (documents_ + tile_size - 1) / tile_size;
  base_.resize(tiles);
  begin_.resize(tiles * (std::size_t{terms_} + 1));
  auto const rows_of = [&](std::size_t tile) {
    return std::pair(tile * std::size_t{tile_size}, std::min(documents_, (tile + 1) * tile_size));
  };
  std::size_t dense_terms = 0;
  if (how == tile_lists::frequent_dense) {
    dense_row_.assign(terms_, not_dense);
    for (std::uint32_t t = 0; t < terms_; ++t)
      if (index.list(t).size() > documents_ / dense_share)
        dense_row_[t] = static_cast<std::uint32_t>(dense_terms++);
    std::size_t all = 0;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      dense_base_.push_back(all);
      all += dense_terms * padded(tile);
    }
    dense_.assign(all, 0);
    dense_size_.assign(dense_terms * tiles, 0);
  }
  parallel_for(ctx, tiles, 1, [&](std::size_t tile, std::size_t, int) {
    std::uint32_t* const begin = begin_.data() + tile * (std::size_t{terms_} + 1);
    auto const [from, to] = rows_of(tile);
    for (std::uint64_t i = rows.begin[from]; i < rows.begin[to]; ++i)
      if (rows.weight[i] != 0 && !is_dense(rows.term[i])) ++begin[rows.term[i] + 1];
    for (std::uint32_t t = 0; t < terms_; ++t)
      begin[t + 1] = begin[t] + (begin[t + 1] + fill - 1) / fill * fill;
  });
  std::uint64_t all = 0;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    base_[tile] = all;
    all += begin_[(tile + 1) * (std::size_t{terms_} + 1) - 1];
  }
  postings_.resize(all);
  parallel_for(ctx, tiles, 1, [&](std::size_t tile, std::size_t, int) {
    std::uint32_t const* const begin = begin_.data() + tile * (std::size_t{terms_} + 1);
    std::vector<std::uint32_t> next(begin, begin + terms_);
    auto const [from, to] = rows_of(tile);
    for (std::size_t d = from; d < to; ++d) {
      double const scale = unit / (by_norm ? index.norms()[d] : largest_weight_);
      for (std::uint64_t i = rows.begin[d]; i < rows.begin[d + 1]; ++i) {
        if (rows.weight[i] == 0) continue;
        double const weight = std::clamp(std::nearbyint(rows.weight[i] * scale), 1.0, unit);
        std::uint32_t const t = rows.term[i];
        if (is_dense(t)) {
          dense_[dense_base_[tile] + dense_row_[t] * padded(tile) + (d - from)] =
              static_cast<std::uint16_t>(weight);
          ++dense_size_[dense_row_[t] * tiles + tile];
        } else {
          postings_[base_[tile] + next[t]++] = {static_cast<std::uint16_t>(d - from),
                                                static_cast<std::uint16_t>(weight)};
        }
      }
    }
    if (how == tile_lists::over_banks) {
      bank_order order;
      for (std::uint32_t t = 0; t < terms_; ++t)
        order.spread({postings_.data() + base_[tile] + begin[t], begin[t + 1] - begin[t]});
    }
  });
}

}  // namespace rulerank::knn
