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

/// The loss that suits the labels.
card_loss loss_for(std::span<datasets::query_group const> queries,
                   datasets::binned_dataset const& training) {
  std::size_t compared = 0, with_pairs = 0;
  for (datasets::query_group const& q : queries) {
    if (!has_pairs(q, training.labels)) continue;
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
  for (judged& one : all)
    one.trial.quality = std::accumulate(one.qualities.begin(), one.qualities.end(), 0.0) /
                        static_cast<double>(one.qualities.size());
  return all;
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
  if (asked.page->choose_loss) choice.options.loss = loss_for(queries, training);
  choice.options.page->choose_loss = false;
  bool const learns =
      std::ranges::adjacent_find(training.labels, std::not_equal_to<>()) != training.labels.end();
  if (queries.size() < 2 || !learns) return choice;
  std::vector<std::size_t> sizes;
  std::size_t const most = std::min(asked.page->max_features, training.feature_count());
  for (std::size_t const size : page_sizes)
    if (size < most && !asked.page->only_these) sizes.push_back(size);
  sizes.push_back(most);
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

}  // namespace rulerank::l2r
