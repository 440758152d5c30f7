#include "core/error.hpp"
#include "core/parallel.hpp"
#include "eval/significance.hpp"
#include "l2r/joint/joint.hpp"
#include "l2r/joint/pair_quadratic.hpp"
#include "l2r/model/query_folds.hpp"
#include "l2r/scorecard/query_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

// Fits a joint member. Cross-fitting chooses penalties and feature pairs; then the squared pair
// loss is minimized; then rounds of LambdaLoss follow.
namespace rulerank::inline v0::l2r {

namespace {

constexpr std::array<double, 3> weight_penalties{0.01, 0.1, 1};
constexpr std::array<double, 2> point_penalties{0.01, 0.1};
constexpr std::array<double, 3> joint_smoothnesses{0.1, 1, 10};
constexpr int lambda_rounds = 3;
/// At equal scores, the logistic loss has a quarter of the squared loss's second derivative.
constexpr double logistic_scale = 0.25;
/// Tables are used if they gain more than this many standard errors.
constexpr double errors_ahead = 1;
constexpr std::size_t few_pairs = 6;  // tried first: if these gain nothing, more do not

/// Penalty during the choice of pairs; prevents cells with few documents from winning.
constexpr double screening_penalty = 0.003;
/// Minimum of documents times unknowns per thread; a smaller step ends before a thread has started.
constexpr std::size_t numbers_a_thread = std::size_t{1} << 19;

struct feature_pair {
  double gain = 0;
  std::size_t first = 0, second = 0;
};

/// The squared loss as a function of each document's score: minus half its slope, and the diagonal
/// of its second derivative.
struct document_pulls {
  std::vector<double> pull, own;
};

/// Fits a member, reusing the quadratics of the cross-fitting.
class joint_fit {
 public:
  joint_fit(context const& ctx, joint_training const& training, joint_options const& options)
      : ctx_(ctx), training_(training), options_(options), design_(training.documents) {
    std::size_t const numbers = design_.documents() * design_.unknowns();
    ctx_.threads = static_cast<int>(std::clamp<std::size_t>(
        numbers / numbers_a_thread, 1, static_cast<std::size_t>(ctx.thread_count())));
    for (datasets::query_group const& query : training.queries)
      if (query.size() > most_joint_list)
        throw usage_error(fmt::format(
            "found a query of {} labelled documents, expected at most {} for a joint member",
            query.size(), most_joint_list));
    if (design_.unknowns() > most_joint_unknowns)
      throw usage_error(fmt::format(
          "found {} weights and points of a joint member, expected at most {}; use fewer bins",
          design_.unknowns(), most_joint_unknowns));
    choose_loss();
    deal();
  }

  joint_member fit();

 private:
  datasets::binned_dataset const& items() const { return training_.documents.items; }
  void choose_loss();
  void deal();
  quadratic start(joint_design const& design, std::vector<std::size_t> const& chosen,
                  quadratic const& known = quadratic(0)) const;
  double share(std::vector<std::size_t> const& chosen) const;
  std::vector<std::size_t> others(std::size_t fold) const;
  std::vector<double> qualities(std::vector<double> const& scores) const;
  void keep_fold(std::size_t fold, std::vector<double> const& from, std::vector<double>& to) const;
  void choose_penalties();
  quadratic without(std::size_t fold) const;
  document_pulls pulls_of(std::vector<std::size_t> const& chosen,
                          std::vector<double> const& scores) const;
  std::vector<feature_pair> best_pairs(std::vector<std::size_t> const& chosen,
                                       std::vector<double> const& scores, std::size_t most) const;
  std::vector<double> qualities_with(std::size_t pairs) const;
  std::size_t choose_pairs();
  joint_member rounded(joint_design const& design, std::vector<feature_pair> const& pairs,
                       std::vector<double> const& x) const;

