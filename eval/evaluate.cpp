#include "eval/evaluate.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "eval/conventions.hpp"
#include "eval/measure_definition.hpp"
#include "eval/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace rulerank::inline v0::eval {

namespace {

constexpr std::size_t queries_a_piece = 16;

/// With fewer documents per thread, synchronizing the threads takes longer than the work.
constexpr std::size_t documents_a_thread = 16384;

query_values table_for(std::span<measure const> measures, std::size_t queries) {
  query_values result;
  result.measures.assign(measures.begin(), measures.end());
  result.qids.resize(queries);
  result.values.resize(queries * measures.size());
  return result;
}

/// Fills the rows in parallel; `prepare(query, ranked)` ranks a query. `documents`: total number.
template <class Prepare>
void fill(context const& ctx, conventions const& rules, std::size_t documents, query_values& result,
          Prepare&& prepare) {
  std::size_t const width = result.measures.size();
  context const team = with_useful_threads(ctx, documents, documents_a_thread);
  std::vector<ranked_query> scratch(static_cast<std::size_t>(team.threads));
  parallel_for(team, result.size(), queries_a_piece,
               [&](std::size_t begin, std::size_t end, int thread) {
                 ranked_query& ranked = scratch[static_cast<std::size_t>(thread)];
                 for (std::size_t q = begin; q < end; ++q) {
                   prepare(q, ranked);
                   for (std::size_t m = 0; m < width; ++m)
                     result.values[q * width + m] = value_of(result.measures[m], ranked, rules);
                 }
               });
}

}  // namespace

std::vector<double> query_values::column(std::size_t m) const {
  std::vector<double> result(size());
  for (std::size_t q = 0; q < size(); ++q) result[q] = at(q, m);
  return result;
}

std::vector<double> query_values::averages() const {
  std::vector<double> result(measures.size());
  for (std::size_t m = 0; m < measures.size(); ++m) result[m] = measures[m].average(column(m));
  return result;
}

query_values evaluate(context const& ctx, labelled_queries const& test,
                      std::span<double const> scores, std::span<measure const> measures,
                      profile const& p) {
  std::size_t const n = test.labels.size();
  if (scores.size() != n)
    throw usage_error(fmt::format("found {}, expected {}, one for each document",
                                  counted(scores.size(), "score"), n));
  if (!test.fractional.empty()) {
    if (test.fractional.size() != n)
      throw usage_error(
          "found fractional labels for some documents, expected none or one for each document");
    expect_fractional(measures, p);
  }
  if (p.ties == tie_rule::docno && test.docnos.size() != n)
    throw usage_error(
        "ties: found docno, but the documents have no ids; expected worst, stable or average");
  if (auto const nan = std::find_if(scores.begin(), scores.end(),
                                    [](double score) { return std::isnan(score); });
      nan != scores.end())
    throw error(
        {"scores", 0, 0},
        fmt::format("found NaN as score of document {}, expected a number", nan - scores.begin()));
  std::size_t longest = 0;
  for (datasets::query_group const& query : test.queries) longest = std::max(longest, query.size());
  std::int32_t largest = 0;
  for (std::int32_t label : test.labels) largest = std::max(largest, label);
  conventions const rules(p, largest, longest);

  query_values result = table_for(measures, test.queries.size());
  for (std::size_t q = 0; q < result.size(); ++q) result.qids[q] = test.queries[q].qid;
  fill(ctx, rules, n, result, [&](std::size_t q, ranked_query& ranked) {
    datasets::query_group const& query = test.queries[q];
    auto const rank_by = [&](auto labels) {
      rank(labels.subspan(query.begin, query.size()), scores.subspan(query.begin, query.size()),
           test.docnos.empty() ? test.docnos : test.docnos.subspan(query.begin, query.size()), p,
           ranked);
    };
    if (test.fractional.empty())
      rank_by(test.labels);
    else
      rank_by(test.fractional);
  });
  return result;
}

query_values evaluate(context const& ctx, datasets::dataset const& test,
                      std::span<double const> scores, std::span<measure const> measures,
                      profile const& p) {
  std::vector<std::string> docnos;
  if (p.ties == tie_rule::docno)
    for (std::size_t d = 0; d < test.size(); ++d) docnos.push_back(test.docid(d));
  return evaluate(ctx, labelled_queries{test.labels, test.queries, docnos, test.fractional_labels},
                  scores, measures, p);
}

