#include "eval/chart.hpp"
#include "experiment/curve_report.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::inline v0::experiment {

namespace {

/// The means for default settings.
std::vector<curve_summary> default_means(curve_results const& all) {
  std::vector<curve_summary> means = summaries(all);
  std::erase_if(means,
                [](curve_summary const& s) { return s.settings != setting_choice::defaults; });
  return means;
}

/// The chart of one measure and one way: a line per system, in percent of the training documents.
/// Lines end at all labels, which belong to every way.
eval::chart panel(curve_results const& all, std::vector<curve_summary> const& means,
                  std::string_view way, std::size_t measure) {
  std::string const name = all.options.measures[measure].name();
  eval::chart made{.title = fmt::format("{}: {}", way, name),
                   .x = {"labels, % of the training documents", true},
                   .y = {name}};
  for (curve_summary const& s : means) {
    made.x.covers.take(100 * s.budget);
    made.y.covers.take(s.means[measure]);  // over all ways, so that charts share an axis
  }
  for (std::string const& system : all.options.systems) {
    eval::chart_series line{system, {}};
    for (curve_summary const& s : means)
      if (s.system == system && (s.way == way || s.way == "all"))
        line.points.push_back({100 * s.budget, s.means[measure]});
    std::ranges::sort(line.points, {}, &eval::chart_point::x);
    made.series.push_back(std::move(line));
  }
  return made;
}

}  // namespace

std::string svg_file(curve_results const& all) {
  std::vector<curve_summary> const means = default_means(all);
  std::vector<std::string_view> ways;
  for (curve_summary const& s : means)
    if (s.way != "all" && std::ranges::find(ways, s.way) == ways.end()) ways.push_back(s.way);
  if (ways.empty()) ways.emplace_back("all");
  std::vector<eval::chart> panels;
  for (std::string_view const way : ways)
    for (std::size_t m = 0; m < all.options.measures.size(); ++m)
      panels.push_back(panel(all, means, way, m));
  return eval::svg_file(panels, all.options.measures.size()) + "\n";
}

}  // namespace rulerank::experiment
