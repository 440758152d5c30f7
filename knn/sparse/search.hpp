#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "knn/neighbours.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace rulerank::inline v0::knn {

/// What makes documents near here: cosine, inner_product or normalized_l2, by the names that
/// `search text --metric` takes: cosine, ip, and l2 for normalized_l2. Sums run over the terms of
/// query and document in the order of the terms, in double precision.
/// Throws `usage_error` that lists the names.
similarity sparse_similarity_from(std::string_view name);

/// `mt` and `tiles` give the same bits; the published engines for GPUs sum in single precision, as
/// published.
enum class sparse_engine { automatic, mt, tiles, gknn, gt, fish };

/// How an index is made ready to be searched.
struct sparse_search_options {
  similarity metric = similarity::cosine;
  sparse_engine engine = sparse_engine::automatic;
  bool operator==(sparse_search_options const&) const = default;
};

/// Which of the k nearest documents of a query a search returns.
struct sparse_result_options {
  /// Whether documents that share no term with a query, and are only near, stay among its k.
  bool pad = false;
};

using sparse_engine_info = engine_info<sparse_engine>;
/// The engines of this build.
std::span<sparse_engine_info const> sparse_engines();
/// "auto" for `automatic`.
std::string_view name_of(sparse_engine e);
/// Throws `usage_error` that lists the names.
sparse_engine sparse_engine_from(std::string_view name);

/// The work of a search. An engine leaves at 0 what it does not count. Of `tiles` on GPUs the
/// numbers may differ from run to run, and postings that fill up lists are counted.
struct sparse_search_work {
  std::uint64_t rescored = 0;       ///< tiles: documents whose similarity was computed exactly
  std::uint64_t postings_read = 0;  ///< tiles
  /// fish, gt: launches, each of a group of queries (`groups`); times that memory of a device was
  /// taken for queries (`allocations`, of gknn too); postings that the block of threads with the
  /// most of a query added, over the queries (`busiest_block`).
  engine_counts counts{};

  sparse_search_work& operator+=(sparse_search_work const& more) {
    rescored += more.rescored;
    postings_read += more.postings_read;
    add(counts, more.counts);
    return *this;
  }
};

/// An index made ready for one engine.
///
/// Several threads may call `search` of one searcher at once, each with a context of its own or a
/// shared one. `tiles` on GPUs serves one call after the other, in memory that grows to the largest
/// k so far; the CPU finds more neighbours than the shared memory of a GPU has space for.
/// The published engines for GPUs take memory for each call that runs at once, which several may
/// exhaust; gknn keeps it for later calls.
class sparse_searcher {
 public:
  /// Keeps a reference to the index. Engines for GPUs copy it to each of the context's devices.
  /// Throws `usage_error` for the metric l2, `device_error` where such an engine has no device, no
  /// build, or no memory.
  sparse_searcher(context const& ctx, sparse_index const& index,
                  sparse_search_options const& options);
  ~sparse_searcher();
  sparse_searcher(sparse_searcher&&) noexcept;

  /// The k nearest documents of each query, all documents where there are fewer. Without
  /// `results.pad` the search returns only those that match: that share a term that the index has
  /// with the query, whatever their value. Terms that the index does not have are ignored, in the
  /// norms too; one that weighs nothing in the query alone makes a match and no more. Each k finds
  /// what a new searcher finds for it. Throws `usage_error` for a k of 0 and as
  /// `check(sparse_rows)` does. `work`: where the work is added up, or null.
  neighbours search(context const& ctx, sparse_rows const& queries, std::size_t k,
                    sparse_result_options const& results = {},
                    sparse_search_work* work = nullptr) const;
  sparse_engine engine() const noexcept;

 private:
  friend struct sparse_searcher_access;
  struct implementation;
  explicit sparse_searcher(std::unique_ptr<implementation> made);
  std::unique_ptr<implementation> implementation_;
};

}  // namespace rulerank::knn
