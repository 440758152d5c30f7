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

/// What each query of one test set got: a row a query, a column a measure.
struct query_values {
  std::vector<measure> measures;
  std::vector<std::string> qids;
  std::vector<double> values;  ///< [queries x measures], row by row

  std::size_t size() const noexcept { return qids.size(); }
  double at(std::size_t query, std::size_t m) const { return values[query * measures.size() + m]; }
  std::vector<double> column(std::size_t m) const;
  /// The mean over the queries, one a measure.
  std::vector<double> averages() const;
};

/// Labels of documents in query groups, as views.
struct labelled_queries {
  std::span<std::int32_t const> labels;            ///< [N] below 0: not judged
  std::span<datasets::query_group const> queries;  ///< together they cover 0..N
  std::span<std::string const> docnos;             ///< [N], or empty unless ties go by docno
  std::span<double const> fractional = {};  ///< [N] instead, where some labels are fractional
};

/// Each query's value of each measure for scores [N]. Queries run in parallel; the result does not
/// depend on the number of threads. Throws `usage_error` when sizes differ, for a profile that does
/// not fit the data, for docno ties without docnos, and for a measure that has no value for
/// fractional labels; `error` for a score that is NaN.
query_values evaluate(context const& ctx, labelled_queries const& test,
                      std::span<double const> scores, std::span<measure const> measures,
                      profile const& p);
query_values evaluate(context const& ctx, datasets::dataset const& test,
                      std::span<double const> scores, std::span<measure const> measures,
                      profile const& p);

/// A run against judgments, as trec_eval does it: queries that both files have, or with
/// `profile::complete` all judged ones; in the judgments' order. The ideal order and the number of
/// relevant documents come from all judgments of the query. Throws `error` when the files share no
/// query.
query_values evaluate(context const& ctx, datasets::qrels const& judgments,
                      datasets::run const& retrieved, std::span<measure const> measures,
                      profile const& p);

/// The values of one feature as scores [N]: highest first, or lowest first for `ascending`. A
/// feature that a line does not list is 0; a listed missing value (`NULL`) ranks last either way.
std::vector<double> feature_scores(datasets::dataset const& test, std::uint32_t feature,
                                   bool ascending = false);

/// The mean of the folds' averages, one a measure: how LETOR's tables are made. The folds must have
/// the same measures.
std::vector<double> mean_of_folds(std::span<query_values const> folds);

/// All queries of all folds, one after the other.
query_values pooled(std::span<query_values const> folds);

}  // namespace rulerank::eval
