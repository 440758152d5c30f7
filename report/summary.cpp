#include "eval/report.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::report {

namespace {

constexpr std::size_t last_rank = 10;  // for the curves of NDCG@k

/// The mark for a significant difference to the baseline after Holm correction.
std::string_view mark_of(eval::comparison const& c) {
  double const p = c.paired_t ? c.paired_t->p_holm : 1;
  if (p >= 0.05) return "";
  return c.difference > 0 ? (p < 0.01 ? "↑↑ " : "↑ ") : (p < 0.01 ? "↓↓ " : "↓ ");
}

/// Differences to the baseline with confidence intervals.
eval::table differences_table(validation_group const& group) {
  std::string const measure = group.measures[group.measure].name();
  eval::table t{.title = fmt::format("{}: differences to {}, means over the queries with 95 % "
                                     "intervals; p of Student's paired t-test after Holm's "
                                     "correction",
                                     measure, group.systems[group.baseline].name),
                .columns = {{"system"},
                            {measure, fixed},
                            {"difference", fixed},
                            {"from", fixed},
                            {"to", fixed},
                            {"p (t, Holm)", general}}};
  std::vector<double> const baseline = queries_of(group.systems[group.baseline], group.measure);
  for (std::size_t const s : best_first(group)) {
    std::vector<eval::cell> row{group.systems[s].name,
                                eval::mean_of_folds(group.systems[s].folds)[group.measure]};
    if (s == group.baseline) {
      row.resize(t.columns.size(), eval::cell(std::string()));
    } else {
      std::vector<double> by_query = queries_of(group.systems[s], group.measure);
      for (std::size_t q = 0; q < by_query.size(); ++q) by_query[q] -= baseline[q];
      eval::mean_interval const within = eval::confidence_interval(by_query);
      row.insert(row.end(), {within.mean, within.low, within.high,
                             group.compared[group.baseline][s][group.measure].paired_t->p_holm});
    }
    t.rows.push_back(std::move(row));
  }
  return t;
}

eval::table means_table(validation_group const& group) {
  std::size_t queries = 0;
  for (eval::query_values const& fold : group.systems.front().folds) queries += fold.size();
  eval::profile named = group.validations.front()->profile;
  named.max_label.reset();  // determined by the data, not chosen
  std::string const& baseline = group.systems[group.baseline].name;
  eval::table t{
      .title = fmt::format("Means of fold means, {} and {}, profile {}. Compared with {}: ↑ "
                           "better, ↓ worse with p < 0.05 (↑↑ ↓↓: p < 0.01) in Student's paired "
                           "t-test over the queries, Holm's correction over the systems.",
                           counted(group.folds.size(), "fold"),
                           counted(queries, "query", "queries"), eval::describe(named), baseline),
      .columns = {{"system"}, {"training documents", fixed, 1}}};
  for (eval::measure const& m : group.measures) t.columns.push_back({m.name(), fixed, 4});
  for (std::size_t const s : best_first(group)) {
    std::vector<eval::cell> row{group.systems[s].name, std::string()};
    if (s == group.baseline) row[0] = group.systems[s].name + " (baseline)";
    if (group.documents[s]) row[1] = *group.documents[s];
    std::vector<double> const means = eval::mean_of_folds(group.systems[s].folds);
    auto const& compared = group.compared[group.baseline];
    for (std::size_t m = 0; m < means.size(); ++m)
      row.emplace_back(fmt::format(
          "{}{:.4f}",
          s == group.baseline || compared.empty() ? std::string_view() : mark_of(compared[s][m]),
          means[m]));
    t.rows.push_back(std::move(row));
  }
  return t;
}

/// By measure, then by system.
eval::table comparison_table(validation_group const& group) {
  eval::report of;
  of.rules = group.validations.front()->profile;
  of.folds = group.folds;
  of.systems = group.systems;
  of.compared = {.paired_t = true, .fisher = false};
  for (std::size_t m = 0; m < group.measures.size(); ++m)
    for (std::size_t s = 0; s < group.systems.size(); ++s)
      if (s != group.baseline) of.comparisons.push_back(group.compared[group.baseline][s][m]);
  return eval::comparisons_table(of);
}

/// NDCG@1 to NDCG@10 of a system's rankings, as means of fold means; empty if any ranking is
/// missing.
std::vector<chart_point> ranked_points(context const& ctx, system_source const& source) {
  std::vector<eval::measure> const measures =
      eval::parse_measures(fmt::format("NDCG@1-{}", last_rank));
  std::vector<eval::query_values> folds;
  for (std::optional<fold_data> const& data : source.from->data) {
    if (!data || !data->scores.contains(source.name)) return {};
    folds.push_back(eval::evaluate(ctx, data->test, data->scores.at(source.name), measures,
                                   source.from->profile));
  }
  std::vector<double> const means = eval::mean_of_folds(folds);
  std::vector<chart_point> points;
  for (std::size_t k = 0; k < means.size(); ++k)
    points.push_back({static_cast<double>(k + 1), means[k]});
  return points;
}

/// The points of the NDCG@k among the measures.
std::vector<chart_point> measured_points(validation_group const& group, std::size_t system) {
  std::vector<double> const means = eval::mean_of_folds(group.systems[system].folds);
  std::vector<chart_point> points;
  for (std::size_t m = 0; m < means.size(); ++m) {
    std::string const name = group.measures[m].name();
    if (std::size_t const k = group.measures[m].k; name == fmt::format("NDCG@{}", k))
      points.push_back({static_cast<double>(k), means[m]});
  }
  std::ranges::sort(points, {}, &chart_point::x);
  return points;
}

/// Whether every k from the first to the last has a value.
bool has_all_between(std::vector<chart_point> const& points) {
  return points.empty() ||
         points.back().x - points.front().x + 1 == static_cast<double>(points.size());
}

void add_ranks(context const& ctx, validation_group const& group, blocks& to) {
  chart curve{.title = fmt::format("NDCG@k by k: {}", group.title()),
              .kind = chart_kind::xy,
              .x = {"k"},
              .y = {"NDCG@k"}};
  std::string partial;
  for (std::size_t s = 0; s < group.systems.size(); ++s) {
    ctx.check_stop();
    chart_series one{group.systems[s].name, ranked_points(ctx, group.sources[s])};
    if (one.points.empty()) {
      one.points = measured_points(group, s);
      one.line = has_all_between(one.points);
      partial += fmt::format("{}{}", partial.empty() ? "" : ", ", one.name);
    }
    if (!one.points.empty()) curve.series.push_back(std::move(one));
  }
  if (curve.series.empty()) return;
  to.push_back({curve});
  if (!partial.empty())
    say(to,
        "The rankings of {} or the labels of the test set are missing, so these curves show only "
        "the NDCG@k that the experiment measured, as points.",
        partial);
  eval::table t{.columns = {{"system"}}};
  for (std::size_t k = 1; k <= last_rank; ++k)
    t.columns.push_back({fmt::format("@{}", k), fixed, 4});
  for (chart_series const& one : curve.series) {
    std::vector<eval::cell> row(last_rank + 1, std::string());
    row[0] = one.name;
    for (chart_point const& p : one.points)
      if (p.x <= static_cast<double>(last_rank)) row[static_cast<std::size_t>(p.x)] = p.y;
    t.rows.push_back(std::move(row));
  }
  to.push_back({details{"The values of these curves", {{std::move(t)}}}});
}

}  // namespace

void add_summary(context const& ctx, validation_group const& group, blocks& to) {
  to.push_back({means_table(group)});
  if (group.systems.size() > 1) to.push_back({differences_table(group)});
  if (group.systems.size() > 1)
    to.push_back({details{fmt::format("Comparisons with {}", group.systems[group.baseline].name),
                          {{comparison_table(group)}}}});
  add_ranks(ctx, group, to);
}

}  // namespace rulerank::report
