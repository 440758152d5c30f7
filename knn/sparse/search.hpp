#pragma once

#include "core/context.hpp"
#include "core/engines.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace rulerank::knn {

/// What makes documents near. Sums run over the terms of query and document in the order of the
/// terms, in double precision.
enum class similarity {
  cosine,         ///< the inner product over the product of the norms; 0 where a norm is 0
  inner_product,  ///< sum of products of weights
  l2,             ///< Euclidean distance of the vectors divided by their norms
};
similarity similarity_from(std::string_view name);
std::string_view name_of(similarity how);

/// Who searches. `mt` and `tiles` give the same bits; the published engines for GPUs sum in single
/// precision, as published.
enum class sparse_engine {
  automatic,
  mt,     ///< as published: posting lists, a query a thread, a full sort (Freitas 2017,
          ///< Algorithms 18 and 19)
  tiles,  ///< ours: tiles of documents with integer sums, then what may be near exactly
  gknn,   ///< as published: on GPUs, every document's row, a full sort (section 5.4)
  gt,     ///< as published: on GPUs, posting lists, a query a launch (Algorithms 7 to 9)
  fish,   ///< as published: on GPUs, posting lists, a group of queries a launch (Algorithms 20 to
          ///< 23)
};
using sparse_engine_info = engine_entry<sparse_engine>;
std::span<sparse_engine_info const> sparse_engines();
std::string_view name_of(sparse_engine e);
/// Throws `usage_error` that lists the names.
sparse_engine sparse_engine_from(std::string_view name);

/// How `fish` deals the postings of a query's terms to threads: evenly to all of them (Freitas
/// 2017, Algorithm 8), or a term to a block of threads (Algorithm 20).
enum class load_balance { inter, intra };
/// Throws `usage_error` that lists the names: inter, intra.
load_balance load_balance_from(std::string_view name);
std::string_view name_of(load_balance balance);

struct sparse_search_options {
  std::size_t k = 30;  ///< neighbours of a query; all documents where there are fewer
  similarity metric = similarity::cosine;
  sparse_engine engine = sparse_engine::automatic;
  std::size_t group = 1;                       ///< fish: queries of a launch
  load_balance balance = load_balance::inter;  ///< fish
  std::size_t device_bytes = 0;  ///< tiles: of each GPU for the index; 0: what is free
};

struct neighbours {
  std::size_t k = 0;                    ///< of every query: min(options.k, documents)
  std::vector<std::uint32_t> document;  ///< [queries][k], nearest first, equal ones in id order
  std::vector<double> score;            ///< [queries][k] the similarity; for l2 the distance
  sparse_engine engine = sparse_engine::automatic;  ///< the one that ran
  double search_s = 0;
  /// tiles: documents whose similarity was computed exactly, and postings that were read; on GPUs
  /// they may differ from run to run, and postings that fill up lists are counted.
  std::uint64_t rescored = 0;
  std::uint64_t postings_read = 0;
};

/// An index made ready for one engine.
class sparse_searcher {
 public:
  /// Keeps a reference to the index. Engines for GPUs copy it to each of the context's devices.
  /// Throws `usage_error` for options that make no sense, `device_error` where such an engine has
  /// no device, no build, or no room.
  sparse_searcher(context const& ctx, sparse_index const& index,
                  sparse_search_options const& options);
  ~sparse_searcher();
  sparse_searcher(sparse_searcher&&) noexcept;

  /// The k nearest documents of each query; terms that the index does not have are passed over, in
  /// the norms too. Throws `usage_error` as `check(sparse_rows)` does.
  neighbours search(context const& ctx, sparse_rows const& queries) const;
  sparse_engine engine() const noexcept;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace rulerank::knn
