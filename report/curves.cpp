#include "eval/significance.hpp"
#include "experiment/curve_report.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::report {

namespace {

/// Means over the folds of the folds' means over samples.
struct mean_row {
  double documents = 0, labels = 0;
  std::vector<double> values;
  experiment::curve_summary const* by_query = nullptr;  ///< if the folder has it
};

/// One line of a chart, by share.
using line = std::map<double, mean_row>;

void add(mean_row& to, curve_row const& row) {
  to.documents += row.documents;
  to.labels += row.labels;
  to.values.resize(row.values.size());
  for (std::size_t m = 0; m < row.values.size(); ++m) to.values[m] += row.values[m];
}

void divide(mean_row& of, std::size_t by) {
  auto const n = static_cast<double>(by);
  of.documents /= n;
  of.labels /= n;
  for (double& value : of.values) value /= n;
}

/// Lines by settings, way and system.
std::map<std::tuple<std::string, std::string, std::string>, line> means_of(
    learning_curves const& curves) {
  struct in_fold {
    mean_row sum;
    std::size_t draws = 0;
  };
  // Folds by name, rows in file order: sums have a fixed order.
  std::map<std::tuple<std::string, std::string, std::string, double>,
           std::map<std::string, in_fold>>
      cells;
  for (curve_row const& row : curves.rows) {
    in_fold& cell = cells[{row.settings, row.way, row.system, row.share}][row.fold];
    add(cell.sum, row);
    ++cell.draws;
  }
  std::map<std::tuple<std::string, std::string, std::string>, line> lines;
  for (auto& [key, folds] : cells) {
    mean_row mean;
    for (auto& [name, cell] : folds) {
      divide(cell.sum, cell.draws);
      mean.documents += cell.sum.documents;
      mean.labels += cell.sum.labels;
      mean.values.resize(cell.sum.values.size());
      for (std::size_t m = 0; m < mean.values.size(); ++m) mean.values[m] += cell.sum.values[m];
    }
    divide(mean, folds.size());
    lines[{std::get<0>(key), std::get<1>(key), std::get<2>(key)}][std::get<3>(key)] = mean;
  }
  return lines;
}

template <class Member>
std::vector<std::string> distinct(learning_curves const& of, Member member) {
  std::vector<std::string> found;
  for (curve_row const& row : of.rows)
    if (std::ranges::find(found, row.*member) == found.end()) found.push_back(row.*member);
  return found;
}

/// The settings with which each ranker reads the most labels.
constexpr char const* most_labels = "";

/// The charts and tables of one folder.
class curve_charts {
 public:
  explicit curve_charts(learning_curves const& of) : of_(of), lines_(means_of(of)) {
    for (std::string const& way : distinct(of, &curve_row::way))
      if (way != "all") ways_.push_back(way);
    if (ways_.empty()) ways_.emplace_back("all");
    if (!of.by_query) return;
    summaries_ = experiment::summaries(*of.by_query);
    for (experiment::curve_summary const& s : summaries_)
      if (mean_row* const row = row_of(s)) row->by_query = &s;
    for (double const budget : of.by_query->options.budgets)
      for (experiment::curve_summary const* const s : experiment::best_first(summaries_, budget, 0))
        if (mean_row const* const row = row_of(*s))
          lines_[{most_labels, s->way, s->system}][budget] = *row;
  }

  /// A chart per system with a line per way; all share the same axes.
  std::vector<chart> panels(std::string const& settings, std::size_t m) const {
    std::vector<chart> made;
    for (std::string const& system : distinct(of_, &curve_row::system)) {
      chart one = panel(settings, system, m);
      if (!one.series.empty()) made.push_back(std::move(one));
    }
    axis x, y;
    for (chart const& one : made)
      for (chart_series const& series : one.series)
        for (chart_point const& p : series.points) {
          x.covers.take(p.x);
          for (double const end : {p.y, p.interval.low, p.interval.high})
            if (std::isfinite(end)) y.covers.take(end);
        }
    for (chart& one : made) {
      one.x.covers = x.covers;
      one.y.covers = y.covers;
    }
    return made;
  }

  void add_panels(std::string const& settings, std::size_t m, blocks& to) const {
    for (chart& one : panels(settings, m)) to.push_back({std::move(one)});
  }

  void add_other_measures(std::string const& settings, std::size_t but, blocks& to) const {
    details others{"The other measures", {}};
    for (std::size_t m = 0; m < of_.measures.size(); ++m)
      if (m != but) add_panels(settings, m, others.inside);
    if (!others.inside.empty()) to.push_back({std::move(others)});
  }

  void add_best(std::size_t measure, blocks& to) const {
    std::vector<double> const& budgets = of_.by_query->options.budgets;
    for (auto budget = budgets.rbegin(); budget != budgets.rend(); ++budget)
      to.push_back({experiment::best_first_table(*of_.by_query, summaries_, *budget, measure)});
  }

