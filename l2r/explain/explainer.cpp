#include "core/error.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/joint/joint.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "l2r/rules/rule_walk.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

/// Engines give the same bits; a difference is a bug of this program.
void expect_same_score(double explained, double scored) {
  if (explained != scored)
    throw std::logic_error(
        fmt::format("the rules add up to {}, the engine's score is {}", explained, scored));
}

/// Returns a rank from 1.
std::size_t rank_of(std::vector<std::size_t> const& order, std::size_t d) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), d) - order.begin()) + 1;
}

void expect_document(std::vector<double> const& scores, std::size_t d) {
  if (d >= scores.size())
    throw usage_error(
        fmt::format("found document {}, expected 0 or more and less than {}", d, scores.size()));
}

}  // namespace

std::vector<datasets::item_range> item_ranges(ranker const& by, datasets::discretizer const& cuts) {
  prepared_training const& training = ranker_access::prepared(by);
  datasets::binned_dataset columns;  // without documents
  columns.features = training.features;
  columns.item_begin = training.item_begin;
  columns.has_missing_item = training.has_missing_item;
  return datasets::item_ranges(columns, cuts);
}

namespace {

std::vector<datasets::item_range> ranges_by(cuts_pointer const& cuts,
                                            std::vector<std::uint32_t> const& features,
                                            std::vector<std::uint32_t> const& item_begin) {
  datasets::binned_dataset columns;  // without documents
  columns.features = features;
  columns.item_begin = item_begin;
  for (std::size_t f = 0; f < features.size(); ++f) {
    auto const at =
        std::ranges::lower_bound(cuts->features, features[f], {}, &datasets::feature_cuts::feature);
    bool const known = at != cuts->features.end() && at->feature == features[f];
    columns.has_missing_item.push_back(known && columns.bins(f) > at->cuts.size() + 1);
  }
  return datasets::item_ranges(columns, *cuts);
}

}  // namespace

std::vector<datasets::item_range> item_ranges(scorecard_member const& of) {
  if (!of.cuts) throw usage_error("found a scorecard without cuts, expected the cuts of its items");
  return ranges_by(of.cuts, of.card.features, of.card.item_begin);
}

std::vector<datasets::item_range> item_ranges(joint_member const& of) {
  if (!of.cuts)
    throw usage_error("found a joint member without cuts, expected the cuts of its items");
  return ranges_by(of.cuts, of.features, of.item_begin);
}

