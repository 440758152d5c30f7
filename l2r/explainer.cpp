#include "core/error.hpp"
#include "l2r/explanation.hpp"
#include "l2r/member_kind.hpp"
#include "l2r/prepared_training.hpp"
#include "l2r/scorer.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>

namespace rulerank::l2r {

namespace {

/// Engines give the same bits: anything else is a fault of this program.
void expect_same_score(double explained, double scored) {
  if (explained != scored)
    throw std::logic_error(
        fmt::format("the rules add up to {}, the engine's score is {}", explained, scored));
}

/// From 1.
std::size_t rank_of(std::vector<std::size_t> const& order, std::size_t d) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), d) - order.begin()) + 1;
}

void expect_document(std::vector<double> const& scores, std::size_t d) {
  if (d >= scores.size())
    throw usage_error(fmt::format("document {}, expected one of {}, from 0", d, scores.size()));
}

}  // namespace

std::vector<datasets::item_range> item_ranges(ranker const& by, datasets::discretizer const& cuts) {
  prepared_training const& training = by.prepared();
  datasets::binned_dataset columns;  // without documents
  columns.features = training.features;
  columns.item_begin = training.item_begin;
  columns.has_missing_item = training.has_missing_item;
  return datasets::item_ranges(columns, cuts);
}

explainer::explainer(context const& ctx, scorer const& by, datasets::dataset const& list)
    : by_(by) {
  if (list.queries.size() != 1)
    throw usage_error(
        fmt::format("documents of {} queries to explain, expected one", list.queries.size()));
  std::size_t const members = by.fitted().members.size();
  std::vector<std::vector<double>> all;
  for (std::size_t k = 0; k < members; ++k) {
    auto const* const rules = std::get_if<rules_member>(&by.fitted().members[k]);
    if (rules == nullptr || by.prepared(k).rules() == nullptr)
      throw usage_error(fmt::format("member {} has no rules to explain it by", k + 1));
    member_list mine;
    for (std::size_t j = 0; j < k && !mine.items; ++j)
      if (same_cuts(rules->cuts, std::get<rules_member>(by.fitted().members[j]).cuts))
        mine.items = members_[j].items;
    if (!mine.items) {
      if (!rules->cuts) throw usage_error("a member without cuts, which documents become items by");
      mine.items = std::make_shared<datasets::binned_dataset const>(
          datasets::apply_discretizer(ctx, list, *rules->cuts));
    }
    mine.scores = by.prepared(k).score(ctx, *mine.items).scores;
    mine.order = ranking(mine.scores, 0, mine.scores.size());
    auto const [mean, deviation] = moments_of(mine.scores);
    mine.mean = mean;
    mine.deviation = deviation;
    all.push_back(mine.scores);
    members_.push_back(std::move(mine));
  }
  scores_ = combine(list.queries, all);
  order_ = ranking(scores_, 0, scores_.size());
}

ranker const& explainer::rules_of(std::size_t k) const {
  return *by_.prepared(k).rules();
}

double explainer::part(std::size_t k, std::size_t d) const {
  member_list const& mine = members_[k];
  if (members_.size() == 1) return mine.scores[d];
  return standardized(mine.scores[d], {mine.mean, mine.deviation}) /
         static_cast<double>(members_.size());
}

model_explanation explainer::explain(context const& ctx, std::size_t d, std::size_t top) const {
  expect_document(scores_, d);
  model_explanation whole{scores_[d], rank_of(order_, d), {}};
  for (std::size_t k = 0; k < members_.size(); ++k) {
    member_list const& mine = members_[k];
    whole.members.push_back({l2r::explain(ctx, rules_of(k), *mine.items, d, top),
                             rank_of(mine.order, d), mine.mean, mine.deviation, part(k, d)});
    expect_same_score(whole.members.back().why.score, mine.scores[d]);
  }
  return whole;
}

model_comparison explainer::compare(context const& ctx, std::size_t first, std::size_t second,
                                    std::size_t top) const {
  expect_document(scores_, first);
  expect_document(scores_, second);
  model_comparison whole{
      scores_[first], scores_[second], rank_of(order_, first), rank_of(order_, second), {}};
  for (std::size_t k = 0; k < members_.size(); ++k) {
    member_list const& mine = members_[k];
    whole.members.push_back({l2r::compare(ctx, rules_of(k), *mine.items, first, second, top),
                             rank_of(mine.order, first), rank_of(mine.order, second), mine.mean,
                             mine.deviation, part(k, first), part(k, second)});
    expect_same_score(whole.members.back().why.first.score, mine.scores[first]);
    expect_same_score(whole.members.back().why.second.score, mine.scores[second]);
  }
  return whole;
}

std::vector<datasets::item_range> explainer::ranges(std::size_t k) const {
  return item_ranges(rules_of(k), *std::get<rules_member>(by_.fitted().members[k]).cuts);
}

}  // namespace rulerank::l2r
