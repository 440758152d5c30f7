#include "core/error.hpp"
#include "core/random.hpp"
#include "l2r/explain/inspection.hpp"
#include "l2r/scorecard/one_page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

// Bootstrap of a card's points over queries, with percentile intervals (B. Efron and R. J.
// Tibshirani, An introduction to the bootstrap, 1993).
namespace rulerank::inline v0::l2r {

namespace {

/// Labelled documents as items, with their queries.
struct query_sample {
  std::vector<datasets::query_group> queries;
  datasets::binned_dataset items;
};

/// The documents that the card was fitted to.
query_sample fitted_documents(context const& ctx, scorecard_member const& card,
                              datasets::dataset const& train) {
  std::vector<std::size_t> const labelled = datasets::labelled_documents(train, "learn from");
  query_sample all{datasets::subset_queries(train, labelled),
                   datasets::subset(datasets::apply_discretizer(ctx, train, *card.cuts), labelled)};
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
    throw usage_error(fmt::format("{}: found {}, expected the {} that the card was fitted to",
                                  train.name, counted(labelled.size(), "labelled document"),
                                  card.training_documents));
  return all;
}

/// A sample of the queries with replacement, as many as `all` has.
query_sample resampled(query_sample const& all, random_engine& engine) {
  query_sample made;
  std::vector<std::size_t> documents;
  for (std::size_t i = 0; i < all.queries.size(); ++i) {
    datasets::query_group const& one = all.queries[uniform_below(engine, all.queries.size())];
    made.queries.push_back({one.qid, documents.size(), documents.size() + one.size()});
    for (std::size_t d = one.begin; d < one.end; ++d) documents.push_back(d);
  }
  made.items = datasets::subset(all.items, documents);
  return made;
}

}  // namespace

std::vector<points_interval> bootstrap(context const& ctx, scorecard_member const& card,
                                       datasets::dataset const& train, std::size_t samples) {
  if (!card.options.page || !card.cuts) throw usage_error("found no card, expected one");
  if (card.options.page->target == card_target::members)
    throw usage_error(
        "found a card that was fitted to grades of the recommended members, expected a card fitted "
        "to labels");
  if (samples == 0) throw usage_error("found 0 samples, expected at least 1");
  query_sample const all = fitted_documents(ctx, card, train);
  scorecard_options options = card.options;
  options.page->max_features = card.card.features.size();
  options.page->choose_loss = false;
  random_engine engine(ctx.seed);
  std::vector<std::vector<double>> points(card.card.points.size());
  for (std::size_t s = 0; s < samples; ++s) {
    ctx.report("bootstrap", s, samples);
    query_sample const sample = resampled(all, engine);
    context quiet = ctx;
    quiet.progress = {};
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
