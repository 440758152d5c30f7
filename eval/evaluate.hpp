#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/trec.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

/// The values of one test set: a row per query, a column per measure.
struct query_values {
  std::vector<measure> measures;
  std::vector<std::string> qids;
  std::vector<double> values;  ///< [queries x measures], row by row

  std::size_t size() const noexcept { return qids.size(); }
  double at(std::size_t query, std::size_t m) const { return values[query * measures.size() + m]; }
  std::vector<double> column(std::size_t m) const;
  /// The mean over the queries, [measures].
  std::vector<double> averages() const;
};

/// Labels of documents in query groups, as views.
struct labelled_queries {
  std::span<std::int32_t const> labels;            ///< [N] below 0: unjudged
  std::span<datasets::query_group const> queries;  ///< cover 0..N
  std::span<std::string const> docnos;      ///< [N]; may be empty unless ties are broken by docno
  std::span<double const> fractional = {};  ///< [N] labels to use instead, if some are fractional
};

/// Each query's value of each measure for scores [N]. Processes queries in parallel; the result
/// does not depend on the number of threads. Throws `usage_error` for differing sizes, a profile
/// that does not fit the data, docno ties without docnos, and a measure that is undefined for
/// fractional labels; `error` for a NaN score.
query_values evaluate(context const& ctx, labelled_queries const& test,
                      std::span<double const> scores, std::span<measure const> measures,
                      profile const& p);
query_values evaluate(context const& ctx, datasets::dataset const& test,
                      std::span<double const> scores, std::span<measure const> measures,
                      profile const& p);

/// Evaluates a run against judgments as trec_eval does: the queries in both files or, with
/// `profile::complete`, all judged ones, in the judgments' order. The ideal order and the number of
/// relevant documents come from all judgments of the query. Throws `error` if the files share no
/// query.
query_values evaluate(context const& ctx, datasets::qrels const& judgments,
                      datasets::run const& retrieved, std::span<measure const> measures,
                      profile const& p);

/// The values of one feature as scores [N]: highest first, or lowest first if `ascending`. An
/// unlisted feature is 0; a listed missing value (`NULL`) ranks last in both cases.
std::vector<double> feature_scores(datasets::dataset const& test, std::uint32_t feature,
                                   bool ascending = false);

/// The mean of the folds' averages, [measures], as in LETOR's tables. The folds must have the same
/// measures.
std::vector<double> mean_of_folds(std::span<query_values const> folds);

/// The queries of all folds, concatenated.
query_values pooled(std::span<query_values const> folds);

}  // namespace rulerank::eval
