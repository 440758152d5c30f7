#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/similarity_math.hpp"
#include "knn/sparse/tile_index.hpp"
#include "knn/sparse/tile_kernels.hpp"
#include "knn/sparse/tile_query.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

// `tiles` (docs/reference/modules/knn-sparse.md): the sums of a tile of documents fit a core's
// caches. They are integers, precise enough to show which documents may be among the k nearest;
// these are computed exactly. Terms are processed by ascending document frequency. When the rest of
// a query cannot lift a document without a sum above the k-th best so far, and few documents can
// still reach it, the long lists of the frequent terms are not read.
namespace rulerank::inline v0::knn {

namespace {

/// Documents per tile: their sums, 64 KB, fit a core's own caches.
constexpr std::uint32_t cpu_tile_size = 1 << 14;
/// Queries that a thread processes with one tile in succession, so that its lists stay in the
/// caches.
constexpr std::size_t queries_together = 32;
/// The cost of computing a document exactly, in postings.
constexpr std::size_t postings_a_rescoring = 400;
/// Weights of a dense list that are added in the time of one posting.
constexpr std::size_t dense_weights_a_posting = 16;

using nearest = nearest_candidates<double, value_order::larger_is_nearer>;

/// A term's weights in a tile, dense or as postings, and the cost of adding them, in postings.
struct term_list {
  std::span<std::uint16_t const> dense;
  std::span<tile_posting const> postings;
  std::size_t size = 0;  // number of postings, also of a dense list
  std::size_t cost = 0;
};

struct alignas(apart) scratch {
  aligned_vector<std::int32_t> sums = aligned_vector<std::int32_t>(cpu_tile_size);
  std::vector<std::uint32_t> offsets = std::vector<std::uint32_t>(cpu_tile_size);
  std::vector<std::int32_t> kept = std::vector<std::int32_t>(cpu_tile_size);
  std::vector<double> query;  // [terms] weights of the current query, otherwise 0
  std::vector<term_list> lists;
  std::vector<double> all;  // [documents] exact sums, if tiles do not support the weights
  std::uint64_t rescored = 0;
  std::uint64_t postings = 0;
};

class tiles_on_cpu final : public sparse_search_engine {
 public:
  tiles_on_cpu(context const& ctx, sparse_index const& index, similarity metric)
      : index_(index), metric_(metric) {
    if (std::ranges::all_of(index.documents().weight, serves))
      tiles_ = std::make_unique<tile_index>(ctx, index, metric, cpu_tile_size,
                                            tile_lists::frequent_dense);
    zero_documents_ = zero_documents(index, metric);
  }

  void search(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              neighbours& found, sparse_search_work& work) const override {
    auto const threads = static_cast<std::size_t>(ctx.thread_count());
    std::vector<scratch> of_thread(threads);
    std::size_t const together =
        std::clamp<std::size_t>(queries.size() / (4 * threads), 1, queries_together);
    parallel_for(
        ctx, queries.size(), together, [&](std::size_t begin, std::size_t end, int thread) {
          scratch& mine = of_thread[static_cast<std::size_t>(thread)];
          mine.query.resize(index_.terms());
          std::vector<tile_query> prepared(end - begin);
          std::vector<nearest> best(end - begin, nearest(found.k));
          for (std::size_t q = begin; q < end; ++q)
            prepare(queries[q], query_norms[q], prepared[q - begin], best[q - begin]);
          for (std::size_t tile = 0; tiles_ != nullptr && tile < tiles_->tiles(); ++tile)
            for (std::size_t q = begin; q < end; ++q) {
              if (prepared[q - begin].units == 0) continue;
              ctx.check_stop();
              search_tile(tile, queries[q], query_norms[q], prepared[q - begin], best[q - begin],
                          mine);
            }
          for (std::size_t q = begin; q < end; ++q) {
            std::vector<sparse_candidate>& sorted = best[q - begin].sorted();
            if (prepared[q - begin].units == 0) {
              search_all(index_, metric_, queries[q], query_norms[q], found.k, mine.all, sorted);
              mine.rescored += index_.size();
            } else {
              fill_up(sorted, found.k);
            }
            for (std::size_t i = 0; i < found.k; ++i) {
              found.id[q * found.k + i] = sorted[i].id;
              found.value[q * found.k + i] = sorted[i].value;
            }
          }
        });
    for (scratch const& one : of_thread) {
      work.rescored += one.rescored;
      work.postings_read += one.postings;
    }
  }

 private:
  void prepare(sparse_row const& query, double norm, tile_query& p, nearest& best) const {
    if (tiles_ != nullptr) make_tile_query(index_, *tiles_, metric_, query, norm, p);
    if (p.units == 0) return;
    for (std::uint32_t const d : zero_documents_) best.add({0.5, d});
  }

  term_list list_of(std::size_t tile, std::uint32_t term) const {
    if (tiles_->is_dense(term)) {
      dense_list const list = tiles_->dense(tile, term);
      return {list.weights, {}, list.postings, list.weights.size() / dense_weights_a_posting};
    }
    auto const list = tiles_->list(tile, term);
    return {{}, list, list.size(), list.size()};
  }

