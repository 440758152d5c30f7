#include "knn/fusion.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::array<std::string_view, 8> method_names{"rrf",     "isr",     "combsum", "combmnz",
                                                       "combanz", "combmax", "combmin", "combmed"};
constexpr std::array<std::string_view, 7> norm_names{"none", "min-max", "max",  "sum",
                                                     "zmuv", "rank",    "borda"};

/// The smallest divisor in ranx.
constexpr double least_divisor = 1e-9;

void check(std::span<datasets::run const> runs, fusion_options const& options) {
  if (runs.size() < 2)
    throw usage_error(
        fmt::format("found {}, expected two or more to fuse", counted(runs.size(), "run")));
  if (!options.weights.empty() && options.weights.size() != runs.size())
    throw usage_error(fmt::format("found {}, expected one for each of {} runs",
                                  counted(options.weights.size(), "weight"), runs.size()));
  for (double const weight : options.weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      throw usage_error(
          fmt::format("found {} as the weight of a run, expected a number of 0 or more", weight));
  if (!options.distances.empty() && options.distances.size() != runs.size())
    throw usage_error(fmt::format(
        "found {} that say whether scores are distances, expected one for each of {} runs",
        counted(options.distances.size(), "word"), runs.size()));
  if (std::ranges::count(options.distances, true) > 0 && options.norm == score_norm::max &&
      !ignores_scores(options.method))
    throw usage_error(
        "found norm max for distances, expected a different norm, because max divides by the best "
        "score");
  if (!(options.rrf_k >= 0 && std::isfinite(options.rrf_k)))
    throw usage_error(
        fmt::format("found {} as rrf's k, expected a number of 0 or more", options.rrf_k));
}

/// One query in one run: its documents by rank, and their normalized scores.
struct ranking {
  datasets::run const* run = nullptr;
  datasets::run_query const* query = nullptr;  ///< null: the run has no documents for it
  std::vector<std::size_t> by_rank;            ///< indexes into the query's documents
  std::vector<double> score;                   ///< by rank; empty: no documents for it
  double missing = 0;                          ///< the score of a document that the run lacks

  std::string const& docno(std::size_t rank) const { return query->documents[by_rank[rank]].docno; }
};

[[noreturn]] void refuse(ranking const& of, std::string const& what) {
  throw error({of.run->name, of.query->line, 0}, what);
}

ranking ranked(datasets::run const& run, datasets::run_query const* query, bool is_distance) {
  ranking of;
  of.run = &run;
  of.query = query;
  if (query == nullptr) return of;
  for (datasets::run_entry const& entry : query->documents)
    if (!std::isfinite(entry.score))
      refuse(of, fmt::format(
                     "found the score {} of document '{}' of query '{}', expected a finite number",
                     entry.score, entry.docno, query->qid));
  auto const score = [&](std::size_t at) {
    double const value = query->documents[at].score;
    return is_distance ? -value : value;
  };
  of.by_rank.resize(query->documents.size());
  std::iota(of.by_rank.begin(), of.by_rank.end(), std::size_t{0});
  std::ranges::stable_sort(of.by_rank, std::greater<>(), score);
  for (std::size_t const at : of.by_rank) of.score.push_back(score(at));
  return of;
}

/// Computes (s - shift) / divisor; NaN if the divisor exceeds a double.
void rescale(std::vector<double>& scores, double shift, double divisor) {
  double const by = std::isfinite(divisor) ? std::max(divisor, least_divisor)
                                           : std::numeric_limits<double>::quiet_NaN();
  for (double& s : scores) s = (s - shift) / by;
}

/// Normalizes the scores, in rank order; `candidates`: documents of the query in any run.
void normalize(ranking& of, score_norm norm, std::size_t candidates) {
  std::vector<double>& s = of.score;
  auto const m = static_cast<double>(s.size());
  if (norm == score_norm::borda) {
    auto const c = static_cast<double>(candidates);
    of.missing = 0.5 - (m - 1) / (2 * c);
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = 1 - static_cast<double>(i) / c;
  }
  if (s.empty() || norm == score_norm::none || norm == score_norm::borda) return;
  double const largest = s.front(), smallest = s.back();
  double sum = 0;
  for (double const score : s) sum += score;
  if (norm == score_norm::min_max) rescale(s, smallest, largest - smallest);
  if (norm == score_norm::max) rescale(s, 0, largest);
  if (norm == score_norm::sum) rescale(s, smallest, sum - smallest * m);
  if (norm == score_norm::zmuv) {
    double const mean = sum / m;
    double squares = 0;
    for (double const score : s) squares += (score - mean) * (score - mean);
    rescale(s, mean, std::sqrt(squares / m));
  }
  if (norm == score_norm::rank)
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = 1 - static_cast<double>(i) / m;
}

/// Computes the scores of ranks, for the methods that use ranks.
void score_ranks(ranking& of, fusion_options const& options) {
  for (std::size_t i = 0; i < of.score.size(); ++i) {
    auto const rank = static_cast<double>(i + 1);
    of.score[i] =
        options.method == fusion_method::rrf ? 1 / (options.rrf_k + rank) : 1 / (rank * rank);
  }
}

double sum_of(std::span<double const> scores) {
  double sum = 0;
  for (double const s : scores) sum += s;
  return sum;
}

double median_of(std::vector<double>& scores) {
  std::ranges::sort(scores);
  std::size_t const middle = scores.size() / 2;
  return scores.size() % 2 == 1 ? scores[middle] : (scores[middle - 1] + scores[middle]) / 2;
}

/// Combines the scores of the runs that contain a document, at least one.
double combined(fusion_method method, std::vector<double>& scores) {
  auto const n = static_cast<double>(scores.size());
  switch (method) {
    case fusion_method::isr:
    case fusion_method::comb_mnz:
      return sum_of(scores) * n;
    case fusion_method::comb_anz:
      return sum_of(scores) / n;
    case fusion_method::comb_max:
      return *std::ranges::max_element(scores);
    case fusion_method::comb_min:
      return *std::ranges::min_element(scores);
    case fusion_method::comb_med:
      return median_of(scores);
    default:
      return sum_of(scores);
  }
}

/// The documents of a query in all runs, and the rank of each in each run.
struct candidate_table {
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);
  std::vector<std::string_view> docnos;  ///< in the order of runs and ranks
  std::vector<std::size_t> rank;         ///< [documents][runs] from 0, or absent
};

