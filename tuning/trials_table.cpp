#include "core/error.hpp"
#include "tuning/tuner.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace rulerank::inline v0::tuning {

namespace {

/// Optional columns, shown if a candidate needs them.
struct shown_columns {
  bool kinds = false, norms = false, cards = false;
};

/// A candidate's settings as cells; "-" if its kind lacks one.
void add_settings(candidate const& c, shown_columns const& shown, std::vector<eval::cell>& row) {
  auto const add = [&row](bool has, auto const& value) {
    row.push_back(has ? eval::cell(value) : eval::cell("-"));
  };
  std::string_view const kind = kind_of(c);
  bool const cut = kind != "linear", rules = kind == "rules";
  if (shown.kinds) row.emplace_back(kind);
  add(cut, datasets::name_of(c.cuts.method));
  if (cut && c.cuts.bins == 0)
    row.emplace_back("cv");
  else
    add(cut, c.cuts.bins);
  if (shown.norms)
    add(cut && c.cuts.norm, datasets::name_of(c.cuts.norm.value_or(datasets::normalization::none)));
  add(rules, c.scoring.rule_size);
  add(rules, c.scoring.thresholds.min_support);
  add(rules, c.scoring.thresholds.min_confidence);
  add(rules, c.scoring.support_weight);
  add(rules, c.scoring.smoothing);
  add(rules, c.scoring.feature_share);
  if (!shown.kinds) return;
  bool const points = kind == "scorecard" || kind == "card";
  l2r::scorecard_options const card = kind == "card"
                                          ? std::get<l2r::scorecard_recipe>(*c.recipe).options
                                          : c.scorecard.value_or(l2r::scorecard_options{});
  add(points,
      card.page && card.page->choose_loss ? std::string_view("auto") : l2r::name_of(card.loss));
  add(points, card.points_penalty);
  if (card.cross_fit)
    row.emplace_back("cross-fit");
  else
    add(points, card.smoothness);
  if (shown.cards) add(card.page.has_value(), card.page.value_or(l2r::card_page{}).max_features);
  double const strength = c.linear.value_or(l2r::linear_options{}).strength;
  if (strength == 0)
    row.emplace_back("cross-fit");
  else
    add(c.linear.has_value(), strength);
}

}  // namespace

eval::table trials_table(tuner const& t, search_result const& result, std::size_t by,
                         std::size_t rungs) {
  std::set<std::size_t> chosen;
  for (std::size_t const at : result.chosen) chosen.insert(result.trials[at].candidate);
  std::map<std::size_t, trial const*> last;
  for (trial const& one : result.trials) last[one.candidate] = &one;
  std::vector<trial const*> rows;
  for (auto const& [c, one] : last) rows.push_back(one);
  std::ranges::stable_sort(rows, [&](trial const* a, trial const* b) {
    return std::tuple(chosen.contains(a->candidate), a->rung, a->values[by]) >
           std::tuple(chosen.contains(b->candidate), b->rung, b->values[by]);
  });

  using style = eval::column::style;
  eval::table table;
  table.title = fmt::format(
      "{} of {} of {}, by {}", counted(result.trials.size() - result.compared_trials, "trial"),
      counted(result.tried, "candidate"), result.candidates, t.measures()[by].name());
  if (result.compared_trials > 0)
    table.title += fmt::format("; {} more that they were compared with", result.compared_trials);
  table.columns = {{"rung", style::fixed, 0}, {"queries", style::fixed, 0}};
  for (eval::measure const& m : t.measures()) table.columns.push_back({m.name(), style::fixed, 4});
  auto const has = [&](auto const& what) {  // a searched candidate or a row
    return std::ranges::any_of(std::span(t.candidates()).first(result.candidates), what) ||
           std::ranges::any_of(
               rows, [&](trial const* one) { return what(t.candidates()[one->candidate]); });
  };
  shown_columns const shown{has([](candidate const& c) { return kind_of(c) != "rules"; }),
                            has([](candidate const& c) { return c.cuts.norm.has_value(); }),
                            has([](candidate const& c) { return kind_of(c) == "card"; })};
  if (shown.kinds) table.columns.push_back({"kind"});
  table.columns.insert(table.columns.end(), {{"method"}, {"bins"}});
  if (shown.norms) table.columns.push_back({"norm"});
  table.columns.insert(table.columns.end(), {{"rule size", style::fixed, 0},
                                             {"min support", style::fixed, 0},
                                             {"min confidence", style::general},
                                             {"support weight", style::general},
                                             {"smoothing", style::general},
                                             {"feature share", style::general}});
  if (shown.kinds)
    table.columns.insert(
        table.columns.end(),
        {{"loss"}, {"points penalty", style::general}, {"smoothness", style::general}});
  if (shown.cards) table.columns.push_back({"max features", style::general});
  if (shown.kinds) table.columns.push_back({"strength", style::general});
  for (trial const* const one : rows) {
    candidate const& c = t.candidates()[one->candidate];
    std::vector<eval::cell> row{fmt::format("{}/{}", one->rung + 1, rungs), one->queries};
    row.insert(row.end(), one->values.begin(), one->values.end());
    add_settings(c, shown, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace rulerank::tuning
