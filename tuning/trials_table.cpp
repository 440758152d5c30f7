#include "core/error.hpp"
#include "tuning/tuner.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>

namespace rulerank::inline v0::tuning {

namespace {

/// The cells of a candidate's settings; what its kind does not have is "-".
void add_settings(candidate const& c, bool norms, bool kinds, std::vector<eval::cell>& row) {
  auto const add = [&row](bool has, auto const& value) {
    row.push_back(has ? eval::cell(value) : eval::cell("-"));
  };
  bool const cut = !c.linear, rules = cut && !c.scorecard;
  std::size_t const kind = c.linear ? 2 : c.scorecard ? 1 : 0;
  if (kinds) row.emplace_back(l2r::member_kind_names()[kind]);
  add(cut, datasets::name_of(c.cuts.method));
  if (cut && c.cuts.bins == 0)
    row.emplace_back("cv");
  else
    add(cut, c.cuts.bins);
  if (norms)
    add(cut && c.cuts.norm, datasets::name_of(c.cuts.norm.value_or(datasets::normalization::none)));
  add(rules, c.scoring.rule_size);
  add(rules, c.scoring.thresholds.min_support);
  add(rules, c.scoring.thresholds.min_confidence);
  add(rules, c.scoring.support_weight);
  add(rules, c.scoring.smoothing);
  add(rules, c.scoring.feature_share);
  if (!kinds) return;
  l2r::scorecard_options const card = c.scorecard.value_or(l2r::scorecard_options{});
  add(c.scorecard.has_value(), l2r::name_of(card.loss));
  add(c.scorecard.has_value(), card.points_penalty);
  add(c.scorecard.has_value(), card.smoothness);
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
    table.title += fmt::format("; {} more of what they were compared with", result.compared_trials);
  table.columns = {{"rung", style::fixed, 0}, {"queries", style::fixed, 0}};
  for (eval::measure const& m : t.measures()) table.columns.push_back({m.name(), style::fixed, 4});
  auto const has = [&](auto const& what) {  // a candidate that was searched, or a row
    return std::ranges::any_of(std::span(t.candidates()).first(result.candidates), what) ||
           std::ranges::any_of(
               rows, [&](trial const* one) { return what(t.candidates()[one->candidate]); });
  };
  bool const kinds = has([](candidate const& c) { return c.scorecard || c.linear; });
  if (kinds) table.columns.push_back({"kind"});
  bool const norms = has([](candidate const& c) { return c.cuts.norm.has_value(); });
  table.columns.insert(table.columns.end(), {{"method"}, {"bins"}});
  if (norms) table.columns.push_back({"norm"});
  table.columns.insert(table.columns.end(), {{"rule size", style::fixed, 0},
                                             {"min support", style::fixed, 0},
                                             {"min confidence", style::general},
                                             {"support weight", style::general},
                                             {"smoothing", style::general},
                                             {"feature share", style::general}});
  if (kinds)
    table.columns.insert(table.columns.end(), {{"loss"},
                                               {"points penalty", style::general},
                                               {"smoothness", style::general},
                                               {"strength", style::general}});
  for (trial const* const one : rows) {
    candidate const& c = t.candidates()[one->candidate];
    std::vector<eval::cell> row{fmt::format("{}/{}", one->rung + 1, rungs), one->queries};
    row.insert(row.end(), one->values.begin(), one->values.end());
    add_settings(c, norms, kinds, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace rulerank::tuning
