#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "knn/neighbours.hpp"
#include "knn/searcher.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// Parses a similarity of sparse search by its name in `search text --metric`: cosine, ip
/// (inner_product) or l2 (normalized_l2). Sums run in double precision over the common terms of
/// query and document, in term order. Throws `usage_error` that lists the names.
similarity sparse_similarity_from(std::string_view name);

/// `mt` and `tiles` give the same values, bit for bit. The published engines for GPUs sum in single
/// precision, as published.
enum class sparse_engine { automatic, mt, tiles, gknn, gt, fish };

/// How to prepare an index for search.
struct sparse_search_options {
  similarity metric = similarity::cosine;
  sparse_engine engine = sparse_engine::automatic;
  bool operator==(sparse_search_options const&) const = default;
};

/// Which of the k nearest documents of a query are returned.
struct sparse_result_options {
  /// Whether to keep documents that share no term with the query.
  bool pad = false;
};

using sparse_engine_info = engine_info<sparse_engine>;
/// Lists the engines of this build.
std::span<sparse_engine_info const> sparse_engines();
/// Returns "auto" for `automatic`.
std::string_view name_of(sparse_engine e);
/// Throws `usage_error` that lists the names.
sparse_engine sparse_engine_from(std::string_view name);

/// Counts of a search's work. An engine leaves counts at 0 that it does not collect. With `tiles`
/// on GPUs, the counts may vary between runs and include postings that pad lists.
struct sparse_search_work {
  std::uint64_t rescored = 0;       ///< tiles: documents whose similarity was computed exactly
  std::uint64_t postings_read = 0;  ///< tiles
  /// Counts of an engine's own, by name; `tiles` has none.
  engine_counts counts{};

  sparse_search_work& operator+=(sparse_search_work const& more) {
    rescored += more.rescored;
    postings_read += more.postings_read;
    add(counts, more.counts);
    return *this;
  }
};

/// An index prepared for one engine.
///
/// Several threads may call `search` of one searcher at once, with separate contexts or a shared
/// one. `tiles` on GPUs serves one call at a time, in memory that grows to the largest k so far; if
/// k is too large for the shared memory of a GPU, the CPU searches. The published engines for GPUs
/// allocate memory for each concurrent call, so many calls may exhaust it; gknn keeps its memory
/// for later calls.
class sparse_searcher {
 public:
  /// The index must outlive the searcher. Engines for GPUs copy it to each of the context's
  /// devices. Throws `usage_error` for the metric l2, and `device_error` if such an engine has no
  /// device, is not in this build, or has too little memory.
  sparse_searcher(context const& ctx, sparse_index const& index,
                  sparse_search_options const& options);
  ~sparse_searcher();
  sparse_searcher(sparse_searcher&&) noexcept;

  /// Returns the k nearest documents of each query, or all documents if there are fewer. Without
  /// `results.pad`, returns only documents that match: they share a term of the index with the
  /// query, whatever its weights. Terms that the index lacks are ignored, also in the norms. A term
  /// of weight 0 in the query makes documents match without adding to their score. The result for a
  /// k does not depend on earlier calls. Throws `usage_error` for a k of 0, and as
  /// `check(sparse_rows)`. Adds its work to `*work` unless it is null.
  neighbours search(context const& ctx, sparse_rows const& queries, std::size_t k,
                    sparse_result_options const& results = {},
                    sparse_search_work* work = nullptr) const;
  sparse_engine engine() const noexcept;
  /// The number of documents.
  std::size_t size() const noexcept;

 private:
  friend struct sparse_searcher_access;
  struct implementation;
  explicit sparse_searcher(std::unique_ptr<implementation> made);
  std::unique_ptr<implementation> implementation_;
};

/// Makes a searcher for queries among the documents of indexes, which are consecutive parts of a
/// collection: all parts or, with `is_split`, the parts of this process of the context. Each part
/// must name the terms of all (`sparse_index_parts::terms_of_all`), because they set the norms of
/// queries. The id of a document is its number. Throws `usage_error` for several parts or
/// `is_split` with an engine other than `tiles` or `mt`. Collective if `is_split`.
std::unique_ptr<searcher> make_searcher(context const& ctx,
                                        std::vector<std::shared_ptr<sparse_searcher const>> parts,
                                        sparse_matrix queries,
                                        sparse_result_options const& results = {},
                                        bool is_split = false);

}  // namespace rulerank::knn
