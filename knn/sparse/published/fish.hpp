#pragma once

#include "core/context.hpp"
#include "knn/similarity.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstddef>
#include <string_view>

namespace rulerank::inline v0::knn {

/// How `fish` distributes the postings of a query's terms over threads: evenly over all threads
/// (inter; Freitas 2017, Algorithm 8), or one term per block (intra; Algorithm 20).
enum class load_balance { inter, intra };
/// Parses "inter" or "intra". Throws `usage_error` that lists these names.
load_balance load_balance_from(std::string_view name);
std::string_view name_of(load_balance balance);

struct fish_options {
  std::size_t group = 1;  ///< queries per launch, at least 1
  load_balance balance = load_balance::inter;
};

/// As the constructor of `sparse_searcher` with the engine `fish` and its own options. Also throws
/// `usage_error` for a group of 0.
sparse_searcher make_fish_searcher(context const& ctx, sparse_index const& index, similarity metric,
                                   fish_options const& options);

}  // namespace rulerank::knn
