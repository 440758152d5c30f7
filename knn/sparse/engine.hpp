#pragma once

#include "core/engine_registry.hpp"
#include "knn/candidate.hpp"
#include "knn/part_neighbours.hpp"
#include "knn/sparse/search.hpp"

#include <algorithm>
#include <functional>
#include <memory>

namespace rulerank::inline v0::knn {

/// A document and the value that orders it in a sparse search: the inner product or, for other
/// metrics, the cosine.
using sparse_candidate = candidate<double>;
using nearer_document = nearer<value_order::larger_is_nearer>;

/// The queries per thread if each thread gets an equal number. Every loop over queries uses this
/// grain, because OpenMP does not keep its threads when their number changes between loops.
inline std::size_t queries_a_thread(context const& ctx, std::size_t queries) {
  auto const threads = static_cast<std::size_t>(ctx.thread_count());
  return std::max<std::size_t>((queries + threads - 1) / threads, 1);
}

/// A search engine. Several threads may call `search` at once, each with its own k.
class sparse_search_engine {
 public:
  virtual ~sparse_search_engine() = default;
  /// Searches for queries, given with only the terms that the index has, and their norms. The
  /// caller sets `found.k`, from 1 to the number of documents, and allocates `found`. The engine
  /// writes the values that order the documents; the caller computes distances from them.
  virtual void search(context const& ctx, sparse_rows const& queries,
                      std::span<double const> query_norms, neighbours& found,
                      sparse_search_work& work) const = 0;
};

/// How to make an engine, and the properties that a collection needs.
struct sparse_engine_maker {
  /// Makes an engine for an index, which must outlive the engine.
  std::unique_ptr<sparse_search_engine> (*make)(context const& ctx, sparse_index const& index,
                                                sparse_search_options const& options);
  /// Whether the engine returns exactly the defined values and order; only such results of parts
  /// can be merged.
  bool gives_definition = false;
};
/// Functions of a searcher for the library's own use.
struct sparse_searcher_access {
  using maker = std::function<std::unique_ptr<sparse_search_engine>(
      context const&, sparse_index const&, sparse_search_options const&)>;
  /// Makes a searcher with an engine from `make`, which `options.engine` names; with an empty
  /// `make`, the engine of the registry.
  static sparse_searcher with(context const& ctx, sparse_index const& index,
                              sparse_search_options const& options, maker const& make);
  /// Searches as `sparse_searcher::search`, in an index of a part of the documents. The result has
  /// the ordering values, and whether each document matches; the caller excludes documents that do
  /// not match after merging the parts.
  static part_neighbours search_part(sparse_searcher const& searcher, context const& ctx,
                                     sparse_rows const& queries, std::size_t k,
                                     sparse_result_options const& results = {});
};

/// The registry of the module's engines.
engine_registry<sparse_engine, sparse_engine_maker>& registered_sparse_engines();

std::unique_ptr<sparse_search_engine> make_tiles_on_cpu(context const& ctx,
                                                        sparse_index const& index,
                                                        sparse_search_options const& options);
/// Makes `tiles` for the context's GPUs, in builds with CUDA. `device_bytes`: the most bytes of
/// each GPU for the index; 0: all free bytes.
std::unique_ptr<sparse_search_engine> make_tiles_on_gpus(context const& ctx,
                                                         sparse_index const& index,
                                                         sparse_search_options const& options,
                                                         std::size_t device_bytes = 0);

}  // namespace rulerank::knn
