#include "experiment/curve_report.hpp"

#include "core/error.hpp"
#include "core/version.hpp"
#include "eval/report.hpp"
#include "eval/report_json.hpp"
#include "eval/significance.hpp"
#include "experiment/report_json.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/settings_json.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment {

namespace {

using json_text = nlohmann::ordered_json;

bool same_curve_point(curve_point const& p, curve_summary const& s) {
  return p.budget == s.budget && p.way == s.way && p.system == s.system && p.settings == s.settings;
}

std::string percent(double share) {
  return fmt::format("{:.4g} %", 100 * share);
}

/// The number of labels read for training, plus the validation set's if it chose the setting.
std::size_t labels_read(curve_fold const& fold, curve_point const& p) {
  return p.documents + (p.settings == setting_choice::validated ? fold.vali_documents : 0);
}

/// Adds a fold's samples to a summary: the fold's means by sample, and its queries.
void add_fold(curve_fold const& fold, std::size_t measures, curve_summary& s,
              std::vector<std::vector<double>>& by_draw) {
  std::size_t const queries = fold.qids.size();
  std::vector<double> sums(queries * measures);
  std::size_t draws = 0;
  for (curve_point const& p : fold.points) {
    if (!same_curve_point(p, s)) continue;
    if (p.values.size() != sums.size())
      throw error({fold.name, 0, 0}, "found a number of values that is not queries x metrics");
    if (by_draw.size() <= draws) by_draw.emplace_back(measures);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += p.values[i];
    for (std::size_t m = 0; m < measures; ++m) {
      double sum = 0;
      for (std::size_t q = 0; q < queries; ++q) sum += p.values[q * measures + m];
      by_draw[draws][m] += sum / static_cast<double>(queries);
    }
    s.documents += static_cast<double>(p.documents);
    s.labels += static_cast<double>(labels_read(fold, p));
    ++draws;
  }
  if (draws == 0) throw error({fold.name, 0, 0}, fmt::format("found no results of {}", s.system));
  s.draws = draws;
  for (std::size_t m = 0; m < measures; ++m)
    for (std::size_t q = 0; q < queries; ++q)
      s.queries[m].push_back(sums[q * measures + m] / static_cast<double>(draws));
}

curve_summary const* summary_of(std::vector<curve_summary> const& all, curve_summary const& like,
                                std::string_view way, std::string_view system) {
  auto const at = std::find_if(all.begin(), all.end(), [&](curve_summary const& s) {
    return s.budget == like.budget && s.settings == like.settings && s.way == way &&
           s.system == system;
  });
  return at == all.end() ? nullptr : &*at;
}

/// The ways and systems of the summaries, in order.
std::vector<std::pair<std::string, std::string>> rows_of(std::vector<curve_summary> const& all,
                                                         setting_choice settings) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (curve_summary const& s : all)
    if (std::pair row{s.way, s.system};
        s.settings == settings && std::find(rows.begin(), rows.end(), row) == rows.end())
      rows.push_back(std::move(row));
  return rows;
}

constexpr std::array<std::string_view, 3> settings_titles{
    "settings without a choice",
    "settings chosen by cross-fitting within a random sample of this share",
    "settings chosen with the labels of the validation sets, which are additional"};

/// The means of one measure: a row per way and system, a column per budget.
eval::table means_table(curve_results const& all, std::vector<curve_summary> const& of,
                        std::size_t measure, setting_choice settings) {
  std::vector<double> budgets;
  for (curve_summary const& s : of)
    if (s.settings == settings &&
        std::find(budgets.begin(), budgets.end(), s.budget) == budgets.end())
      budgets.push_back(s.budget);
  std::size_t queries = 0;
  for (curve_fold const& fold : all.folds) queries += fold.qids.size();
  eval::profile named = all.options.profile;
  named.max_label.reset();  // determined by the data, not chosen
  eval::table t;
  t.title = fmt::format(
      "{}, {}; profile {}; {} folds, mean of fold means and deviation over {} draws; {} "
      "queries{}{}",
      all.options.measures[measure].name(), settings_titles[static_cast<std::size_t>(settings)],
      eval::describe(named), all.folds.size(), all.options.draws, queries,
      all.libraries.empty() ? "" : "; ", fmt::join(all.libraries, ", "));
  t.columns = {{"labels of"}, {"system"}};
  for (double const budget : budgets) t.columns.push_back({percent(budget)});
  for (auto const& [way, system] : rows_of(of, settings)) {
    std::vector<eval::cell> row{way, system};
    for (double const budget : budgets) {
      curve_summary like;
      like.budget = budget;
      like.settings = settings;
      curve_summary const* const s = summary_of(of, like, way, system);
      row.emplace_back(s == nullptr ? std::string()
                       : s->draws == 1
                           ? fmt::format("{:.4f}", s->means[measure])
                           : fmt::format("{:.4f} ± {:.4f}", s->means[measure], s->spread[measure]));
    }
    t.rows.push_back(std::move(row));
  }
  return t;
}

