#include "core/process_group.hpp"
#include "l2r/joint/joint.hpp"
#include "l2r/model/query_folds.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/scorecard/one_page.hpp"
#include "l2r/scorecard/query_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

/// The documents in one fold's queries, or in all other folds. `folds`: [queries].
std::vector<std::size_t> documents_of_fold(datasets::dataset const& train,
                                           std::vector<std::size_t> const& folds, std::size_t fold,
                                           bool inside) {
  std::vector<std::size_t> documents;
  for (std::size_t q = 0; q < train.queries.size(); ++q)
    if ((folds[q] == fold) == inside)
      for (std::size_t d = train.queries[q].begin; d < train.queries[q].end; ++d)
        documents.push_back(d);
  return documents;
}

/// Upper bound on each feature's bins: its number of values, counting "not listed" as one. Features
/// with one bin are left out.
std::vector<std::size_t> bins_of_features(datasets::dataset const& train, std::size_t most_bins) {
  struct listed {
    std::vector<double> values;  // distinct, unordered
    std::size_t documents = 0;
  };
  std::unordered_map<std::uint32_t, listed> features;
  for (std::size_t d = 0; d < train.size(); ++d)
    for (datasets::feature_value const& v : train.document(d)) {
      listed& of = features[v.feature];
      ++of.documents;
      if (of.values.size() < most_bins && std::ranges::find(of.values, v.value) == of.values.end())
        of.values.push_back(v.value);
    }
  std::vector<std::size_t> bins;
  for (auto const& [feature, of] : features) {
    std::size_t const found = of.values.size() + (of.documents < train.size() ? 1 : 0);
    if (found > 1) bins.push_back(std::min(found, most_bins));
  }
  return bins;
}

/// Whether a joint member can be fitted in a time acceptable for a comparison.
bool suits_joint(datasets::dataset const& train, datasets::discretizer_options const& discretizer,
                 datasets::discretizer const* cuts) {
  constexpr double most_work = 1e9;  // half a minute for all folds
  std::size_t features = 0, unknowns = 0;
  if (cuts == nullptr) {
    // A weight per feature, and points for its bins and missing values.
    auto const bins = bins_of_features(train, static_cast<std::size_t>(discretizer.bins) + 1);
    features = bins.size();
    unknowns = std::accumulate(bins.begin(), bins.end(), features);
  } else {
    features = cuts->features.size();
    for (datasets::feature_cuts const& f : cuts->features) unknowns += f.cuts.size() + 3;
  }
  return unknowns <= most_joint_unknowns &&
         static_cast<double>(train.size()) * static_cast<double>(features * unknowns) <=
             most_work &&
         std::ranges::all_of(train.queries,
                             [](auto const& query) { return query.size() <= most_joint_list; });
}

/// ndcg_of_pairs over the labelled documents.
std::vector<double> qualities(context const& ctx, datasets::dataset const& test,
                              std::vector<double> const& scores) {
  std::vector<datasets::query_group> lists;
  std::vector<std::int32_t> labels;
  std::vector<double> of_labelled;
  for (datasets::query_group const& query : test.queries) {
    datasets::query_group list{query.qid, labels.size(), labels.size()};
    for (std::size_t d = query.begin; d < query.end; ++d) {
      if (test.labels[d] < 0) continue;
      labels.push_back(test.labels[d]);
      of_labelled.push_back(scores[d]);
    }
    list.end = labels.size();
    if (list.size() > 0) lists.push_back(std::move(list));
  }
  return ndcg_of_pairs(ctx, labels, lists, of_labelled);
}

/// The best model; if `fittable`, among those with recipes.
std::size_t best_of(std::span<compared_model const> models, bool fittable) {
  std::size_t best = 0;
  for (std::size_t m = 1; m < models.size(); ++m)
    if (models[m].quality > models[best].quality && !(fittable && models[m].rank)) best = m;
  return best;
}

/// `own`: index of the best fittable model.
std::string reason_of(std::span<compared_model const> models, std::size_t own) {
  std::size_t const best = best_of(models, false);
  constexpr char const* better = "{} ranks significantly better than the card";
  std::vector<std::string> found;
  if (best != own && models[best].is_better)
    found.push_back(fmt::format(better, models[best].name));
  if (models[own].is_better) found.push_back(fmt::format(better, models[own].name));
  if (!found.empty()) return fmt::format("{}", fmt::join(found, "; "));
  if (best == 0) return "no model ranks better than the card";
  return fmt::format(
      "no model ranks significantly better than the card after correction for {} comparisons; {} "
      "may be better by up to {:.4f}",
      models.size() - 1, models[best].name, models[best].ahead.high);
}

}  // namespace

