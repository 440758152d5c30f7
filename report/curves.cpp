#include "report/sections.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace rulerank::inline v0::report {

namespace {

/// Means over the folds of the folds' means over draws.
struct mean_row {
  double documents = 0, labels = 0;
  std::vector<double> values;
};

/// One line of one panel, by share.
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

/// By settings, way and system.
std::map<std::tuple<std::string, std::string, std::string>, line> means_of(
    learning_curves const& curves) {
  struct in_fold {
    mean_row sum;
    std::size_t draws = 0;
  };
  // Folds by name, rows in the order of the file: the sums are the same each time.
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

/// The panels and the table of one choice of settings.
class settings_part {
 public:
  settings_part(learning_curves const& of, std::string const& settings)
      : of_(of), settings_(settings), lines_(means_of(of)) {
    for (std::string const& way : distinct(of, &curve_row::way))
      if (way != "all") ways_.push_back(way);
    if (ways_.empty()) ways_.emplace_back("all");
    systems_ = distinct(of, &curve_row::system);
  }

  chart panel(std::string const& way, std::size_t m) const {
    chart made{.title = fmt::format("{}, {}: {} by labels", settings_, way, of_.measures[m]),
               .kind = chart_kind::xy,
               .x = {"labels read (mean of the folds)", true},
               .y = {of_.measures[m]}};
    for (std::string const& system : systems_) {
      chart_series one{system, {}};
      for (auto const& [share, row] : points(way, system))
        one.points.push_back(
            {row.labels, row.values[m], fmt::format("{}, {:.4g} %", system, 100 * share)});
      if (!one.points.empty()) made.series.push_back(std::move(one));
    }
    return made;
  }

  eval::table values() const {
    eval::table t{
        .title = "Means of the folds' means over the draws.",
        .columns = {
            {"way"}, {"system"}, {"%", general}, {"documents", fixed, 1}, {"labels", fixed, 1}}};
    for (std::string const& m : of_.measures) t.columns.push_back({m, fixed, 4});
    for (auto const& [key, of] : lines_) {
      if (std::get<0>(key) != settings_) continue;
      for (auto const& [share, row] : of) {
        std::vector<eval::cell> cells{std::get<1>(key), std::get<2>(key), 100 * share,
                                      row.documents, row.labels};
        cells.insert(cells.end(), row.values.begin(), row.values.end());
        t.rows.push_back(std::move(cells));
      }
    }
    return t;
  }

  std::vector<std::string> const& ways() const { return ways_; }

 private:
  /// The line of a way goes on to all labels, which no way chooses.
  line points(std::string const& way, std::string const& system) const {
    line found;
    for (std::string const& of : {way, std::string("all")})
      if (auto const at = lines_.find({settings_, of, system}); at != lines_.end())
        found.insert(at->second.begin(), at->second.end());
    return found;
  }

  learning_curves const& of_;
  std::string settings_;
  std::map<std::tuple<std::string, std::string, std::string>, line> lines_;
  std::vector<std::string> ways_, systems_;
};

}  // namespace

void add_curves(learning_curves const& curves, report_options const& options, blocks& to) {
  std::size_t const chosen = chosen_measure(curves.measures, options).value_or(0);
  for (std::string const& settings : distinct(curves, &curve_row::settings)) {
    to.push_back({heading{3, fmt::format("Settings: {}", settings)}});
    settings_part const part(curves, settings);
    details others{"The other measures", {}};
    for (std::string const& way : part.ways())
      for (std::size_t m = 0; m < curves.measures.size(); ++m) {
        chart panel = part.panel(way, m);
        if (!panel.series.empty()) (m == chosen ? to : others.inside).push_back({std::move(panel)});
      }
    if (!others.inside.empty()) to.push_back({std::move(others)});
    to.push_back({details{"The values of these curves", {{part.values()}}}});
  }
}

}  // namespace rulerank::report
