#include "l2r/model.hpp"

#include "datasets/item_words.hpp"
#include "l2r/explanation.hpp"
#include "l2r/inspection.hpp"
#include "report/sections.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank::report {

namespace {

/// Features as bars and as a table, those that move scores furthest first.
void add_features(std::string const& title, std::span<l2r::feature_part const> parts,
                  datasets::feature_names const& names, std::size_t top, blocks& to) {
  std::span<l2r::feature_part const> const shown = parts.first(std::min(top, parts.size()));
  if (shown.empty()) return;
  chart bars{.title = title,
             .kind = chart_kind::bars,
             .x = {},
             .y = {"mean size of what it moves a score by"},
             .series = {{"moves", {}}}};
  eval::table t{
      .title = {}, .columns = {{"moves", eval::column::style::fixed, 6}, {"feature"}}, .rows = {}};
  for (l2r::feature_part const& part : shown) {
    std::string const name = datasets::feature_text(part.feature, names);
    bars.series[0].points.push_back({0, part.moved, name});
    t.rows.push_back({part.moved, name});
  }
  to.push_back({std::move(bars)});
  to.push_back({details{"The values of these bars", {{std::move(t)}}}});
}

void add_member(context const& ctx, l2r::rules_member const& member, std::size_t top, blocks& to) {
  l2r::ranker const by(ctx, *member.training, {.scoring = member.scoring});
  l2r::rules_inspection const found = l2r::inspect(ctx, by, *member.training, {.top = top});
  std::vector<datasets::item_range> const ranges = l2r::item_ranges(by, *member.cuts);
  to.push_back({paragraph{fmt::format(
      "Rules of size {} with support >= {} and confidence >= {}: {} rules of {} itemsets, from {}.",
      member.scoring.rule_size, member.scoring.thresholds.min_support,
      member.scoring.thresholds.min_confidence, found.rules, found.itemsets,
      counted(found.training, "training document"))}});
  add_features(fmt::format("Features by what they move scores by, over {}",
                           counted(found.looked_at, "training document")),
               found.features, member.cuts->names, top, to);
  using style = eval::column::style;
  eval::table t{.title = "The rules that move scores furthest",
                .columns = {{"moves", style::fixed, 6},
                            {"support", style::fixed},
                            {"of", style::fixed},
                            {"confidence", style::fixed},
                            {"lift", style::fixed, 2},
                            {"p (Holm)", style::general},
                            {"rule"}},
                .rows = {}};
  for (l2r::strong_rule const& rule : found.strongest)
    t.rows.push_back(
        {rule.moved, std::int64_t{rule.support}, std::int64_t{rule.documents},
         static_cast<double>(rule.support) / rule.documents, rule.lift, rule.p_holm,
         datasets::words_of_rule(rule.antecedent, rule.label, ranges, member.cuts->names)});
  to.push_back({std::move(t)});
}

void add_member(context const& /*ctx*/, l2r::scorecard_member const& member, std::size_t top,
                blocks& to) {
  l2r::card_inspection const found = l2r::inspect(member);
  if (found.features.empty()) {
    to.push_back({paragraph{"The model file does not say what features move scores by."}});
    return;
  }
  add_features(fmt::format("Features by the mean distance of their points from their mean, over {}",
                           counted(member.training_documents, "training document")),
               found.features, member.cuts->names, top, to);
  std::vector<datasets::item_range> const ranges = l2r::item_ranges(member);
  eval::table t{.title = {},
                .columns = {{"points", eval::column::style::fixed, 6},
                            {"documents", eval::column::style::fixed},
                            {"item"}},
                .rows = {}};
  for (l2r::feature_part const& part :
       std::span(found.features).first(std::min(top, found.features.size()))) {
    auto const f =
        static_cast<std::size_t>(std::ranges::lower_bound(member.card.features, part.feature) -
                                 member.card.features.begin());
    for (rules::item x = member.card.item_begin[f]; x < member.card.item_begin[f + 1]; ++x) {
      if (member.item_documents[x] == 0) continue;
      t.rows.push_back({l2r::value_of_points(member.card.points[x]),
                        std::int64_t{member.item_documents[x]},
                        datasets::words_of(ranges[x], member.cuts->names)});
    }
  }
  to.push_back({details{"The points of their items", {{std::move(t)}}}});
}

void add_member(context const& /*ctx*/, l2r::linear_member const& member, std::size_t top,
                blocks& to) {
  std::vector<l2r::feature_part> const found = l2r::inspect(member);
  if (found.empty()) {
    to.push_back({paragraph{"The model file does not say what features move scores by."}});
    return;
  }
  add_features("Features by the mean size of what they add to a score", found, member.weights.names,
               top, to);
}

}  // namespace

void add_model(context const& ctx, std::string const& path, report_options const& options,
               blocks& to) {
  if (options.opened) options.opened(path);
  l2r::model const model = l2r::read_model(path);
  for (std::size_t k = 0; k < model.members.size(); ++k) {
    std::string_view const kind = l2r::kind_of(model.members[k]);
    to.push_back(
        {heading{3, model.members.size() == 1 ? fmt::format("Kind {}", kind)
                                              : fmt::format("Member {}, kind {}", k + 1, kind)}});
    std::visit([&](auto const& member) { add_member(ctx, member, options.top, to); },
               model.members[k]);
  }
}

}  // namespace rulerank::report
