#pragma once

#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Judging a ranker by the labels of a small sample alone. These functions may be called from
// several threads at once.
namespace rulerank::inline v0::experiment {

/// A fold of a sample: what is learnt from, and what is judged.
struct sample_fold {
  std::vector<std::size_t> learnt;  ///< sampled documents of the other folds' queries, ascending
  std::vector<std::size_t> lists;   ///< all documents of this fold's queries, ascending
  std::vector<std::size_t> judged;  ///< places in `lists` of those that are sampled, ascending
};

/// Deals the queries that have sampled documents into `folds` folds; fewer queries are a fold each.
/// `sample`: ascending, distinct documents of `data`.
std::vector<sample_fold> deal_sample(datasets::dataset const& data,
                                     std::span<std::size_t const> sample, std::size_t folds,
                                     std::uint64_t seed);

/// Of each document [N] the share of the others of its query that it scores above, one of the same
/// score counting half: its place in the list, 1 at the top; 1/2 in a list of one. A function of
/// each list's order alone, so that places of different queries can be compared.
std::vector<double> places_in_lists(std::span<datasets::query_group const> queries,
                                    std::span<double const> scores);

/// Of the pairs of documents with different labels, the share of those in which the one with the
/// higher label has the higher place, equal places counting half. 1/2 without a pair.
double concordance(std::span<double const> places, std::span<std::int32_t const> labels);

}  // namespace rulerank::experiment