explainer::explainer(context const& ctx, scorer const& by, datasets::dataset const& list)
    : by_(by) {
  if (list.queries.size() != 1)
    throw usage_error(fmt::format("found documents of {} queries to explain, expected one query",
                                  list.queries.size()));
  std::vector<model_member> const& members = by.fitted().members;
  std::vector<std::vector<double>> all;
  for (std::size_t k = 0; k < members.size(); ++k) {
    member_list mine;
    if (auto const* const linear = std::get_if<linear_member>(&members[k])) {
      mine.parts = linear_parts(ctx, linear->weights, list);
      mine.scores = scorer_access::prepared(by, k).score(ctx, list).scores;
    } else if (auto const* const joint = std::get_if<joint_member>(&members[k])) {
      mine.joint =
          std::make_shared<joint_documents const>(joint_documents_of(ctx, *joint->cuts, list));
      mine.scores = scorer_access::prepared(by, k).score(ctx, list).scores;
    } else {
      for (std::size_t j = 0; j < k && !mine.items; ++j)
        if (members_[j].items && same_cuts(cuts_of(members[k]), cuts_of(members[j])))
          mine.items = members_[j].items;
      if (!mine.items) {
        cuts_pointer const& cuts = cuts_of(members[k]);
        if (!cuts)
          throw usage_error(
              "found a member without cuts, expected the cuts that make items of documents");
        mine.items = std::make_shared<datasets::binned_dataset const>(
            datasets::apply_discretizer(ctx, list, *cuts));
      }
      mine.scores = scorer_access::prepared(by, k).score(ctx, *mine.items).scores;
      if (auto const* const rules = scorer_access::prepared(by, k).rules())
        mine.known =
            std::make_shared<known_items const>(ranker_access::prepared(*rules), *mine.items);
    }
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
  return *scorer_access::prepared(by_, k).rules();
}

double explainer::part(std::size_t k, std::size_t d) const {
  member_list const& mine = members_[k];
  if (members_.size() == 1) return mine.scores[d];
  return standardized(mine.scores[d], {mine.mean, mine.deviation}) /
         static_cast<double>(members_.size());
}

sum_explanation explainer::terms(std::size_t k, std::size_t d) const {
  member_list const& mine = members_[k];
  sum_explanation sum{mine.scores[d], {}};
  double added = 0;
  if (auto const* const linear = std::get_if<linear_member>(&by_.fitted().members[k])) {
    std::vector<feature_weight> const& features = linear->weights.features;
    for (std::size_t f = 0; f < features.size(); ++f) {
      linear_part const& part = mine.parts[d * features.size() + f];
      double const weight =
          value_of_weight(part.missing ? features[f].missing : features[f].weight);
      sum.terms.push_back({features[f].feature, part.part, {}, weight, part.z, part.missing});
    }
  } else if (mine.joint) {
    sum.terms = joint_terms(k, d);
  } else {
    scorecard const& card = std::get<scorecard_member>(by_.fitted().members[k]).card;
    for (std::size_t f = 0; f < card.features.size(); ++f) {
      score_term term{card.features[f], 0, {}, 0, 0, false};
      if (std::uint8_t const code = mine.items->code(f, d); code != datasets::no_item) {
        term.item = card.item_begin[f] + code;
        term.adds = value_of_points(card.points[*term.item]);
      }
      sum.terms.push_back(term);
    }
  }
  for (score_term const& term : sum.terms) added += term.adds;
  if (!(std::abs(added - sum.score) <= 1e-12 * std::max(1.0, std::abs(sum.score))))
    throw std::logic_error(
        fmt::format("the terms add up to {}, the score is {}", added, sum.score));
  return sum;
}

std::vector<score_term> explainer::joint_terms(std::size_t k, std::size_t d) const {
  auto const& member = std::get<joint_member>(by_.fitted().members[k]);
  joint_documents const& documents = *members_[k].joint;
  datasets::binned_dataset const& items = documents.items;
  std::vector<double> const parts = joint_parts(member, documents, d);
  std::size_t const features = member.features.size();
  auto const item = [&](std::size_t f) -> std::optional<rules::item> {
    std::uint8_t const code = items.code(f, d);
    if (code == datasets::no_item) return {};
    return member.item_begin[f] + code;
  };
  std::vector<score_term> terms;
  for (std::size_t f = 0; f < features; ++f) {
    score_term& term = terms.emplace_back();
    term.feature = member.features[f];
    term.adds = parts[f];
    term.item = item(f);
    term.weight = value_of_weight(member.weights[f]);
    term.z = documents.z_of(d)[f];
    term.missing = items.has_missing_item[f] && term.item == member.item_begin[f + 1] - 1;
    if (term.item) term.points = value_of_points(member.points[*term.item]);
  }
  for (std::size_t p = 0; p < member.pairs.size(); ++p) {
    joint_pair const& pair = member.pairs[p];
    score_term& term = terms.emplace_back();
    term.feature = member.features[pair.first];
    term.partner = member.features[pair.second];
    term.item = item(pair.first);
    term.partner_item = item(pair.second);
    term.adds = term.points = parts[features + p];
  }
  return terms;
}

void explainer::expect_explainable(context const& ctx) const {
  for (std::size_t k = 0; k < members_.size(); ++k)
    if (members_[k].known)
      l2r::expect_explainable(ctx, ranker_access::prepared(rules_of(k)), *members_[k].known);
}

model_explanation explainer::explain(context const& ctx, std::size_t d, std::size_t top) const {
  expect_document(scores_, d);
  expect_explainable(ctx);
  return explained(ctx, d, top);
}

model_explanation explainer::explained(context const& ctx, std::size_t d, std::size_t top) const {
  model_explanation whole{scores_[d], rank_of(order_, d), {}};
  for (std::size_t k = 0; k < members_.size(); ++k) {
    member_list const& mine = members_[k];
    member_explanation& one = whole.members.emplace_back();
    one.score = mine.scores[d];
    one.rank = rank_of(mine.order, d);
    one.mean = mine.mean;
    one.deviation = mine.deviation;
    one.part = part(k, d);
    if (!mine.known) {
      one.why = terms(k, d);
      continue;
    }
    explanation of_rules =
        explain_one(ctx, ranker_access::prepared(rules_of(k)), *mine.known, d, top);
    expect_same_score(of_rules.score, one.score);
    one.why = std::move(of_rules);
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
    member_comparison& one = whole.members.emplace_back();
    one.first_score = mine.scores[first];
    one.second_score = mine.scores[second];
    one.first_rank = rank_of(mine.order, first);
    one.second_rank = rank_of(mine.order, second);
    one.mean = mine.mean;
    one.deviation = mine.deviation;
    one.first_part = part(k, first);
    one.second_part = part(k, second);
    if (scorer_access::prepared(by_, k).rules() == nullptr) {
      one.why = sum_comparison{terms(k, first), terms(k, second)};
      continue;
    }
    comparison of_rules = l2r::compare(ctx, rules_of(k), *mine.items, first, second, top);
    expect_same_score(of_rules.first.score, one.first_score);
    expect_same_score(of_rules.second.score, one.second_score);
    one.why = std::move(of_rules);
  }
  return whole;
}

std::vector<datasets::item_range> explainer::ranges(std::size_t k) const {
  model_member const& member = by_.fitted().members[k];
  if (auto const* const rules = std::get_if<rules_member>(&member))
    return item_ranges(rules_of(k), *rules->cuts);
  if (auto const* const card = std::get_if<scorecard_member>(&member)) return item_ranges(*card);
  if (auto const* const joint = std::get_if<joint_member>(&member)) return item_ranges(*joint);
  return {};
}

}  // namespace rulerank::l2r