/// A difference of two summaries, one minus the other, paired over queries.
struct difference {
  curve_summary const* one = nullptr;
  curve_summary const* other = nullptr;
};

/// The differences on one measure, by query.
std::vector<double> differences_by_query(difference const& of, std::size_t measure) {
  std::vector<double> differences(of.one->queries[measure]);
  for (std::size_t q = 0; q < differences.size(); ++q)
    differences[q] -= of.other->queries[measure][q];
  return differences;
}

/// Rows of differences on one measure, Holm-corrected over all rows.
void add_differences(std::vector<difference> const& all, std::size_t measure,
                     std::string const& measure_name, eval::table& t) {
  std::vector<double> p;
  std::vector<std::vector<eval::cell>> rows;
  for (difference const& d : all) {
    std::vector<double> const differences = differences_by_query(d, measure);
    eval::mean_interval const within = eval::confidence_interval(differences);
    p.push_back(eval::paired_t_test(differences).p);
    rows.push_back({measure_name, name_of(d.one->settings), percent(d.one->budget),
                    fmt::format("{}, {}", d.one->way, d.one->system),
                    fmt::format("{}, {}", d.other->way, d.other->system), within.mean, within.low,
                    within.high, p.back()});
  }
  std::vector<double> const corrected = eval::holm(p);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].emplace_back(corrected[i]);
    t.rows.push_back(std::move(rows[i]));
  }
}

eval::table differences_table(std::string title) {
  eval::table t;
  t.title = std::move(title);
  auto const fixed = eval::column::style::fixed;
  t.columns = {{"measure"},
               {"settings"},
               {"labels"},
               {"one"},
               {"other"},
               {"difference", fixed, 4},
               {"from", fixed, 4},
               {"to", fixed, 4},
               {"p (t)", eval::column::style::general},
               {"p (t, Holm)", eval::column::style::general}};
  return t;
}

/// Each summary minus the one that `other_of` returns for it, if any.
template <class OtherOf>
eval::table compared(curve_results const& all, std::vector<curve_summary> const& of,
                     std::string title, OtherOf const& other_of) {
  eval::table t = differences_table(std::move(title));
  for (std::size_t m = 0; m < all.options.measures.size(); ++m) {
    std::vector<difference> rows;
    for (curve_summary const& s : of)
      if (curve_summary const* const other = other_of(s, m)) rows.push_back({&s, other});
    add_differences(rows, m, all.options.measures[m].name(), t);
  }
  return t;
}

/// Each of our systems minus the best system of another library on the same samples.
eval::table systems_compared(curve_results const& all, std::vector<curve_summary> const& of) {
  auto const is_ours = [&](curve_summary const& s) {
    return std::find(all.ours.begin(), all.ours.end(), s.system) != all.ours.end();
  };
  return compared(
      all, of,
      "our systems minus the best system of another library on the same samples: mean over the "
      "queries, its 95 % interval, paired t-test, Holm's correction over a measure's rows",
      [&](curve_summary const& s, std::size_t m) {
        curve_summary const* best = nullptr;
        for (curve_summary const& other : of)
          if (is_ours(s) && !is_ours(other) && other.budget == s.budget &&
              other.settings == s.settings && other.way == s.way &&
              (best == nullptr || other.means[m] > best->means[m]))
            best = &other;
        return best;
      });
}

/// Each way minus random documents, for the same system.
eval::table ways_compared(curve_results const& all, std::vector<curve_summary> const& of) {
  return compared(
      all, of,
      "chosen documents minus random documents, for each system: mean over the queries, its 95 % "
      "interval, paired t-test, Holm's correction over a measure's rows",
      [&](curve_summary const& s, std::size_t /*m*/) {
        return s.way == "random" ? nullptr : summary_of(of, s, "random", s.system);
      });
}

eval::table choices_table(curve_results const& all, setting_choice by) {
  bool const validated = by == setting_choice::validated;
  std::string const measure = all.options.measures.front().name();
  eval::table t;
  t.title = validated ? fmt::format("settings chosen on the validation sets by {}", measure)
                      : "settings chosen by cross-fitting; pairs in order: the share of correctly "
                        "ordered pairs among the sampled documents of different labels";
  t.columns = {
      {"fold"},
      {"labels"},
      {"system"},
      {"setting"},
      {"trees", eval::column::style::general},
      {validated ? measure : fmt::format("pairs in order"), eval::column::style::fixed, 4}};
  for (curve_fold const& fold : all.folds)
    for (curve_choice const& c : fold.choices)
      if (c.by == by)
        t.rows.push_back({fold.name, percent(c.budget), c.system, c.trial,
                          c.steps == 0 ? eval::cell(std::string()) : eval::cell(c.steps), c.value});
  return t;
}

