#include "core/error.hpp"
#include "core/random.hpp"
#include "datasets/dataset_rows.hpp"
#include "l2r/explain/inspection.hpp"
#include "l2r/scorecard/graded_pool.hpp"
#include "l2r/scorecard/one_page.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

// Bootstrap of a card's points over queries, with percentile intervals (B. Efron and R. J.
// Tibshirani, An introduction to the bootstrap, 1993).
namespace rulerank::inline v0::l2r {

namespace {

bool is_graded(scorecard_member const& card) {
  return card.options.page->target == card_target::members;
}

/// The documents that the card was fitted to: all of the pool for grades, else those with a label.
query_subset fitted_documents(context const& ctx, scorecard_member const& card,
                              datasets::dataset const& train) {
  std::vector<std::size_t> fitted = datasets::labelled_documents(train, "learn from");
  if (is_graded(card)) {
    fitted.resize(train.size());
    std::iota(fitted.begin(), fitted.end(), std::size_t{0});
  }
  query_subset all{datasets::subset_queries(train, fitted),
                   datasets::subset(datasets::apply_discretizer(ctx, train, *card.cuts), fitted)};
  std::vector<std::uint32_t> documents(card.card.points.size());
  bool same = all.items.features == card.card.features &&
              all.items.item_begin == card.card.item_begin &&
              all.items.documents == card.training_documents;
  if (same)
    for (std::size_t f = 0; f < all.items.feature_count(); ++f)
      for (std::size_t d = 0; d < all.items.documents; ++d)
        if (std::uint8_t const code = all.items.code(f, d); code != datasets::no_item)
          ++documents[all.items.item_begin[f] + code];
  if (!same || documents != card.item_documents)
    throw usage_error(
        fmt::format("{}: found {}, expected the {} {}that the card was fitted to", train.name,
                    counted(fitted.size(), is_graded(card) ? "document" : "labelled document"),
                    card.training_documents, is_graded(card) ? "of the pool " : ""));
  return all;
}

/// Queries and their documents, as indices into a set.
struct query_sample {
  std::vector<datasets::query_group> queries;
  std::vector<std::size_t> documents;

  void add(datasets::query_group const& one) {
    queries.push_back({one.qid, documents.size(), documents.size() + one.size()});
    for (std::size_t d = one.begin; d < one.end; ++d) documents.push_back(d);
  }
};

/// A sample of the queries with replacement, as many as there are.
query_sample resampled(std::span<datasets::query_group const> queries, random_engine& engine) {
  query_sample made;
  for (std::size_t i = 0; i < queries.size(); ++i)
    made.add(queries[uniform_below(engine, queries.size())]);
  return made;
}

/// A sample of the queries that have labels, with replacement, and all other queries of the pool.
datasets::dataset resampled_pool(datasets::dataset const& train, random_engine& engine) {
  std::vector<datasets::query_group> labelled, others;
  for (datasets::query_group const& q : train.queries) {
    bool const known = std::any_of(train.labels.begin() + static_cast<std::ptrdiff_t>(q.begin),
                                   train.labels.begin() + static_cast<std::ptrdiff_t>(q.end),
                                   [](std::int32_t label) { return label >= 0; });
    (known ? labelled : others).push_back(q);
  }
  query_sample made = resampled(labelled, engine);
  for (datasets::query_group const& q : others) made.add(q);
  datasets::dataset pool = datasets::rows_of(train, made.documents);
  pool.queries = std::move(made.queries);
  return pool;
}

}  // namespace

std::vector<points_interval> bootstrap(context const& ctx, scorecard_member const& card,
                                       datasets::dataset const& train, std::size_t samples) {
  if (!card.options.page || !card.cuts) throw usage_error("found no card, expected one");
  if (samples == 0) throw usage_error("found 0 samples, expected at least 1");
  query_subset const all = fitted_documents(ctx, card, train);
  scorecard_options options = card.options;
  options.page->max_features = card.card.features.size();
  options.page->choose_loss = false;
  if (is_graded(card)) options = options_for_grades(options);
  context quiet = ctx;
  quiet.progress = {};
  random_engine engine(ctx.seed);
  std::vector<std::vector<double>> points(card.card.points.size());
  for (std::size_t s = 0; s < samples; ++s) {
    ctx.report("bootstrap", s, samples);
    query_subset sample;
    if (is_graded(card)) {
      sample = graded_by_members(quiet, resampled_pool(train, engine), {card.cuts->options, {}},
                                 *card.cuts);
    } else {
      query_sample made = resampled(all.queries, engine);
      sample = {std::move(made.queries), datasets::subset(all.items, made.documents)};
    }
    page_card const page = fit_page(quiet, sample.queries, sample.items, *card.cuts, options);
    for (std::size_t x = 0; x < points.size(); ++x) points[x].push_back(page.points[x]);
  }
  ctx.report("bootstrap", samples, samples);
  std::vector<points_interval> intervals;
  auto const last = static_cast<double>(samples - 1);
  for (std::vector<double>& of_item : points) {
    std::ranges::sort(of_item);
    intervals.push_back({of_item[static_cast<std::size_t>(std::floor(0.05 * last))],
                         of_item[static_cast<std::size_t>(std::ceil(0.95 * last))]});
  }
  return intervals;
}

}  // namespace rulerank::l2r
