#include "eval/significance.hpp"
#include "experiment/curve_report.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

// The first section of a report: the best ranker, and whether its lead is significant.
namespace rulerank::inline v0::report {

namespace {

constexpr double significant_below = 0.05;

struct contender {
  std::string name;
  double mean = 0;
  std::vector<double> queries;
};

/// The differences between the best ranker and others, including the next best.
class winner {
 public:
  explicit winner(std::vector<contender> all) : all_(std::move(all)) {
    std::ranges::stable_sort(all_, std::greater<>(), &contender::mean);
    std::vector<double> p;
    for (std::size_t i = 1; i < all_.size(); ++i) {
      std::vector<double> by_query = all_.front().queries;
      for (std::size_t q = 0; q < by_query.size(); ++q) by_query[q] -= all_[i].queries[q];
      within_.push_back(eval::confidence_interval(by_query));
      p.push_back(eval::paired_t_test(by_query).p);
    }
    holm_ = eval::holm(p);
  }

  /// `baseline`: the name of a further ranker to compare with, if present.
  std::string sentence(std::string_view measure, std::string_view baseline) const {
    contender const& best = all_.front();
    if (all_.size() == 1) return fmt::format("{} has {:.4f} by {}.", best.name, best.mean, measure);
    std::string text = fmt::format("{} is the best of {} by {}: {:.4f}", best.name, all_.size(),
                                   measure, best.mean);
    text += fmt::format(
        ", {}", difference_to(1, baseline == all_[1].name ? "the next and baseline" : "the next"));
    auto const at = std::ranges::find(all_, baseline, &contender::name);
    if (at == all_.begin())
      text += "; it is the baseline";
    else if (at != all_.end() && at != all_.begin() + 1)
      text += fmt::format(
          ", and {}", difference_to(static_cast<std::size_t>(at - all_.begin()), "the baseline"));
    return text + ".";
  }

 private:
  std::string difference_to(std::size_t other, std::string_view what) const {
    eval::mean_interval const& d = within_[other - 1];
    return fmt::format("{:+.4f} [{:+.4f}, {:+.4f}] over {}, {} ({}significant)", d.mean, d.low,
                       d.high, what, all_[other].name,
                       holm_[other - 1] < significant_below ? "" : "not ");
  }