  context ctx_;  // limited to as many threads as pay off
  joint_training const& training_;
  joint_options options_;
  joint_design design_;
  card_loss loss_ = card_loss::pair;
  double mean_ = 0, scale_ = 1;  // for squares: the mean label; documents times label variance
  std::vector<std::size_t> learned_from_;  // indices of queries
  std::vector<std::size_t> dealt_;         // [queries] fold
  std::size_t folds_ = 1;
  std::vector<quadratic> start_;  // [folds] squared loss of the fold's queries
  joint_penalties penalties_;
  std::vector<double> held_out_;  // qualities with these penalties, without tables
};

/// Uses the pair loss only if enough documents are compared; else every label counts by itself.
void joint_fit::choose_loss() {
  std::vector<std::int32_t> const& labels = items().labels;
  std::size_t compared = 0;
  for (std::size_t q = 0; q < training_.queries.size(); ++q)
    if (has_pairs(training_.queries[q], labels)) {
      compared += training_.queries[q].size();
      learned_from_.push_back(q);
    }
  if (2 * compared >= labels.size()) return;
  loss_ = card_loss::point;
  auto const n = static_cast<double>(labels.size());
  mean_ = mean_label(items());
  double squares = 0;
  for (std::int32_t const y : labels) squares += (y - mean_) * (y - mean_);
  scale_ = squares;
  learned_from_.clear();
  if (scale_ <= 1e-12 * n) return;  // all labels are equal
  learned_from_.resize(training_.queries.size());
  std::iota(learned_from_.begin(), learned_from_.end(), std::size_t{0});
}

void joint_fit::deal() {
  folds_ = std::max<std::size_t>(1, std::min(options_.folds, learned_from_.size()));
  std::vector<std::size_t> const of_learned = deal_queries(ctx_.seed, learned_from_.size(), folds_);
  dealt_.assign(training_.queries.size(), folds_);
  for (std::size_t i = 0; i < learned_from_.size(); ++i) dealt_[learned_from_[i]] = of_learned[i];
}

std::vector<std::size_t> joint_fit::others(std::size_t fold) const {
  std::vector<std::size_t> chosen;
  for (std::size_t const q : learned_from_)
    if (dealt_[q] != fold) chosen.push_back(q);
  return chosen;
}

/// The mean squared loss of these queries. `known`: the same without tables.
quadratic joint_fit::start(joint_design const& design, std::vector<std::size_t> const& chosen,
                           quadratic const& known) const {
  joint_queries const of{training_.queries, items().labels, chosen};
  return loss_ == card_loss::pair
             ? squared_pairs(ctx_, design, of, static_cast<double>(learned_from_.size()), known)
             : squares(ctx_, design, of, mean_, scale_, known);
}

/// The fraction of the queries, which scales penalties.
double joint_fit::share(std::vector<std::size_t> const& chosen) const {
  return static_cast<double>(chosen.size()) / static_cast<double>(learned_from_.size());
}

/// A quality per query that distinguishes scores; larger is better.
std::vector<double> joint_fit::qualities(std::vector<double> const& scores) const {
  std::vector<std::int32_t> const& labels = items().labels;
  if (loss_ == card_loss::pair) return ndcg_of_pairs(ctx_, labels, training_.queries, scores);
  std::vector<double> found;
  for (datasets::query_group const& query : training_.queries) {
    double sum = 0;
    for (std::size_t d = query.begin; d < query.end; ++d) {
      double const away = labels[d] - mean_ - scores[d];
      sum -= away * away;
    }
    found.push_back(sum);
  }
  return found;
}

void joint_fit::keep_fold(std::size_t fold, std::vector<double> const& from,
                          std::vector<double>& to) const {
  for (std::size_t const q : learned_from_)
    if (dealt_[q] == fold)
      for (std::size_t d = training_.queries[q].begin; d < training_.queries[q].end; ++d)
        to[d] = from[d];
}

double mean_of(std::vector<double> const& of) {
  return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}

void joint_fit::choose_penalties() {
  std::vector<joint_penalties> grid;
  for (double const weights : weight_penalties)
    for (double const points : point_penalties)
      for (double const smoothness : joint_smoothnesses) {
        joint_penalties& one = grid.emplace_back();
        one.weights = weights;
        one.points = points;
        one.smoothness = smoothness;
      }
  std::vector<std::vector<double>> scores(grid.size(), std::vector<double>(design_.documents()));
  for (std::size_t fold = 0; fold < folds_; ++fold) {
    quadratic const left = without(fold);
    double const scale = share(others(fold));
    for (std::size_t p = 0; p < grid.size(); ++p) {
      keep_fold(fold, design_.scores(ctx_, smallest(ctx_, design_, left, grid[p], scale)),
                scores[p]);
      ctx_.report("penalties", fold * grid.size() + p + 1, folds_ * grid.size());
    }
  }
  for (std::size_t p = 0; p < grid.size(); ++p) {
    std::vector<double> found = qualities(scores[p]);
    if (held_out_.empty() || mean_of(found) > mean_of(held_out_)) {
      held_out_ = std::move(found);
      penalties_ = grid[p];
    }
  }
}

/// The squared loss over all folds but one, without tables.
quadratic joint_fit::without(std::size_t fold) const {
  quadratic left(design_.unknowns());
  for (std::size_t k = 0; k < folds_; ++k)
    if (k != fold) left.add(start_[k]);
  return left;
}

document_pulls joint_fit::pulls_of(std::vector<std::size_t> const& chosen,
                                   std::vector<double> const& scores) const {
  document_pulls found{std::vector<double>(design_.documents()),
                       std::vector<double>(design_.documents())};
  auto& [pull, own] = found;
  for (std::size_t const q : chosen) {
    datasets::query_group const& query = training_.queries[q];
    std::size_t const n = query.size();
    auto const labels = std::span(items().labels).subspan(query.begin, n);
    if (loss_ == card_loss::point) {
      for (std::size_t d = query.begin; d < query.end; ++d) {
        pull[d] = (items().labels[d] - mean_ - scores[d]) / scale_;
        own[d] = 1 / scale_;
      }
      continue;
    }
    pair_weights const weights = gain_weights(labels);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double const w = weights(i, j) / static_cast<double>(learned_from_.size());
        if (w == 0) continue;
        std::size_t const a = query.begin + i, b = query.begin + j;
        double const short_of = w * (1 - (scores[a] - scores[b]));
        pull[a] += short_of;
        pull[b] -= short_of;
        own[a] += w;
        own[b] += w;
      }
  }
  return found;
}

/// The pairs ordered by the gain of their table: how far it alone would reduce the squared loss of
/// these queries at `scores` if documents of different cells were not compared.
std::vector<feature_pair> joint_fit::best_pairs(std::vector<std::size_t> const& chosen,
                                                std::vector<double> const& scores,
                                                std::size_t most) const {
  document_pulls const of = pulls_of(chosen, scores);
  std::size_t const features = design_.features();
  constexpr std::size_t side = joint_groups + 1;
  std::vector<std::vector<std::uint8_t>> group(features);
  for (std::size_t f = 0; f < features; ++f)
    for (std::size_t d = 0; d < design_.documents(); ++d)
      group[f].push_back(static_cast<std::uint8_t>(
          joint_group_of(items().code(f, d), items().bins(f), items().has_missing_item[f])));
  std::vector<std::vector<feature_pair>> of_first(features);
  parallel_for(ctx_, features, 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t f = begin; f < end; ++f)
      for (std::size_t g = f + 1; g < features; ++g) {
        std::array<double, side * side> pulls{}, owns{};
        for (std::size_t d = 0; d < design_.documents(); ++d) {
          std::size_t const cell = group[f][d] * side + group[g][d];
          pulls[cell] += of.pull[d];
          owns[cell] += of.own[d];
        }
        double gain = 0;
        for (std::size_t c = 0; c < pulls.size(); ++c)
          gain += pulls[c] * pulls[c] / (owns[c] + screening_penalty);
        of_first[f].push_back({gain, f, g});
      }
  });
  std::vector<feature_pair> all;
  for (auto const& some : of_first) all.insert(all.end(), some.begin(), some.end());
  std::ranges::stable_sort(all, std::greater<>{}, &feature_pair::gain);
  all.resize(std::min(all.size(), most));
  return all;
}

