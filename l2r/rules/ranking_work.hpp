#pragma once
// How much there is to do before it is begun.

#include "core/context.hpp"
#include "l2r/rules/prepared_training.hpp"

#include <cstdint>
#include <vector>

namespace rulerank::inline v0::l2r {

/// About how many itemsets of size 1, 2, ... up to the largest an engine tries for the documents:
/// a document's items one by one, what extends an itemset only where some training document holds
/// it. From random walks down the trees of drawn documents, what they meet divided by the
/// probability of getting there (Knuth 1975); `ctx.seed` draws.
std::vector<double> tried_itemsets(context const& ctx, prepared_training const& training,
                                   known_items const& test, std::uint32_t walks = 500);

/// About how many itemsets an engine tries for the documents; where there can be no more than
/// `little`, their largest number.
double itemsets_ahead(context const& ctx, prepared_training const& training,
                      known_items const& test, double little);

/// Throws `usage_error` where the documents would have more than `most` itemsets tried, naming the
/// rule size that fits.
void expect_feasible(context const& ctx, prepared_training const& training, known_items const& test,
                     double most);

}  // namespace rulerank::l2r
