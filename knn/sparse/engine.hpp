#pragma once

#include "core/engine_registry.hpp"
#include "knn/candidate.hpp"
#include "knn/part_neighbours.hpp"
#include "knn/sparse/search.hpp"

#include <algorithm>
#include <functional>
#include <memory>

namespace rulerank::inline v0::knn {

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

/// One way to search. Several threads may call `search` at once, each with a k of its own.
class sparse_search_engine {
 public:
  virtual ~sparse_search_engine() = default;
  /// Queries with terms that the index has, and their norms. The caller sets `found.k`, from 1 to
  /// the number of documents, and gives `found` space for all entries. The values that the engine
  /// writes are what orders the documents; the caller computes distances from them.
  virtual void search(context const& ctx, sparse_rows const& queries,
                      std::span<double const> query_norms, neighbours& found,
                      sparse_search_work& work) const = 0;
};

/// How an engine is made, and what a collection needs to know of it.
struct sparse_engine_maker {
  /// Makes an engine for an index, to which the engine keeps a reference.
  std::unique_ptr<sparse_search_engine> (*make)(context const& ctx, sparse_index const& index,
                                                sparse_search_options const& options);
  /// Whether it gives the defined values and order: parts are merged by them.
  bool gives_definition = false;
};
/// What the library's own code does with a searcher and its users do not.
struct sparse_searcher_access {
  using maker = std::function<std::unique_ptr<sparse_search_engine>(
      context const&, sparse_index const&, sparse_search_options const&)>;
  /// With an engine that `make` makes and `options.engine` names; empty: that of the registry.
  static sparse_searcher with(context const& ctx, sparse_index const& index,
                              sparse_search_options const& options, maker const& make);
  /// As `sparse_searcher::search`, in an index that has a part of the documents. The result has
  /// what orders the documents and whether each matches; the caller leaves out documents that do
  /// not match after merging the parts.
  static part_neighbours search_part(sparse_searcher const& searcher, context const& ctx,
                                     sparse_rows const& queries, std::size_t k,
                                     sparse_result_options const& results = {});
};

/// All engines of the module.
engine_registry<sparse_engine, sparse_engine_maker>& registered_sparse_engines();

std::unique_ptr<sparse_search_engine> make_tiles_on_cpu(context const& ctx,
                                                        sparse_index const& index,
                                                        sparse_search_options const& options);
/// On the GPUs of the context; in builds with CUDA. `device_bytes`: of each GPU for the index, at
/// most; 0: what is free.
std::unique_ptr<sparse_search_engine> make_tiles_on_gpus(context const& ctx,
                                                         sparse_index const& index,
                                                         sparse_search_options const& options,
                                                         std::size_t device_bytes = 0);

}  // namespace rulerank::knn