  /// Adds the postings of a query's terms in a tile to the sums of `n` documents, rarest terms
  /// first, as long as it pays off. `least`: lower bound of a similarity among the k nearest, in
  /// units of the sums. Returns an upper bound of similarity minus sum, or nothing if the tile has
  /// no postings.
  std::optional<double> add_lists(std::size_t tile, tile_query const& p, std::size_t n,
                                  double least, scratch& mine) const {
    std::fill_n(mine.sums.data(), n, 0);
    mine.lists.clear();
    std::size_t left = 0;
    for (std::uint32_t const t : p.term) {
      mine.lists.push_back(list_of(tile, t));
      left += mine.lists.back().cost;
    }
    if (left == 0) return std::nullopt;
    std::size_t check_at = left;
    for (std::size_t j = 0; j < mine.lists.size(); ++j) {
      double const rest = p.rest[j] + p.error;
      if (rest < least && left <= check_at && left > n / 16) {
        if (count_at_least(mine.sums.data(), n, to_sum(least - rest)) * postings_a_rescoring < left)
          return rest;
        check_at = left / 2;
      }
      std::uint32_t const weight = p.weight[j];
      auto const& [dense, postings, size, cost] = mine.lists[j];
      if (!dense.empty())
        add_weighted(mine.sums.data(), dense.data(), n, weight);
      else
        for (tile_posting const& posting : postings)
          mine.sums[posting.offset] += static_cast<std::int32_t>(posting.weight * weight);
      mine.postings += size;
      left -= cost;
    }
    return p.error;
  }

  /// Finds the candidates of a tile; writes their offsets to the front of `mine.offsets` and
  /// returns their number. `below`: the result of `add_lists`.
  std::size_t find_near(tile_query const& p, std::size_t n, double least, double below,
                        nearest const& best, scratch& mine) const {
    std::size_t const k = best.k();
    // The bound from the k-th best of some sums of the tile.
    auto const enough_by = [&](std::size_t some) {
      auto const kth = mine.kept.begin() + static_cast<std::ptrdiff_t>(k - 1);
      std::nth_element(mine.kept.begin(), kth,
                       mine.kept.begin() + static_cast<std::ptrdiff_t>(some), std::greater<>());
      return to_sum(*kth - p.error - below);
    };
    std::int32_t enough = to_sum(least - below);
    if (!best.full() && n >= 64 * k)
      enough =
          std::max(enough, enough_by(largest_of_sixteen(mine.sums.data(), n, mine.kept.data())));
    std::size_t const found = find_at_least(mine.sums.data(), n, enough, mine.offsets.data());
    if (found <= 2 * k) return found;
    for (std::size_t i = 0; i < found; ++i) mine.kept[i] = mine.sums[mine.offsets[i]];
    enough = enough_by(found);
    return static_cast<std::size_t>(
        std::remove_if(mine.offsets.begin(),
                       mine.offsets.begin() + static_cast<std::ptrdiff_t>(found),
                       [&](std::uint32_t offset) { return mine.sums[offset] < enough; }) -
        mine.offsets.begin());
  }

  void search_tile(std::size_t tile, sparse_row const& query, double query_norm,
                   tile_query const& p, nearest& best, scratch& mine) const {
    std::size_t const n = round_up(tiles_->documents_of(tile), tile_padding);
    double const least = best.full() ? best.last() * p.units * (1 - 1e-9) : 0;
    std::optional<double> const below = add_lists(tile, p, n, least, mine);
    if (!below) return;
    std::size_t const found = find_near(p, n, least, *below, best, mine);
    if (found == 0) return;
    for (std::size_t i = 0; i < query.size(); ++i) mine.query[query.term[i]] = query.weight[i];
    for (std::size_t i = 0; i < found; ++i) {
      auto const d = static_cast<std::uint32_t>(tile * cpu_tile_size + mine.offsets[i]);
      best.add({exact(d, query_norm, mine.query), d});
    }
    for (std::uint32_t const t : query.term) mine.query[t] = 0;
    mine.rescored += found;
  }

  /// A sum of 0 means that the document shares no term.
  static std::int32_t to_sum(double least) {
    return static_cast<std::int32_t>(std::max(1.0, std::floor(least)));
  }

  double similarity_of(double product, double query_norm, std::uint32_t d) const {
    return metric_ == similarity::inner_product ? product
                                                : cosine_of(product, query_norm, index_.norms()[d],
                                                            metric_ == similarity::normalized_l2);
  }
  /// The products of terms that the query lacks are 0 and change no bit of the sum.
  double exact(std::uint32_t d, double query_norm, std::vector<double> const& query) const {
    sparse_row const row = index_.documents()[d];
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) sum += query[row.term[i]] * row.weight[i];
    return similarity_of(sum, query_norm, d);
  }

  sparse_index const& index_;
  similarity metric_;
  std::unique_ptr<tile_index> tiles_;  // null: weights without an integer form
  std::vector<std::uint32_t> zero_documents_;
};

}  // namespace

std::unique_ptr<sparse_search_engine> make_tiles_on_cpu(context const& ctx,
                                                        sparse_index const& index,
                                                        sparse_search_options const& options) {
  return std::make_unique<tiles_on_cpu>(ctx, index, options.metric);
}

}  // namespace rulerank::knn