  std::vector<contender> all_;               // best first
  std::vector<eval::mean_interval> within_;  // [all but the first] difference to the best
  std::vector<double> holm_;
};

std::string sentence_of(validation_group const& group) {
  std::vector<contender> all;
  for (eval::system_values const& one : group.systems)
    all.push_back(
        {one.name, eval::mean_of_folds(one.folds)[group.measure], queries_of(one, group.measure)});
  return winner(std::move(all))
      .sentence(group.measures[group.measure].name(), group.systems[group.baseline].name);
}

/// The sentence for one share of the labels. The baseline system is the one whose documents were
/// chosen the same way as the best one's.
std::string sentence_of(std::vector<experiment::curve_summary const*> const& best, double budget,
                        std::size_t measure, std::string const& name, std::string const& baseline) {
  std::vector<contender> all;
  std::string against;
  for (experiment::curve_summary const* const s : best) {
    std::string const from = budget < 1 ? fmt::format(" ({} documents)", s->way) : std::string();
    all.push_back({s->system + from, s->means[measure], s->queries[measure]});
    if (s->system == baseline && s->way == best.front()->way) against = all.back().name;
  }
  return fmt::format("With {} of the labels, {}", share_text(budget),
                     winner(std::move(all)).sentence(name, against));
}

/// Ranking quality against the number of training documents.
chart documents_frontier(validation_group const& group) {
  std::string const measure = group.measures[group.measure].name();
  chart made{.title = fmt::format("{}: {} by training documents; bars: 95 % intervals over the "
                                  "queries, after subtracting each query's mean",
                                  group.title(), measure),
             .x = {"training documents (mean of the folds)", true},
             .y = {measure}};
  std::set<double> sizes;
  std::vector<std::vector<double>> values;
  for (std::size_t s = 0; s < group.systems.size(); ++s) {
    if (!group.documents[s]) continue;
    sizes.insert(*group.documents[s]);
    values.push_back(queries_of(group.systems[s], group.measure));
    made.series.push_back(
        {group.systems[s].name,
         {{*group.documents[s], eval::mean_of_folds(group.systems[s].folds)[group.measure]}},
         false,
         true});
  }
  if (sizes.size() < 2) return {};
  std::vector<double> const halves = eval::within_query_intervals(values);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    chart_point& p = made.series[i].points.front();
    p.interval = {p.y - halves[i], p.y + halves[i]};
  }
  return made;
}

/// Ranking quality against the number of labels. Each system has the documents that suit it best at
/// each number.
chart labels_frontier(std::string const& name, std::vector<experiment::curve_summary> const& all,
                      std::vector<double> const& budgets, std::size_t measure,
                      std::string const& measure_name) {
  if (budgets.size() < 2) return {};
  chart made{.title = fmt::format("{}: {} by labels, each system with its best way to choose them; "
                                  "bars: 95 % intervals over the queries, after subtracting each "
                                  "query's mean",
                                  name, measure_name),
             .x = {"labels (mean of the folds)", true},
             .y = {measure_name}};
  for (double const budget : budgets) {
    std::map<std::string, experiment::curve_summary const*> best;
    for (experiment::curve_summary const* const s : experiment::best_first(all, budget, measure))
      best.try_emplace(s->system, s);
    std::vector<std::vector<double>> values;
    for (auto const& [system, s] : best) values.push_back(s->queries[measure]);
    std::vector<double> const halves = eval::within_query_intervals(values);
    for (std::size_t i = 0; auto const& [system, s] : best) {
      auto series = std::ranges::find(made.series, system, &chart_series::name);
      if (series == made.series.end())
        series = made.series.insert(series, {system, {}, true, true});
      double const y = s->means[measure], half = halves[i++];
      series->points.push_back({s->labels, y, "", {y - half, y + half}});
    }
  }
  for (chart_series& one : made.series) std::ranges::sort(one.points, {}, &chart_point::x);
  return made;
}

/// Ranking quality against the size of a system's card fitted to all labels, as cross-fitting
/// measured it in the training sets: means of the folds.
chart sizes_frontier(std::string const& name, std::string const& system,
                     std::vector<experiment::curve_fold> const& folds) {
  std::vector<l2r::card_sizes> of_folds;
  std::vector<std::size_t> chosen;
  for (experiment::curve_fold const& fold : folds)
    for (experiment::curve_point const& p : fold.points)
      if (p.sizes && p.system == system && p.budget >= 1 &&
          p.settings == experiment::setting_choice::defaults) {
        of_folds.push_back(*p.sizes);
        chosen.push_back(p.sizes->chosen);
      }
  if (of_folds.empty()) return {};
  l2r::card_sizes mean = of_folds.front();
  auto const n = static_cast<double>(of_folds.size());
  for (std::size_t i = 0; i < mean.tried.size(); ++i) {
    l2r::card_trial& to = mean.tried[i];
    to.quality = to.error = 0;
    for (l2r::card_sizes const& one : of_folds) {
      if (one.loss != mean.loss || one.tried.size() != mean.tried.size() ||
          one.tried[i].features != to.features)
        return {};  // the folds tried different cards
      to.quality += one.tried[i].quality / n;
      to.error += one.tried[i].error / n;
    }
  }
  return card_frontier(fmt::format("{}, {}", name, system), mean,
                       "in the training sets, mean of the folds",
                       fmt::format("chosen in the folds: {}", fmt::join(chosen, ", ")));
}

/// Charts of the sizes of cards, one per system.
std::vector<chart> sizes_frontiers(std::string const& name,
                                   std::vector<experiment::curve_fold> const& folds) {
  std::vector<chart> made;
  std::set<std::string> systems;
  for (experiment::curve_point const& p : folds.front().points)
    if (systems.insert(p.system).second)
      if (chart one = sizes_frontier(name, p.system, folds); eval::has_points(one))
        made.push_back(std::move(one));
  return made;
}

}  // namespace

void add_lead(std::vector<validation_group> const& groups, found_results const& found,
              report_options const& options, std::vector<chart> frontiers, blocks& to) {
  blocks lead;
  for (validation_group const& group : groups) {
    say(lead, "{}: {}", group.title(), sentence_of(group));
    if (chart made = documents_frontier(group); eval::has_points(made))
      frontiers.insert(frontiers.begin(), std::move(made));
  }
  for (learning_curves const& one : found.curves) {
    if (!one.by_query) continue;
    std::size_t const measure = chosen_measure(one.measures, options).value_or(0);
    std::vector<experiment::curve_summary> const all = experiment::summaries(*one.by_query);
    for (double const budget : one.by_query->options.budgets)
      say(lead, "{}: {}", one.name,
          sentence_of(experiment::best_first(all, budget, measure), budget, measure,
                      one.measures[measure],
                      options.baseline.empty() ? "feature" : options.baseline));
    if (chart made = labels_frontier(one.name, all, one.by_query->options.budgets, measure,
                                     one.measures[measure]);
        eval::has_points(made))
      frontiers.insert(frontiers.begin(), std::move(made));
    std::ranges::move(sizes_frontiers(one.name, one.by_query->folds),
                      std::back_inserter(frontiers));
  }
  if (!lead.empty())
    say(lead,
        "Brackets: 95 % intervals of the mean difference over the queries. Significant: p < {} in "
        "Student's paired t-test, after Holm's correction over all comparisons with the best "
        "system.",
        significant_below);
  for (chart& one : frontiers) lead.push_back({std::move(one)});
  if (lead.empty()) return;
  to.push_back({heading{2, "In short"}});
  std::ranges::move(lead, std::back_inserter(to));
}

}  // namespace rulerank::report