std::vector<compared_model> models_beside_card(
    datasets::dataset const& train, datasets::discretizer_options const& discretizer,
    std::shared_ptr<datasets::discretizer const> const& cuts) {
  datasets::discretizer_options bins = discretizer;
  bins.method = datasets::binning::frequency;
  bins.bins = 20;
  scorecard_options pairs;
  pairs.cross_fit = true;
  linear_options line;
  line.strength = 0;
  line.missing = discretizer.missing;
  line.unlisted = discretizer.unlisted;
  std::vector<compared_model> all;
  all.push_back({"scorecard,linear (loss pair, cross-fitted)",
                 {scorecard_recipe{bins, cuts, pairs}, linear_recipe{line}}});
  all.push_back({"recommended", recommend(count_labels(train), discretizer, cuts).recipes});
  all.push_back({"linear (cross-fitted)", {linear_recipe{line}}});
  bool const suits = suits_joint(train, bins, cuts.get());
  joint_recipe const joint{bins, cuts, {}};
  bins.bins = 10;
  all.push_back({"rules", {rules_recipe{bins, cuts, {}}}});
  if (suits) all.push_back({"joint", {joint}});
  return all;
}

void compare_models(context const& ctx, datasets::dataset const& train,
                    std::span<compared_model> models, std::size_t folds) {
  context quiet = without_processes(ctx);
  quiet.progress = {};
  folds = std::min(folds, train.queries.size());
  std::vector<std::size_t> const dealt = deal_queries(ctx.seed, train.queries.size(), folds);
  std::vector<std::vector<double>> found(models.size());
  std::uint64_t done = 0;
  for (std::size_t fold = 0; fold < folds && folds > 1; ++fold) {
    auto const others = datasets::subset(train, documents_of_fold(train, dealt, fold, false));
    auto const left_out = datasets::subset(train, documents_of_fold(train, dealt, fold, true));
    bool const learns = std::ranges::any_of(others.labels, [](auto label) { return label >= 0; });
    for (std::size_t m = 0; m < models.size(); ++m) {
      if (learns) {
        auto const scored =
            models[m].rank ? models[m].rank(quiet, others, left_out)
                           : score(quiet, fit(quiet, others, models[m].recipes), left_out).scores;
        auto const own = qualities(quiet, left_out, scored);
        found[m].insert(found[m].end(), own.begin(), own.end());
      }
      ctx.report("compare models", ++done, folds * models.size());
    }
  }
  double const of_one = 0.05 / static_cast<double>(std::max<std::size_t>(models.size() - 1, 1));
  for (std::size_t m = 0; m < models.size(); ++m) {
    compared_model& one = models[m];
    one.queries = found[m].size();
    if (one.queries == 0) continue;
    one.quality =
        std::accumulate(found[m].begin(), found[m].end(), 0.0) / static_cast<double>(one.queries);
    std::vector<double> ahead(one.queries);
    std::ranges::transform(found[m], found.front(), ahead.begin(), std::minus<>());
    one.ahead = eval::confidence_interval(ahead);
    one.is_better = one.queries > 1 && eval::confidence_interval(ahead, 1 - of_one).low > 0;
  }
}

std::vector<card_sizes> tried_sizes(model const& of) {
  std::vector<card_sizes> all;
  for (model_member const& member : of.members)
    if (auto const* const card = std::get_if<scorecard_member>(&member);
        card != nullptr && card->frontier.size() > 1)
      all.push_back({card->frontier_loss, card->frontier,
                     std::min(card->options.page->max_features, card->frontier.back().features)});
  return all;
}

fit_result result_of(model fitted) {
  fit_result result;
  result.sizes = tried_sizes(fitted);
  result.model = std::move(fitted);
  return result;
}

void try_sizes(context const& ctx, datasets::dataset const& train, fit_result& result,
               card_comparison const& how) {
  auto* const card = std::get_if<scorecard_member>(&result.model.members.front());
  if (result.model.members.size() != 1 || card == nullptr || !card->options.page ||
      card->options.page->target != card_target::members)
    return;
  datasets::discretizer const cuts =
      how.cuts ? *how.cuts : datasets::fit_discretizer(ctx, train, how.card);
  tried_cards tried = try_graded_sizes(ctx, train, {how.card, how.cuts}, cuts, card->options);
  if (tried.trials.empty()) return;
  card->frontier = std::move(tried.trials);
  card->frontier_loss = tried.loss;
  card->cross_fitted_folds = card->options.folds;
  result.sizes = tried_sizes(result.model);
}

void compare_card(context const& ctx, datasets::dataset const& train, fit_result& result,
                  card_comparison const& how) {
  auto const& card = std::get<scorecard_member>(result.model.members.front());
  std::vector<compared_model> models{
      {"card", {scorecard_recipe{how.card, how.cuts, card.options}}}};
  for (compared_model& one : models_beside_card(train, how.discretizer, how.cuts))
    models.push_back(std::move(one));
  models.insert(models.end(), how.peers.begin(), how.peers.end());
  compare_models(ctx, train, models, how.folds);
  if (models.front().queries < 2) {
    result.reason = "fewer than two queries have documents of different labels";
    return;
  }
  result.best = best_of(models, true);
  result.reason = reason_of(models, result.best);
  result.compared = std::move(models);
  if (!how.fits_best || result.best == 0) return;
  result.chosen = result.best;
  result.model = fit(ctx, train, result.compared[result.best].recipes);
}

}  // namespace rulerank::l2r
