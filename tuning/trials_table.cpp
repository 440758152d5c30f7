#include "core/error.hpp"
#include "tuning/tuner.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace rulerank::tuning {

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
  table.title =
      fmt::format("{} of {} of {}, by {}", counted(result.trials.size(), "trial"),
                  counted(result.tried, "candidate"), result.candidates, t.measures()[by].name());
  table.columns = {{"rung", style::fixed, 0}, {"queries", style::fixed, 0}};
  for (eval::measure const& m : t.measures()) table.columns.push_back({m.name(), style::fixed, 4});
  bool const norms = std::ranges::any_of(
      t.candidates(), [](candidate const& c) { return c.cuts.norm.has_value(); });
  table.columns.insert(table.columns.end(), {{"method"}, {"bins"}});
  if (norms) table.columns.push_back({"norm"});
  table.columns.insert(table.columns.end(), {{"rule size", style::fixed, 0},
                                             {"min support", style::fixed, 0},
                                             {"min confidence", style::general},
                                             {"support weight", style::general},
                                             {"smoothing", style::general},
                                             {"feature share", style::general}});
  for (trial const* const one : rows) {
    candidate const& c = t.candidates()[one->candidate];
    std::vector<eval::cell> row{fmt::format("{}/{}", one->rung + 1, rungs),
                                static_cast<std::int64_t>(one->queries)};
    row.insert(row.end(), one->values.begin(), one->values.end());
    row.insert(row.end(),
               {std::string(datasets::name_of(c.cuts.method)),
                c.cuts.bins == 0 ? eval::cell("cv") : eval::cell(std::int64_t{c.cuts.bins})});
    if (norms) row.emplace_back(std::string(c.cuts.norm ? datasets::name_of(*c.cuts.norm) : "-"));
    row.insert(row.end(),
               {std::int64_t{c.scoring.rule_size}, std::int64_t{c.scoring.thresholds.min_support},
                c.scoring.thresholds.min_confidence, c.scoring.support_weight, c.scoring.smoothing,
                c.scoring.feature_share});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace rulerank::tuning
