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
/// `objects` drawn words, and others as queries; where there are not enough, words of the database
/// with one to three drawn edits.
drawn_words draw_words(std::vector<std::string> words, std::size_t objects, std::size_t queries,
                       std::size_t seed);

struct drawn_vectors {
  datasets::vectors database, queries;
};
/// `objects` and `queries` rows drawn from those of a file of SISAP's, to which others are added
/// first, a + (b - c) / 8 of three drawn ones, until there are enough, and objects / .8 at least.
drawn_vectors draw_vectors(std::string const& path, std::size_t objects, std::size_t queries,
                           std::size_t seed);

/// The distance that so many percent of the pairs of objects do not exceed, by a drawn sample:
/// 2,000 objects, each with 1,000 others. It does not depend on the queries, so that runs with more
/// or fewer of them name one radius by one share.
double radius_of(knn::metric_space const& space, double percent);

}  // namespace rulerank::bench
