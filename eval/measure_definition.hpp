#pragma once

#include "eval/measure.hpp"

#include <cstddef>

namespace rulerank::inline v0::eval {

class conventions;
struct ranked_query;

/// A kind of measure and its computation.
struct measure_definition : measure_kind {
  /// A query's value at cut-off k, 0 for none; the expected value if the query has groups of more
  /// than one document.
  double (*value)(ranked_query const& query, conventions const& rules, std::size_t k);
};

/// The value of one query.
double value_of(measure const& m, ranked_query const& query, conventions const& rules);

}  // namespace rulerank::eval
