#pragma once

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

}  // namespace rulerank::knn