/// The cross-fitted qualities of the queries for fits with `pairs` tables.
std::vector<double> joint_fit::qualities_with(std::size_t pairs) const {
  std::vector<double> scores(design_.documents());
  for (std::size_t fold = 0; fold < folds_; ++fold) {
    std::vector<std::size_t> const chosen = others(fold);
    quadratic const left = without(fold);
    double const scale = share(chosen);
    joint_design design = design_;
    for (feature_pair const& one : best_pairs(
             chosen, design_.scores(ctx_, smallest(ctx_, design_, left, penalties_, scale)), pairs))
      design.add_table(one.first, one.second);
    keep_fold(
        fold,
        design.scores(ctx_, smallest(ctx_, design, start(design, chosen, left), penalties_, scale)),
        scores);
    ctx_.report("pairs of features", fold + 1, folds_);
  }
  return qualities(scores);
}

/// Chooses the number of tables: they must gain more than one standard error on held-out folds.
std::size_t joint_fit::choose_pairs() {
  std::size_t const features = design_.features();
  std::size_t const most = std::min(options_.max_pairs, features * (features - 1) / 2);
  if (most == 0) return 0;
  std::size_t best = 0;
  std::vector<double> best_found = held_out_;
  for (std::size_t const pairs : {std::min(few_pairs, most), most}) {
    if (pairs == best) break;
    std::vector<double> const found = qualities_with(pairs);
    std::vector<double> ahead(found.size());
    std::ranges::transform(found, best_found, ahead.begin(), std::minus<>());
    if (found.size() < 2 || mean_of(ahead) <= errors_ahead * eval::standard_error(ahead)) break;
    best = pairs;
    best_found = found;
  }
  return best;
}

