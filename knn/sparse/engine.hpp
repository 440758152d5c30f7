#pragma once

#include "knn/candidate.hpp"
#include "knn/sparse/search.hpp"

#include <algorithm>
#include <memory>

namespace rulerank::knn {

/// A document and what orders it in a sparse search, whatever the metric: the inner product or the
/// cosine.
using sparse_candidate = candidate<double>;
using nearer_document = nearer<value_order::larger_is_nearer>;

/// Queries that a thread takes at a time where each thread takes as many: the same number for every
/// loop over them, for OpenMP does not keep its threads from one loop to the next when their number
/// changes.
inline std::size_t queries_a_thread(context const& ctx, std::size_t queries) {
  auto const threads = static_cast<std::size_t>(ctx.thread_count());
  return std::max<std::size_t>((queries + threads - 1) / threads, 1);
}

/// One way to search. Several threads may call `search` at once.
class sparse_search_engine {
 public:
  virtual ~sparse_search_engine() = default;
  /// Queries with terms that the index has, and their norms. `found` has space for all entries; its
  /// values are what orders the documents, from which the caller computes distances.
  virtual void search(context const& ctx, sparse_rows const& queries,
                      std::span<double const> query_norms, neighbours& found,
                      sparse_search_work& work) const = 0;
};

/// The engines, each in its own file. They keep a reference to `index`.
std::unique_ptr<sparse_search_engine> make_mt(context const& ctx, sparse_index const& index,
                                              sparse_search_options const& options);
std::unique_ptr<sparse_search_engine> make_tiles_on_cpu(context const& ctx,
                                                        sparse_index const& index,
                                                        sparse_search_options const& options);

/// Engines on the GPUs of the context; in builds with CUDA. `make_fish` makes gt too.
std::unique_ptr<sparse_search_engine> make_gknn(context const& ctx, sparse_index const& index,
                                                sparse_search_options const& options);
/// `device_bytes`: of each GPU for the index, at most; 0: what is free.
std::unique_ptr<sparse_search_engine> make_tiles_on_gpus(context const& ctx,
                                                         sparse_index const& index,
                                                         sparse_search_options const& options,
                                                         std::size_t device_bytes = 0);
std::unique_ptr<sparse_search_engine> make_fish(context const& ctx, sparse_index const& index,
                                                sparse_search_options const& options);

}  // namespace rulerank::knn
