#include "core/process_group.hpp"
#include "l2r/model/query_folds.hpp"
#include "l2r/scorecard/one_page.hpp"
#include "l2r/scorecard/query_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

// Chooses the card on one page by cross-fitting.
namespace rulerank::inline v0::l2r {

namespace {

constexpr std::array<double, 6> page_smoothnesses{3, 1, 0.3, 0.1, 0.03, 0.01};
constexpr std::size_t usual_smoothness = 3;  // index into the grid above

// Differences between cards are mostly noise, so they are compared with their standard errors. With
// few labels a smaller card often seems equally good by chance: it must be shown to be at most this
// share of quality below the largest.
constexpr double errors_of_doubt = 2;
constexpr double share_behind_largest = 0.005;
constexpr std::array<std::size_t, 4> page_sizes{3, 5, 8, 10};

/// Mean number of labelled documents per query from which on pairs are used.
constexpr double documents_for_pairs = 10;

/// With fewer queries to judge by, the standard errors of a frontier mean little.
constexpr std::size_t fewest_judging_queries = 20;

/// The loss that suits the labels.
card_loss loss_for(std::span<datasets::query_group const> queries,
                   std::span<std::int32_t const> labels) {
  std::size_t compared = 0, with_pairs = 0;
  for (datasets::query_group const& q : queries) {
    if (!has_pairs(q, labels)) continue;
    ++with_pairs;
    compared += q.size();
  }
  return static_cast<double>(compared) >= documents_for_pairs * static_cast<double>(with_pairs) &&
                 with_pairs > 0
             ? card_loss::pair
             : card_loss::point;
}

std::vector<double> totals_of(datasets::binned_dataset const& items,
                              std::vector<double> const& points) {
  std::vector<double> total(items.documents);
  for (std::size_t f = 0; f < items.feature_count(); ++f) {
    double const* const of_feature = points.data() + items.item_begin[f];
    if (std::all_of(of_feature, of_feature + items.bins(f), [](auto p) { return p == 0; }))
      continue;
    std::uint8_t const* const codes = items.column(f);
    for (std::size_t d = 0; d < items.documents; ++d)
      if (codes[d] != datasets::no_item) total[d] += of_feature[codes[d]];
  }
  return total;
}

/// The quality of a card for each query that distinguishes cards.
std::vector<double> qualities(context const& ctx, query_subset const& left_out,
                              page_card const& page, card_loss loss, double mean) {
  std::vector<double> total = totals_of(left_out.items, page.points);
  std::vector<double> found;
  if (loss == card_loss::point) {
    for (datasets::query_group const& q : left_out.queries) {
      double sum = 0;
      for (std::size_t d = q.begin; d < q.end; ++d) {
        double const away = left_out.items.labels[d] - mean - page.offset - page.unit * total[d];
        sum += away * away;
      }
      found.push_back(-sum);
    }
    return found;
  }
  return ndcg_of_pairs(ctx, left_out.items.labels, left_out.queries, total);
}

struct judged {
  card_trial trial;
  std::vector<double> qualities;
};

bool is_worse(judged const& a, judged const& b) {
  return a.trial.quality < b.trial.quality;
}

/// Sets a trial's difference to `best` and its standard error.
void compare(judged& one, judged const& best) {
  auto const n = static_cast<double>(one.qualities.size());
  double sum = 0, squares = 0;
  for (std::size_t q = 0; q < one.qualities.size(); ++q) {
    double const behind = best.qualities[q] - one.qualities[q];
    sum += behind;
    squares += behind * behind;
  }
  one.trial.behind = sum / n;
  one.trial.error =
      n > 1 ? std::sqrt(std::max(0.0, squares / n - one.trial.behind * one.trial.behind) / (n - 1))
            : 0;
}

/// The trial to use for one size, among its smoothnesses.
judged best_of_size(std::span<judged const> trials) {
  judged const& best = *std::ranges::max_element(trials, is_worse);
  judged usual = trials[usual_smoothness];
  compare(usual, best);
  return usual.trial.behind > errors_of_doubt * usual.trial.error ? best : usual;
}

/// The sizes to try, ascending. `features`: those that have bins.
std::vector<std::size_t> sizes_to_try(card_page const& page, std::size_t features) {
  std::vector<std::size_t> sizes;
  std::size_t const most = std::min(page.max_features, features);
  for (std::size_t const size : page_sizes)
    if (size < most && !page.only_these) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

void set_means(std::span<judged> all) {
  for (judged& one : all)
    one.trial.quality = std::accumulate(one.qualities.begin(), one.qualities.end(), 0.0) /
                        static_cast<double>(one.qualities.size());
}

/// Judges cards of each size and smoothness on held-out folds.
std::vector<judged> judge_cards(context const& ctx, std::span<datasets::query_group const> queries,
                                datasets::binned_dataset const& training,
                                datasets::discretizer const& cuts, scorecard_options options,
                                std::vector<std::size_t> const& sizes) {
  std::size_t const folds = std::min(options.folds, queries.size());
  std::vector<std::size_t> const dealt = deal_queries(ctx.seed, queries.size(), folds);
  std::vector<judged> all;
  for (std::size_t const size : sizes)
    for (double const smoothness : page_smoothnesses) all.push_back({{size, smoothness}, {}});
  context quiet = ctx;
  quiet.progress = {};  // progress counts cards, not steps
  std::uint64_t done = 0;
  for (std::size_t k = 0; k < folds; ++k) {
    query_subset const others = subset_of_fold(queries, training, dealt, k, false);
    query_subset const left_out = subset_of_fold(queries, training, dealt, k, true);
    double const mean = mean_label(others.items);
    for (std::size_t j = 0; j < page_smoothnesses.size(); ++j) {
      options.smoothness = page_smoothnesses[j];
      auto const pages =
          fit_pages(quiet, others.queries, others.items, cuts, options, sizes, fit_for::judgment);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        auto const found = qualities(quiet, left_out, pages[i], options.loss, mean);
        auto& to = all[i * page_smoothnesses.size() + j].qualities;
        to.insert(to.end(), found.begin(), found.end());
      }
      ctx.report("cards", ++done, folds * page_smoothnesses.size());
    }
  }
  set_means(all);
  return all;
}

/// The labelled documents of a pool, by query.
struct known_labels {
  std::vector<std::size_t> documents;
  std::vector<datasets::query_group> queries;  ///< of `documents`
  std::vector<std::int32_t> labels;            ///< [documents]
};

known_labels labels_of(datasets::dataset const& pool) {
  known_labels known;
  known.documents = datasets::labelled_documents(pool, "learn from");
  known.queries = datasets::subset_queries(pool, known.documents);
  for (std::size_t const d : known.documents) known.labels.push_back(pool.labels[d]);
  return known;
}

/// The line through the totals of documents that is nearest to their labels by squared error.
struct label_line {
  double mean_total = 0, mean_label = 0, slope = 0;

