#pragma once

#include "knn/sparse/search.hpp"

#include <algorithm>
#include <memory>

namespace rulerank::knn {

/// A document and what orders it: the inner product or the cosine, larger first.
struct candidate {
  double score;
  std::uint32_t document;
  /// Nearer, or as near and numbered lower.
  friend bool operator<(candidate const& a, candidate const& b) noexcept {
    return a.score != b.score ? a.score > b.score : a.document < b.document;
  }
};

/// Queries of a piece of a loop over them: as many pieces as threads, whatever is done, for OpenMP
/// does not keep its threads from one loop to the next when their number changes.
inline std::size_t piece_of(context const& ctx, std::size_t queries) {
  auto const threads = static_cast<std::size_t>(ctx.thread_count());
  return std::max<std::size_t>((queries + threads - 1) / threads, 1);
}

/// One way to search.
class sparse_search_engine {
 public:
  virtual ~sparse_search_engine() = default;
  /// Queries with terms that the index has, and their norms. `found` has its room; its scores are
  /// what orders the documents, the caller makes distances of them.
  virtual void search(context const& ctx, sparse_rows const& queries,
                      std::span<double const> query_norms, neighbours& found) const = 0;
};

/// The engines, each in its own file. They keep a reference to `index`.
std::unique_ptr<sparse_search_engine> make_mt(sparse_index const& index,
                                              sparse_search_options const& options);
std::unique_ptr<sparse_search_engine> make_tiles_on_cpu(context const& ctx,
                                                        sparse_index const& index,
                                                        sparse_search_options const& options);

/// Engines on the GPUs of the context; in builds with CUDA. `make_fish` makes gt too.
std::unique_ptr<sparse_search_engine> make_gknn(context const& ctx, sparse_index const& index,
                                                sparse_search_options const& options);
std::unique_ptr<sparse_search_engine> make_tiles_on_gpus(context const& ctx,
                                                         sparse_index const& index,
                                                         sparse_search_options const& options);
std::unique_ptr<sparse_search_engine> make_fish(context const& ctx, sparse_index const& index,
                                                sparse_search_options const& options);

}  // namespace rulerank::knn