eval::table left_out_table(curve_options const& options) {
  eval::table t{{}, {{"left out"}, {"why, and how to get it"}}, {}};
  for (left_out_system const& one : options.left_out) t.rows.push_back({one.name, one.remedy});
  return t;
}

std::vector<eval::table> tables_of(curve_results const& all) {
  std::vector<curve_summary> const of = summaries(all);
  std::vector<eval::table> tables;
  for (auto budget = all.options.budgets.rbegin(); budget != all.options.budgets.rend(); ++budget)
    tables.push_back(best_first_table(all, of, *budget, 0));
  if (!all.options.left_out.empty()) tables.push_back(left_out_table(all.options));
  for (setting_choice const by : setting_choices)
    if (std::any_of(of.begin(), of.end(), [&](curve_summary const& s) { return s.settings == by; }))
      for (std::size_t m = 0; m < all.options.measures.size(); ++m)
        tables.push_back(means_table(all, of, m, by));
  for (eval::table& t : std::vector{systems_compared(all, of), ways_compared(all, of),
                                    choices_table(all, setting_choice::cross_fitted),
                                    choices_table(all, setting_choice::validated)})
    if (!t.rows.empty()) tables.push_back(std::move(t));
  return tables;
}

constexpr auto general = eval::column::style::general;

/// An empty table of curve points; `cells_of` fills its columns.
eval::table table_of_points(std::string title) {
  return {std::move(title),
          {{"fold"},
           {"way"},
           {"share", general},
           {"settings"},
           {"draw", general},
           {"system"},
           {"how"},
           {"documents", general}}};
}

std::vector<eval::cell> cells_of(curve_fold const& fold, curve_point const& p) {
  return {fold.name, p.way, p.budget, name_of(p.settings), p.draw, p.system, p.how, p.documents};
}

}  // namespace

json_text to_json(std::vector<left_out_system> const& left_out) {
  json_text json = json_text::array();
  for (left_out_system const& one : left_out)
    json.push_back({{"system", one.name}, {"remedy", one.remedy}});
  return json;
}

json_text options_json(curve_results const& all) {
  curve_options const& o = all.options;
  json_text json;
  json["systems"] = o.systems;
  json["libraries"] = all.libraries;
  json["ways"] = o.ways;
  json["budgets"] = o.budgets;
  json["draws"] = o.draws;
  for (eval::measure const& m : o.measures) json["metrics"].push_back(m.name());
  json["profile"] = eval::to_json(o.profile);
  json["discretizer"] = tuning::to_json(o.discretizer);
  json["min_support"] = o.thresholds.min_support;
  json["min_confidence"] = o.thresholds.min_confidence;
  json["partitions"] = o.partitions == 0 ? "auto" : std::to_string(o.partitions);
  json["feature_order"] = datasets::name_of(o.feature_order);
  return json;
}

std::vector<curve_summary> summaries(curve_results const& all) {
  std::size_t const measures = all.options.measures.size();
  std::vector<curve_summary> found;
  if (all.folds.empty()) return found;
  for (curve_point const& p : all.folds.front().points) {
    if (p.draw != 0) continue;
    curve_summary& s = found.emplace_back();
    s.way = p.way;
    s.system = p.system;
    s.settings = p.settings;
    s.budget = p.budget;
    s.queries.resize(measures);
    auto const folds = static_cast<double>(all.folds.size());
    std::vector<std::vector<double>> by_draw;  // sums of the folds' means
    for (curve_fold const& fold : all.folds) add_fold(fold, measures, s, by_draw);
    s.documents /= folds * static_cast<double>(s.draws);
    s.labels /= folds * static_cast<double>(s.draws);
    for (std::size_t m = 0; m < measures; ++m) {
      std::vector<double> of_draws;
      for (auto const& d : by_draw) of_draws.push_back(d[m] / folds);
      s.means.push_back(std::accumulate(of_draws.begin(), of_draws.end(), 0.0) /
                        static_cast<double>(of_draws.size()));
      s.spread.push_back(eval::standard_deviation(of_draws));
    }
  }
  return found;
}

