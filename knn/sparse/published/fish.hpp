#pragma once

#include "core/context.hpp"
#include "knn/similarity.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstddef>
#include <string_view>

namespace rulerank::inline v0::knn {

/// How `fish` shares the postings of a query's terms among threads: evenly among all of them
/// (Freitas 2017, Algorithm 8), or a term to a block of threads (Algorithm 20).
enum class load_balance { inter, intra };
/// Throws `usage_error` that lists the names: inter, intra.
load_balance load_balance_from(std::string_view name);
std::string_view name_of(load_balance balance);

struct fish_options {
  std::size_t group = 1;  ///< queries of a launch, at least 1
  load_balance balance = load_balance::inter;
};

/// As the constructor of `sparse_searcher` with engine `fish`, which has options of its own. Throws
/// `usage_error` for a group of 0, too.
sparse_searcher make_fish_searcher(context const& ctx, sparse_index const& index, similarity metric,
                                   fish_options const& options);

}  // namespace rulerank::knn