candidate_table candidates_of(std::span<ranking const> rankings) {
  candidate_table all;
  std::unordered_map<std::string_view, std::size_t> number;
  for (std::size_t r = 0; r < rankings.size(); ++r)
    for (std::size_t i = 0; i < rankings[r].score.size(); ++i) {
      std::string const& docno = rankings[r].docno(i);
      auto const [at, is_new] = number.try_emplace(docno, all.docnos.size());
      if (is_new) {
        all.docnos.push_back(docno);
        all.rank.resize(all.rank.size() + rankings.size(), candidate_table::absent);
      }
      std::size_t& place = all.rank[at->second * rankings.size() + r];
      if (place != candidate_table::absent)
        refuse(rankings[r], fmt::format("found document '{}' of query '{}' again, expected it once",
                                        docno, rankings[r].query->qid));
      place = i;
    }
  return all;
}

/// Prepares the scores of one run for combination. Throws `error` if they exceed a double.
void prepare(ranking& of, fusion_options const& options, std::size_t candidates, double weight) {
  if (ignores_scores(options.method))
    score_ranks(of, options);
  else
    normalize(of, options.norm, candidates);
  of.missing *= weight;
  for (double& s : of.score) {
    s *= weight;
    if (!std::isfinite(s))
      refuse(of, fmt::format("found scores of query '{}' that exceed a double with norm {} and "
                             "weight {}, expected smaller scores",
                             of.query->qid, name_of(options.norm), weight));
  }
}

