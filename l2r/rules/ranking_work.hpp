#pragma once
// Estimates of the work of a ranking before it begins.

#include "core/context.hpp"
#include "l2r/rules/prepared_training.hpp"

#include <cstdint>
#include <vector>

namespace rulerank::inline v0::l2r {

/// Estimated number of itemsets of size 1, 2, ... up to the largest that an engine tries for the
/// documents: each item of a document, and extensions of itemsets that some training document
/// holds. Estimated by random walks down the trees of sampled documents, each node weighted by the
/// inverse of its probability (Knuth 1975), seeded by `ctx.seed`.
std::vector<double> tried_itemsets(context const& ctx, prepared_training const& training,
                                   known_items const& test, std::uint32_t walks = 500);

/// Estimated number of itemsets that an engine tries for the documents; an upper bound instead if
/// that is at most `little`.
double itemsets_ahead(context const& ctx, prepared_training const& training,
                      known_items const& test, double little);

/// Throws `usage_error`, naming a feasible rule size, if the documents have more than `most`
/// itemsets to try.
void expect_feasible(context const& ctx, prepared_training const& training, known_items const& test,
                     double most);

}  // namespace rulerank::l2r