query_values evaluate(context const& ctx, datasets::qrels const& judgments,
                      datasets::run const& retrieved, std::span<measure const> measures,
                      profile const& p) {
  std::unordered_map<std::string_view, datasets::run_query const*> runs;
  for (datasets::run_query const& query : retrieved.queries) runs.emplace(query.qid, &query);
  datasets::run_query const nothing_found;
  struct pair_of {
    datasets::judged_query const* judged;
    datasets::run_query const* found;
  };
  std::vector<pair_of> pairs;
  bool shared = false;
  std::size_t longest = 0, documents = 0;
  std::int32_t largest = 0;
  for (datasets::judged_query const& judged : judgments.queries) {
    auto const at = runs.find(judged.qid);
    shared = shared || at != runs.end();
    if (at == runs.end() && !p.complete) continue;
    pairs.push_back({&judged, at == runs.end() ? &nothing_found : at->second});
    longest = std::max({longest, judged.documents.size(), pairs.back().found->documents.size()});
    documents += pairs.back().found->documents.size();
    for (datasets::judgment const& j : judged.documents) largest = std::max(largest, j.label);
  }
  if (!shared)
    throw error(
        {retrieved.name, 1, 1},
        fmt::format("found no query that {} judges, expected at least one", judgments.name));
  conventions const rules(p, largest, longest);

  query_values result = table_for(measures, pairs.size());
  for (std::size_t q = 0; q < result.size(); ++q) result.qids[q] = pairs[q].judged->qid;
  fill(ctx, rules, documents, result, [&](std::size_t q, ranked_query& ranked) {
    auto const& [judged, found] = pairs[q];
    std::vector<std::int32_t> pool;
    for (datasets::judgment const& j : judged->documents) pool.push_back(j.label);
    std::vector<std::int32_t> labels;
    std::vector<double> scores;
    std::vector<std::string> docnos;
    for (datasets::run_entry const& entry : found->documents) {
      auto const at = std::lower_bound(
          judged->documents.begin(), judged->documents.end(), entry.docno,
          [](datasets::judgment const& j, std::string const& docno) { return j.docno < docno; });
      bool const known = at != judged->documents.end() && at->docno == entry.docno;
      labels.push_back(known ? at->label : unjudged);
      scores.push_back(entry.score);
      if (p.ties == tie_rule::docno) docnos.push_back(entry.docno);
    }
    rank(labels, scores, docnos, pool, p, ranked);
  });
  return result;
}

std::vector<double> feature_scores(datasets::dataset const& test, std::uint32_t feature,
                                   bool ascending) {
  std::vector<double> scores(test.size(), 0.0);
  for (std::size_t d = 0; d < test.size(); ++d) {
    auto const row = test.document(d);
    auto const at = std::lower_bound(
        row.begin(), row.end(), feature,
        [](datasets::feature_value const& v, std::uint32_t f) { return v.feature < f; });
    if (at == row.end() || at->feature != feature) continue;
    if (std::isnan(at->value))
      scores[d] = -std::numeric_limits<double>::infinity();
    else
      scores[d] = ascending ? -at->value : at->value;
  }
  return scores;
}

std::vector<double> mean_of_folds(std::span<query_values const> folds) {
  if (folds.empty()) return {};
  std::vector<double> sums(folds[0].measures.size(), 0.0);
  for (query_values const& fold : folds) {
    if (fold.measures != folds[0].measures)
      throw usage_error("found folds with different measures, expected the same measures");
    std::vector<double> const averages = fold.averages();
    for (std::size_t m = 0; m < sums.size(); ++m) sums[m] += averages[m];
  }
  for (double& sum : sums) sum /= static_cast<double>(folds.size());
  return sums;
}

query_values pooled(std::span<query_values const> folds) {
  query_values all;
  if (folds.empty()) return all;
  all.measures = folds[0].measures;
  for (query_values const& fold : folds) {
    if (fold.measures != all.measures)
      throw usage_error("found folds with different measures, expected the same measures");
    all.qids.insert(all.qids.end(), fold.qids.begin(), fold.qids.end());
    all.values.insert(all.values.end(), fold.values.begin(), fold.values.end());
  }
  return all;
}

}  // namespace rulerank::eval