  eval::table values(std::string const& settings) const {
    eval::table t{
        .title = "Means over the folds of the means over the draws.",
        .columns = {
            {"way"}, {"system"}, {"%", general}, {"documents", fixed, 1}, {"labels", fixed, 1}}};
    for (std::string const& m : of_.measures) t.columns.push_back({m, fixed, 4});
    for (auto const& [key, of] : lines_) {
      if (std::get<0>(key) != settings) continue;
      for (auto const& [share, row] : of) {
        std::vector<eval::cell> cells{std::get<1>(key), std::get<2>(key), 100 * share,
                                      row.documents, row.labels};
        cells.insert(cells.end(), row.values.begin(), row.values.end());
        t.rows.push_back(std::move(cells));
      }
    }
    return t;
  }

 private:
  mean_row* row_of(experiment::curve_summary const& s) {
    auto const of = lines_.find({std::string(name_of(s.settings)), s.way, s.system});
    if (of == lines_.end()) return nullptr;
    auto const at = of->second.find(s.budget);
    return at == of->second.end() ? nullptr : &at->second;
  }

  chart panel(std::string const& settings, std::string const& system, std::size_t m) const {
    std::string const chosen = settings == most_labels ? "" : settings + ", ";
    chart made{.title = fmt::format("{}{}: {} by labels", chosen, system, of_.measures[m]),
               .kind = chart_kind::xy,
               .x = {"labels read (mean of the folds)", true},
               .y = {of_.measures[m]}};
    std::map<experiment::curve_summary const*, double> halves;
    for (std::string const& way : ways_)
      for (auto const& [share, row] : points(settings, way, system))
        if (row.by_query != nullptr) halves[row.by_query] = 0;
    find_halves(m, halves);
    for (std::string const& way : ways_) {
      chart_series one{way, {}};
      for (auto const& [share, row] : points(settings, way, system)) {
        chart_point p{row.labels, row.values[m], fmt::format("{}, {}", way, share_text(share)), {}};
        if (row.by_query != nullptr)
          p.interval = {p.y - halves[row.by_query], p.y + halves[row.by_query]};
        one.points.push_back(std::move(p));
      }
      if (!one.points.empty()) made.series.push_back(std::move(one));
    }
    return made;
  }

  /// Half widths of the confidence intervals in one chart.
  void find_halves(std::size_t m, std::map<experiment::curve_summary const*, double>& of) const {
    std::vector<std::vector<double>> values;
    std::vector<experiment::curve_summary const*> in_order;  // in a fixed order, for equal bits
    for (experiment::curve_summary const& s : summaries_)
      if (of.contains(&s)) {
        in_order.push_back(&s);
        values.push_back(s.queries[m]);
      }
    std::vector<double> const halves = eval::within_query_intervals(values);
    for (std::size_t i = 0; i < halves.size(); ++i) of[in_order[i]] = halves[i];
  }

  /// A way's line ends at all labels, where no way applies.
  line points(std::string const& settings, std::string const& way,
              std::string const& system) const {
    line found;
    for (std::string const& of : {way, std::string("all")})
      if (auto const at = lines_.find({settings, of, system}); at != lines_.end())
        found.insert(at->second.begin(), at->second.end());
    return found;
  }

  learning_curves const& of_;
  std::map<std::tuple<std::string, std::string, std::string>, line> lines_;
  std::vector<std::string> ways_;
  std::vector<experiment::curve_summary> summaries_;  // if the folder has them
};

}  // namespace

void add_curves(learning_curves const& curves, report_options const& options, blocks& to) {
  std::size_t const chosen = chosen_measure(curves.measures, options).value_or(0);
  curve_charts const charts(curves);
  std::vector<std::string> const settings = distinct(curves, &curve_row::settings);
  if (!curves.by_query) {
    say(to, "There are no intervals, because the folder lacks curves/FOLD.json of some folds.");
    for (std::string const& one : settings) {
      to.push_back({heading{3, fmt::format("Settings: {}", one)}});
      charts.add_panels(one, chosen, to);
      charts.add_other_measures(one, chosen, to);
      to.push_back({details{"The values of these curves", {{charts.values(one)}}}});
    }
    return;
  }
  charts.add_best(chosen, to);
  say(to,
      "Each chart shows one system, with the settings that read most labels. Bars: 95 % intervals "
      "over the queries, after subtracting each query's mean over the chart (Cousineau 2005, Morey "
      "2008).");
  charts.add_panels(most_labels, chosen, to);
  charts.add_other_measures(most_labels, chosen, to);
  for (std::string const& one : settings) {
    details part{fmt::format("Settings: {}", one), {}};
    charts.add_panels(one, chosen, part.inside);
    part.inside.push_back({charts.values(one)});
    to.push_back({std::move(part)});
  }
}

}  // namespace rulerank::report
