#pragma once
// Collections for the tests of this folder.

#include "core/random.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace rulerank::inline v0::knn::testing_tools {

struct drawn_shape {
  std::size_t rows = 300;
  std::uint32_t terms = 60;
  std::size_t most_terms = 12;  ///< per row
  double empty = 0.02;          ///< share of rows without a term
  bool negative = false;
  int weights = 4;  ///< number of distinct weights: equal similarities are common
};

/// Low terms are frequent.
inline sparse_matrix drawn_rows(drawn_shape const& shape, std::uint64_t seed) {
  random_engine draw(seed);
  sparse_matrix rows;
  for (std::size_t r = 0; r < shape.rows; ++r) {
    std::set<std::uint32_t> of;
    if (uniform_unit(draw) >= shape.empty) {
      std::size_t const n = 1 + uniform_below(draw, shape.most_terms);
      for (std::size_t i = 0; i < n; ++i) {
        double const u = uniform_unit(draw);
        of.insert(static_cast<std::uint32_t>(u * u * shape.terms));
      }
    }
    std::vector<double> weights;
    for (std::size_t i = 0; i < of.size(); ++i) {
      double w =
          0.5 + static_cast<double>(uniform_below(draw, static_cast<std::uint64_t>(shape.weights)));
      if (shape.negative && uniform_below(draw, 3) == 0) w = -w;
      weights.push_back(w);
    }
    std::vector<std::uint32_t> const terms(of.begin(), of.end());
    rows.push_row(terms, weights);
  }
  rows.terms = std::max(rows.terms, shape.terms);
  return rows;
}

}  // namespace rulerank::knn::testing_tools