datasets::run_query fuse_query(std::vector<ranking> rankings, std::string const& qid,
                               fusion_options const& options) {
  candidate_table const all = candidates_of(rankings);
  for (std::size_t r = 0; r < rankings.size(); ++r)
    prepare(rankings[r], options, all.docnos.size(),
            options.weights.empty() ? 1 : options.weights[r]);
  bool const scores_missing = !ignores_scores(options.method) && options.norm == score_norm::borda;
  datasets::run_query fused{qid, {}};
  std::vector<double> scores;
  for (std::size_t d = 0; d < all.docnos.size(); ++d) {
    scores.clear();
    for (std::size_t r = 0; r < rankings.size(); ++r) {
      std::size_t const rank = all.rank[d * rankings.size() + r];
      if (rank != candidate_table::absent)
        scores.push_back(rankings[r].score[rank]);
      else if (scores_missing && !rankings[r].score.empty())
        scores.push_back(rankings[r].missing);
    }
    double const score = combined(options.method, scores);
    if (!std::isfinite(score))
      throw error({rankings.front().run->name, 0, 0},
                  fmt::format("found scores of document '{}' of query '{}' whose fusion exceeds a "
                              "double, expected smaller scores",
                              all.docnos[d], qid));
    fused.documents.push_back({std::string(all.docnos[d]), score});
  }
  std::ranges::stable_sort(fused.documents, std::greater<>(), &datasets::run_entry::score);
  if (options.depth > 0 && fused.documents.size() > options.depth)
    fused.documents.erase(fused.documents.begin() + static_cast<std::ptrdiff_t>(options.depth),
                          fused.documents.end());
  return fused;
}

}  // namespace

fusion_method fusion_method_from(std::string_view name) {
  return value_named<fusion_method>(method_names, name, "found method", name_list::plain);
}
std::string_view name_of(fusion_method method) {
  return method_names[static_cast<std::size_t>(method)];
}
std::span<std::string_view const> fusion_method_names() {
  return method_names;
}

score_norm score_norm_from(std::string_view name) {
  return value_named<score_norm>(norm_names, name, "found norm", name_list::plain);
}
std::string_view name_of(score_norm norm) {
  return norm_names[static_cast<std::size_t>(norm)];
}
std::span<std::string_view const> score_norm_names() {
  return norm_names;
}

bool ascends(datasets::run const& run) {
  auto const of = &datasets::run_entry::score;
  return std::ranges::all_of(run.queries,
                             [&](datasets::run_query const& query) {
                               return std::ranges::is_sorted(query.documents, {}, of);
                             }) &&
         std::ranges::any_of(run.queries, [&](datasets::run_query const& query) {
           return query.documents.size() > 1 &&
                  query.documents.front().score < query.documents.back().score;
         });
}

datasets::run fuse(context const& ctx, std::span<datasets::run const> runs,
                   fusion_options const& options) {
  check(runs, options);
  std::vector<std::string_view> qids;
  std::unordered_map<std::string_view, std::vector<datasets::run_query const*>> of_qid;
  for (std::size_t r = 0; r < runs.size(); ++r)
    for (datasets::run_query const& query : runs[r].queries) {
      auto const [at, is_new] = of_qid.try_emplace(query.qid, runs.size());
      if (is_new) qids.push_back(query.qid);
      if (at->second[r] != nullptr)
        throw error({runs[r].name, query.line, 0},
                    fmt::format("found query '{}' again, expected it once", query.qid));
      at->second[r] = &query;
    }
  datasets::run fused;
  fused.queries.resize(qids.size());
  parallel_for(ctx, qids.size(), 16, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q) {
      auto const& queries = of_qid.find(qids[q])->second;
      std::vector<ranking> rankings;
      for (std::size_t r = 0; r < runs.size(); ++r)
        rankings.push_back(
            ranked(runs[r], queries[r], !options.distances.empty() && options.distances[r]));
      fused.queries[q] = fuse_query(std::move(rankings), std::string(qids[q]), options);
    }
  });
  return fused;
}

}  // namespace rulerank::knn