  label_line(std::span<double const> totals, std::span<std::int32_t const> labels) {
    auto const n = static_cast<double>(totals.size());
    mean_total = std::accumulate(totals.begin(), totals.end(), 0.0) / n;
    mean_label = std::accumulate(labels.begin(), labels.end(), 0.0) / n;
    double products = 0, squares = 0;
    for (std::size_t d = 0; d < totals.size(); ++d) {
      double const away = totals[d] - mean_total;
      products += away * (labels[d] - mean_label);
      squares += away * away;
    }
    if (squares > 0) slope = products / squares;
  }
  double operator()(double total) const { return mean_label + slope * (total - mean_total); }
};

/// The quality of a card for each query of a fold: by NDCG, or by the squared error of the line
/// through the totals of the other folds. `totals`: [pool].
std::vector<double> label_qualities(context const& ctx, known_labels const& known,
                                    std::vector<std::size_t> const& folds, std::size_t fold,
                                    card_loss loss, std::vector<double> const& totals) {
  std::vector<datasets::query_group> held;
  std::vector<double> own, others;
  std::vector<std::int32_t> own_labels, other_labels;
  for (std::size_t q = 0; q < known.queries.size(); ++q) {
    bool const inside = folds[q] == fold;
    std::size_t const begin = own.size();
    for (std::size_t i = known.queries[q].begin; i < known.queries[q].end; ++i) {
      (inside ? own : others).push_back(totals[known.documents[i]]);
      (inside ? own_labels : other_labels).push_back(known.labels[i]);
    }
    if (inside) held.push_back({known.queries[q].qid, begin, own.size()});
  }
  if (loss == card_loss::pair) return ndcg_of_pairs(ctx, own_labels, held, own);
  label_line const line(others, other_labels);
  std::vector<double> found;
  for (datasets::query_group const& q : held) {
    double sum = 0;
    for (std::size_t d = q.begin; d < q.end; ++d)
      sum += (own_labels[d] - line(own[d])) * (own_labels[d] - line(own[d]));
    found.push_back(-sum);
  }
  return found;
}

bool gives_all_points(card_page const& page) {
  return page.only_these && std::ranges::all_of(page.features, [](card_feature const& one) {
           return !one.points.empty() &&
                  std::ranges::all_of(one.points, [](auto const& points) { return !!points; });
         });
}

}  // namespace

page_choice choose_page(context const& ctx, std::span<datasets::query_group const> queries,
                        datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                        scorecard_options const& asked) {
  check(asked);
  page_choice choice{asked, {}};
  choice.options.cross_fit = false;
  if (!asked.cross_fit || gives_all_points(*asked.page)) return choice;
  if (asked.page->choose_loss) choice.options.loss = loss_for(queries, training.labels);
  choice.options.page->choose_loss = false;
  bool const learns =
      std::ranges::adjacent_find(training.labels, std::not_equal_to<>()) != training.labels.end();
  if (queries.size() < 2 || !learns) return choice;
  std::vector<std::size_t> const sizes = sizes_to_try(*asked.page, training.feature_count());
  std::vector<judged> const all = judge_cards(ctx, queries, training, cuts, choice.options, sizes);
  if (all.front().qualities.empty()) return choice;
  std::vector<judged> of_size;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    of_size.push_back(best_of_size(
        std::span(all).subspan(i * page_smoothnesses.size(), page_smoothnesses.size())));
  judged const largest = of_size.back();
  for (judged& one : of_size) {
    compare(one, largest);
    choice.frontier.push_back(one.trial);
  }
  auto const smallest = std::ranges::find_if(choice.frontier, [&](card_trial const& card) {
    return card.behind + errors_of_doubt * card.error <=
           share_behind_largest * std::abs(largest.trial.quality);
  });
  choice.options.page->max_features = smallest->features;
  choice.options.smoothness = smallest->smoothness;
  return choice;
}

tried_cards try_graded_sizes(context const& ctx, datasets::dataset const& train, grading const& how,
                             datasets::discretizer const& cuts, scorecard_options const& options) {
  known_labels const known = labels_of(train);
  tried_cards tried{loss_for(known.queries, known.labels), {}};
  auto const judging = std::ranges::count_if(known.queries, [&](datasets::query_group const& q) {
    return tried.loss == card_loss::point || has_pairs(q, known.labels);
  });
  auto const features = std::ranges::count_if(
      cuts.features, [](datasets::feature_cuts const& one) { return !one.cuts.empty(); });
  std::vector<std::size_t> const sizes =
      sizes_to_try(*options.page, static_cast<std::size_t>(features));
  if (static_cast<std::size_t>(judging) < fewest_judging_queries || sizes.size() < 2) return tried;
  std::vector<judged> all;
  for (std::size_t const size : sizes) all.push_back({{size, options.smoothness}, {}});
  auto const dealt = deal_queries(ctx.seed, known.queries.size(), options.folds);
  context quiet = without_processes(ctx);
  quiet.progress = {};
  datasets::dataset others = train;
  for (std::size_t k = 0; k < options.folds; ++k) {
    ctx.report("cards", k, options.folds);
    for (std::size_t q = 0; q < known.queries.size(); ++q)
      for (std::size_t i = known.queries[q].begin; i < known.queries[q].end; ++i)
        others.labels[known.documents[i]] = dealt[q] == k ? datasets::unlabelled : known.labels[i];
    query_subset const pool = graded_by_members(quiet, others, how, cuts);
    auto const pages = fit_pages(quiet, pool.queries, pool.items, cuts, options_for_grades(options),
                                 sizes, fit_for::judgment);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      auto const found = label_qualities(quiet, known, dealt, k, tried.loss,
                                         totals_of(pool.items, pages[i].points));
      all[i].qualities.insert(all[i].qualities.end(), found.begin(), found.end());
    }
  }
  ctx.report("cards", options.folds, options.folds);
  set_means(all);
  for (judged& one : all) {
    compare(one, all.back());
    tried.trials.push_back(one.trial);
  }
  return tried;
}

}  // namespace rulerank::l2r
