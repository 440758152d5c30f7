#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/search.hpp"

#include <string>
#include <vector>

namespace rulerank::inline v0::bench {

/// SISAP's text: "dimensions rows ...", then the rows.
/// @throws std::invalid_argument for other text.
datasets::vectors read_sisap(std::string const& path);

struct drawn_words {
  std::vector<std::string> database, queries;
};
/// Samples `objects` random words, and others as queries; if there are not enough, queries are
/// words of the database with one to three random edits.
drawn_words draw_words(std::vector<std::string> words, std::size_t objects, std::size_t queries,
                       std::size_t seed);

struct drawn_vectors {
  datasets::vectors database, queries;
};
/// Samples `objects` and `queries` rows of a SISAP file. First, rows a + (b - c) / 8 of three
/// random rows are added until there are enough, at least objects / .8.
drawn_vectors draw_vectors(std::string const& path, std::size_t objects, std::size_t queries,
                           std::size_t seed);

/// Estimates the distance that `percent` of the pairs of objects do not exceed, by a random sample:
/// 2,000 objects, each with 1,000 others. It does not depend on the queries, so runs with different
/// numbers of queries have the same radius for a share.
double radius_of(knn::metric_space const& space, double percent);

}  // namespace rulerank::bench