std::vector<curve_summary const*> best_first(std::vector<curve_summary> const& of, double budget,
                                             std::size_t measure) {
  std::vector<curve_summary const*> best;
  for (curve_summary const& s : of) {
    if (s.budget != budget) continue;
    auto const same = std::ranges::find_if(best, [&](curve_summary const* other) {
      return other->system == s.system && other->way == s.way;
    });
    if (same == best.end())
      best.push_back(&s);
    else if (s.settings > (*same)->settings && s.queries != (*same)->queries)
      *same = &s;
  }
  std::ranges::stable_sort(best, std::greater<>(),
                           [&](curve_summary const* s) { return s->means[measure]; });
  return best;
}

eval::table best_first_table(curve_results const& all, std::vector<curve_summary> const& of,
                             double budget, std::size_t measure) {
  std::vector<curve_summary const*> const best = best_first(of, budget, measure);
  eval::table t;
  t.title = fmt::format(
      "{} of the labels, the best system first; differences to the best in {} with 95 % intervals "
      "over the queries",
      percent(budget), all.options.measures[measure].name());
  auto const fixed = eval::column::style::fixed;
  t.columns = {{"system"}, {"labels of"}, {"settings"}};
  for (eval::measure const& m : all.options.measures) t.columns.push_back({m.name(), fixed, 4});
  for (char const* const name : {"difference", "from", "to"}) t.columns.push_back({name, fixed, 4});
  for (curve_summary const* const s : best) {
    std::vector<eval::cell> row{s->system, s->way, std::string(name_of(s->settings))};
    for (double const mean : s->means) row.emplace_back(mean);
    if (s == best.front()) {
      row.resize(t.columns.size(), eval::cell(std::string()));
    } else {
      eval::mean_interval const within =
          eval::confidence_interval(differences_by_query({s, best.front()}, measure));
      for (double const value : {within.mean, within.low, within.high}) row.emplace_back(value);
    }
    t.rows.push_back(std::move(row));
  }
  return t;
}

eval::table points_table(curve_results const& all) {
  eval::table t = table_of_points(
      fmt::format("each sample's averages over the queries of its fold{}{}",
                  all.libraries.empty() ? "" : "; ", fmt::join(all.libraries, ", ")));
  t.columns.push_back({"labels", general});
  for (eval::measure const& m : all.options.measures)
    t.columns.push_back({m.name(), eval::column::style::fixed, 4});
  std::size_t const measures = all.options.measures.size();
  for (curve_fold const& fold : all.folds)
    for (curve_point const& p : fold.points) {
      std::vector<eval::cell> row = cells_of(fold, p);
      row.emplace_back(labels_read(fold, p));
      for (std::size_t m = 0; m < measures; ++m) {
        double sum = 0;
        for (std::size_t i = m; i < p.values.size(); i += measures) sum += p.values[i];
        row.emplace_back(sum / static_cast<double>(fold.qids.size()));
      }
      t.rows.push_back(std::move(row));
    }
  return t;
}

eval::table seconds_table(curve_fold const& fold) {
  eval::table t = table_of_points(
      "seconds of one thread while other samples ran on other threads, so they differ from run to "
      "run; fit: learning from the sample, without making items; score: scoring all documents of "
      "the test set");
  t.columns.insert(t.columns.end(), {{"fit", general}, {"score", general}});
  for (std::size_t i = 0; i < fold.seconds.size(); ++i) {
    t.rows.push_back(cells_of(fold, fold.points.at(i)));
    t.rows.back().insert(t.rows.back().end(), {fold.seconds[i].fit, fold.seconds[i].score});
  }
  return t;
}

std::string render(curve_results const& all, eval::table_format format) {
  std::string text;
  for (eval::table const& t : tables_of(all))
    text += fmt::format("{}{}", text.empty() ? "" : "\n", eval::render(t, format));
  return text;
}

json_text to_json(curve_results const& all) {
  json_text json;
  json["version"] = version;
  json["options"] = options_json(all);
  json["left_out"] = to_json(all.options.left_out);
  json["averaged"] = "mean of fold means";
  json["curves"] = json_text::array();
  std::vector<curve_summary> const of = summaries(all);
  for (curve_summary const& s : of)
    json["curves"].push_back(
        {{"way", s.way},
         {"system", s.system},
         {"settings", name_of(s.settings)},
         {"share", s.budget},
         {"documents", s.documents},
         {"labels", s.labels},
         {"draws", s.draws},
         {"means", eval::by_measure(all.options.measures, s.means)},
         {"deviation_over_draws", eval::by_measure(all.options.measures, s.spread)}});
  json["systems_compared"] = eval::to_json(systems_compared(all, of));
  json["ways_compared"] = eval::to_json(ways_compared(all, of));
  json["cross_fitted_choices"] = eval::to_json(choices_table(all, setting_choice::cross_fitted));
  json["choices"] = eval::to_json(choices_table(all, setting_choice::validated));
  return json;
}

}  // namespace rulerank::experiment