std::int64_t whole(double value) {
  double const scaled = std::nearbyint(std::ldexp(value, joint_bits));
  if (!(std::abs(scaled) <= 0x1p52))
    throw usage_error(fmt::format(
        "found a weight or points of {}, which is too large; use smaller labels", value));
  return static_cast<std::int64_t>(scaled);
}

joint_member joint_fit::rounded(joint_design const& design, std::vector<feature_pair> const& pairs,
                                std::vector<double> const& x) const {
  joint_member made;
  made.options = options_;
  made.penalties = penalties_;
  made.loss = loss_;
  made.cuts = training_.cuts;  // which joint_parts reads
  made.features = items().features;
  made.item_begin = items().item_begin;
  std::size_t const features = design.features(), after = features + items().items();
  for (std::size_t i = 0; i < after; ++i)
    (i < features ? made.weights : made.points).push_back(whole(x[i]));
  std::size_t at = after;
  for (feature_pair const& pair : pairs) {
    joint_pair& one = made.pairs.emplace_back(joint_pair{pair.first, pair.second, {}});
    auto const groups = [&](std::size_t f) {
      return joint_group_count(items().bins(f), items().has_missing_item[f]);
    };
    for (std::size_t c = groups(pair.first) * groups(pair.second); c > 0; --c)
      one.points.push_back(whole(x[at++]));
  }
  made.training_documents = static_cast<std::uint32_t>(design.documents());
  std::vector<double> moved(features + pairs.size());
  for (std::size_t d = 0; d < design.documents(); ++d) {
    std::vector<double> const parts = joint_parts(made, training_.documents, d);
    for (std::size_t k = 0; k < parts.size(); ++k) moved[k] += std::abs(parts[k]);
  }
  for (double const one : moved)
    made.moved.push_back(whole(one / static_cast<double>(design.documents())));
  return made;
}

joint_member joint_fit::fit() {
  std::size_t pairs = 0;
  if (folds_ > 1) {
    for (std::size_t fold = 0; fold < folds_; ++fold) {
      std::vector<std::size_t> chosen;
      for (std::size_t const q : learned_from_)
        if (dealt_[q] == fold) chosen.push_back(q);
      start_.push_back(start(design_, chosen));
    }
    choose_penalties();
    pairs = choose_pairs();
  }
  quadratic squared(design_.unknowns());
  if (folds_ > 1)
    for (quadratic const& one : start_) squared.add(one);
  else
    squared = start(design_, learned_from_);
  start_.clear();
  std::vector<double> x = smallest(ctx_, design_, squared, penalties_, 1);
  std::vector<feature_pair> chosen;
  joint_design design = design_;
  if (pairs > 0) {
    chosen = best_pairs(learned_from_, design_.scores(ctx_, x), pairs);
    for (feature_pair const& one : chosen) design.add_table(one.first, one.second);
    x = smallest(ctx_, design, start(design, learned_from_, squared), penalties_, 1);
  }
  joint_queries const of{training_.queries, items().labels, learned_from_};
  for (int round = 0; round < lambda_rounds && loss_ == card_loss::pair && !learned_from_.empty();
       ++round) {
    ctx_.report("joint", static_cast<std::uint64_t>(round), lambda_rounds);
    x = smallest(ctx_, design, logistic_pairs(ctx_, design, of, design.scores(ctx_, x)), penalties_,
                 logistic_scale);
  }
  return rounded(design, chosen, x);
}

}  // namespace

joint_member fit_joint(context const& ctx, joint_training const& training,
                       joint_options const& options) {
  check(options);
  return joint_fit(ctx, training, options).fit();
}

}  // namespace rulerank::l2r
