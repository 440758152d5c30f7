#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::l2r {

/// A subset of whole queries of a set.
struct query_subset {
  std::vector<datasets::query_group> queries;
  datasets::binned_dataset items;
};

/// The queries of one fold, or those of all other folds. `folds`: [queries].
query_subset subset_of_fold(std::span<datasets::query_group const> queries,
                            datasets::binned_dataset const& all,
                            std::vector<std::size_t> const& folds, std::size_t fold, bool inside);

/// Whether the query has documents of different labels.
bool has_pairs(datasets::query_group const& query, std::span<std::int32_t const> labels);

/// 2^(label - largest): the gain relative to that of the largest label, so that gains do not
/// overflow.
double gain_of(std::int32_t label, std::int32_t largest);

/// NDCG over the whole list for each query with pairs, in expectation over the orders of tied
/// scores, because the order of a file may follow its labels.
std::vector<double> ndcg_of_pairs(context const& ctx, std::span<std::int32_t const> labels,
                                  std::span<datasets::query_group const> queries,
                                  std::span<double const> scores);

double mean_label(datasets::binned_dataset const& of);

}  // namespace rulerank::l2r
