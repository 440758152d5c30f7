#pragma once

#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Judges a ranker by the labels of a small sample alone. These functions may be called from several
// threads at once.
namespace rulerank::inline v0::experiment {

/// A fold of a sample: the documents to learn from, and the documents to judge by.
struct sample_fold {
  std::vector<std::size_t> learnt;  ///< sampled documents of the other folds' queries, ascending
  std::vector<std::size_t> lists;   ///< all documents of this fold's queries, ascending
  std::vector<std::size_t> judged;  ///< indices into `lists` of sampled documents, ascending
};

/// Deals the queries with sampled documents into `folds` folds; if there are fewer queries, each is
/// a fold. `sample`: ascending, distinct documents of `data`.
std::vector<sample_fold> deal_sample(datasets::dataset const& data,
                                     std::span<std::size_t const> sample, std::size_t folds,
                                     std::uint64_t seed);

/// For each document [N], the share of the other documents of its query that it outscores, ties
/// counting half: 1 at the top; 1/2 in a list of one. It depends only on the order within each
/// list, so places of different queries are comparable.
std::vector<double> places_in_lists(std::span<datasets::query_group const> queries,
                                    std::span<double const> scores);

/// The share of pairs with different labels in which the document with the higher label has the
/// higher place, ties counting half. 1/2 without a pair.
double concordance(std::span<double const> places, std::span<std::int32_t const> labels);

}  // namespace rulerank::experiment
