#include "knn/sparse/tile_index.hpp"

#include "core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t lanes = 32;
/// A term is dense if more than one in `dense_share` documents has it.
constexpr std::size_t dense_share = 8;
/// Terms that a thread processes at a time.
constexpr std::size_t terms_together = 64;

/// Rounds to the nearest integer, ties to even, for numbers much smaller than 2^52: a sum of that
/// size has no fractional digits.
double nearest_integer(double x) {
  constexpr double no_digits = 0x1.8p52;
  return (x + no_digits) - no_digits;
}

/// Orders the postings of a list for the lanes of a warp, each of which reads postings_a_lane at a
/// time. Postings that lanes add simultaneously are in different banks as far as possible.
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
  count_postings(ctx, index, how == tile_lists::over_banks ? postings_a_lane : 1);
  // One term after the other, so that posting lists are read and written sequentially.
  parallel_for(ctx, terms_, terms_together, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t t = begin; t < end; ++t) fill_lists(index, static_cast<std::uint32_t>(t));
  });
  if (how == tile_lists::over_banks)
    parallel_for(ctx, tiles, 1,
                 [&](std::size_t tile, std::size_t, int) { spread_over_banks(tile); });
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

/// Assigns dense lists of zeros to frequent terms.
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

/// Computes where the postings of each tile and term begin. `fill`: the size of a list is a
/// multiple of it.
void tile_index::count_postings(context const& ctx, sparse_index const& index, std::uint32_t fill) {
  parallel_for(ctx, terms_, terms_together, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t t = begin; t < end; ++t) {
      if (is_dense(static_cast<std::uint32_t>(t))) continue;
      auto const documents = index.list(static_cast<std::uint32_t>(t)).document;
      // Document numbers ascend, so a binary search finds where the next tile begins.
      for (auto at = documents.begin(); at != documents.end();) {
        std::size_t const tile = *at / tile_size_;
        auto const behind = std::lower_bound(at, documents.end(), first_of(tile + 1));
        begin_[tile * (std::size_t{terms_} + 1) + t + 1] = static_cast<std::uint32_t>(behind - at);
        at = behind;
      }
    }
  });
  parallel_for(ctx, tiles(), 1, [&](std::size_t tile, std::size_t, int) {
    std::uint32_t* const begin = begin_.data() + tile * (std::size_t{terms_} + 1);
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

/// Fills a term's lists in all tiles.
void tile_index::fill_lists(sparse_index const& index, std::uint32_t term) {
  posting_list const list = index.list(term);
  std::size_t i = 0;
  while (i < list.size()) {
    std::size_t const tile = list.document[i] / tile_size_;
    std::size_t const first = first_of(tile), end = end_of(tile);
    auto const each = [&](auto const& put) {
      for (; i < list.size() && list.document[i] < end; ++i) {
        double const weight = list.weight[i];
        std::uint32_t const d = list.document[i];
        double const scale = unit / (by_norm_ ? index.norms()[d] : largest_weight_);
        // A zero weight stays 0; the norm may be 0, too.
        double const scaled = weight == 0 ? 0 : std::clamp(weight * scale, 1.0, unit);
        put(static_cast<std::uint16_t>(d - first),
            static_cast<std::uint16_t>(nearest_integer(scaled)));
      }
    };
    if (is_dense(term)) {
      std::uint16_t* const to = dense_.data() + dense_base_[tile] + dense_row_[term] * padded(tile);
      std::uint32_t& size = dense_size_[dense_row_[term] * tiles() + tile];
      each([&](std::uint16_t offset, std::uint16_t weight) {
        to[offset] = weight;
        if (weight != 0) ++size;
      });
    } else {
      tile_posting* to = postings_.data() + base_[tile] + begins_of(tile)[term];
      each([&](std::uint16_t offset, std::uint16_t weight) { *to++ = {offset, weight}; });
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
