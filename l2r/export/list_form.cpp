#include "l2r/export/list_form.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/values_of.hpp"
#include "l2r/joint/joint.hpp"
#include "l2r/model/scorer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

/// A form of points with all features of the list: those that it lacks add nothing.
additive_form with_features(additive_form const& form, list_form const& all) {
  additive_form made = form;
  made.features.clear();
  auto own = form.features.begin();
  for (std::size_t f = 0; f < all.numbers.size(); ++f)
    if (own != form.features.end() && own->feature == all.numbers[f])
      made.features.push_back(*own++);
    else
      made.features.push_back({all.numbers[f], all.names[f], {}, {0}, 0, false});
  return made;
}

/// The place of a feature among those of the list, which has it.
std::size_t place_of(std::uint32_t feature, list_form const& in) {
  return static_cast<std::size_t>(std::ranges::lower_bound(in.numbers, feature) -
                                  in.numbers.begin());
}

line_form lines_of(linear_weights const& by, list_form const& all) {
  line_form made;
  made.missing_is_zero = by.options.missing == datasets::missing_values::zero;
  made.weights.resize(all.numbers.size());
  made.missing.resize(all.numbers.size());
  for (feature_weight const& one : by.features) {
    std::size_t const at = place_of(one.feature, all);
    made.weights[at] = value_of_weight(one.weight);
    made.missing[at] = value_of_weight(one.missing);
  }
  return made;
}

/// The cuts at which the group of a joint member's table changes.
std::vector<double> cuts_of_groups(std::vector<double> const& cuts) {
  auto const bins = static_cast<std::uint32_t>(cuts.size() + 1);
  std::vector<double> made;
  for (std::uint32_t bin = 1; bin < bins; ++bin)
    if (joint_group_of(static_cast<std::uint8_t>(bin), bins, false) !=
        joint_group_of(static_cast<std::uint8_t>(bin - 1), bins, false))
      made.push_back(cuts[bin - 1]);
  return made;
}

/// The points of a joint member as those of a scorecard.
scorecard_member points_of(joint_member const& by) {
  scorecard_member made;
  made.cuts = by.cuts;
  made.card.features = by.features;
  made.card.item_begin = by.item_begin;
  made.card.points = by.points;
  return made;
}

joint_form joint_form_of(joint_member const& by, additive_form const& points,
                         list_form const& all) {
  joint_form made;
  made.points = with_features(points, all);
  made.lines.missing_is_zero = by.cuts->options.missing == datasets::missing_values::zero;
  made.lines.weights.resize(all.numbers.size());
  made.lines.missing.resize(all.numbers.size());
  for (std::size_t f = 0; f < by.features.size(); ++f)
    made.lines.weights[place_of(by.features[f], all)] = value_of_weight(by.weights[f]);
  for (joint_pair const& pair : by.pairs) {
    pair_table table;
    table.first = place_of(by.features[pair.first], all);
    table.second = place_of(by.features[pair.second], all);
    table.first_cuts = cuts_of_groups(made.points.features[table.first].cuts);
    table.second_cuts = cuts_of_groups(made.points.features[table.second].cuts);
    table.has_missing_group = by.cuts->options.missing == datasets::missing_values::item;
    for (std::int64_t const one : pair.points) table.points.push_back(value_of_points(one));
    made.tables.push_back(std::move(table));
  }
  return made;
}

/// One member of a model, as a model of its own.
model alone(model_member const& member) {
  model made;
  made.members.push_back(member);
  return made;
}

struct list_values {
  std::vector<double> values;  // [documents x features]
  std::size_t features = 0;
  double& at(std::size_t d, std::size_t f) { return values[d * features + f]; }
  double at(std::size_t d, std::size_t f) const { return values[d * features + f]; }
};

void add_line(line_form const& by, std::size_t f, list_values const& list,
              std::vector<double>& scores) {
  auto const value = [&](std::size_t d) {
    double const x = list.at(d, f);
    return std::isnan(x) && by.missing_is_zero ? 0 : x;
  };
  double sum = 0, squares = 0, count = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t d = 0; d < scores.size(); ++d) {
    if (double const x = value(d); !std::isnan(x)) {
      sum += x;
      count += 1;
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  double const mean = sum / std::max(count, 1.0);
  for (std::size_t d = 0; d < scores.size(); ++d)
    if (double const away = value(d) - mean; !std::isnan(away)) squares += away * away;
  double const deviation = std::sqrt(squares / std::max(count, 1.0));
  for (std::size_t d = 0; d < scores.size(); ++d) {
    double const x = value(d);
    if (std::isnan(x))
      scores[d] += by.missing[f];
    else if (low < high)
      scores[d] += (x - mean) / deviation * by.weights[f];
  }
}

void add_member(additive_form const& by, list_values const& list, std::vector<double>& scores) {
  for (std::size_t f = 0; f < list.features; ++f)
    for (std::size_t d = 0; d < scores.size(); ++d)
      scores[d] += points_of(by.features[f], list.at(d, f));
}

void add_member(line_form const& by, list_values const& list, std::vector<double>& scores) {
  for (std::size_t f = 0; f < list.features; ++f) add_line(by, f, list, scores);
}

void add_table(pair_table const& by, bool missing_is_zero, list_values const& list,
               std::vector<double>& scores) {
  auto const group_of = [&](std::vector<double> const& cuts, double x) {
    if (std::isnan(x) && !missing_is_zero) return cuts.size() + 1;
    return static_cast<std::size_t>(std::ranges::upper_bound(cuts, std::isnan(x) ? 0 : x) -
                                    cuts.begin());
  };
  std::size_t const groups = by.second_cuts.size() + (by.has_missing_group ? 2 : 1);
  for (std::size_t d = 0; d < scores.size(); ++d) {
    std::size_t const first = group_of(by.first_cuts, list.at(d, by.first));
    std::size_t const second = group_of(by.second_cuts, list.at(d, by.second));
    bool const misses = first > by.first_cuts.size() || second > by.second_cuts.size();
    if (!misses || by.has_missing_group) scores[d] += by.points[first * groups + second];
  }
}

void add_member(joint_form const& by, list_values const& list, std::vector<double>& scores) {
  add_member(by.points, list, scores);
  add_member(by.lines, list, scores);
  for (pair_table const& table : by.tables)
    add_table(table, by.lines.missing_is_zero, list, scores);
}

std::vector<double> scores_of_member(list_member const& member, list_values const& list,
                                     std::size_t documents) {
  std::vector<double> scores(documents);
  std::visit([&](auto const& form) { add_member(form, list, scores); }, member);
  return scores;
}

/// The pairs of features with a table, ascending.
std::vector<feature_pair> pairs_of(std::vector<list_member> const& members) {
  std::vector<feature_pair> all;
  for (list_member const& member : members)
    if (auto const* const joint = std::get_if<joint_form>(&member))
      for (pair_table const& table : joint->tables) all.emplace_back(table.first, table.second);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

list_form list_form_of(model const& of, export_options const& options) {
  list_form form;
  form.portability = portability_of(of);
  std::map<std::uint32_t, std::string> names;
  std::vector<bool> absent;
  std::vector<additive_form> points(of.members.size());
  for (std::size_t k = 0; k < of.members.size(); ++k) {
    if (auto const* const linear = std::get_if<linear_member>(&of.members[k])) {
      linear_weights const& by = linear->weights;
      for (feature_weight const& one : by.features)
        names[one.feature] = name_of_feature(one.feature, by.names, options.names);
      absent.push_back(
          std::isnan(datasets::unlisted_value(by.options.missing, by.options.unlisted)));
      continue;
    }
    auto const* const joint = std::get_if<joint_member>(&of.members[k]);
    points[k] =
        additive_form_of(alone(joint ? model_member(points_of(*joint)) : of.members[k]), options);
    for (additive_feature const& one : points[k].features) names[one.feature] = one.name;
    absent.push_back(points[k].absent_is_missing);
  }
  if (std::ranges::count(absent, absent.front()) != std::ssize(absent))
    throw usage_error(
        "found members that read a feature that is not listed as 0 and as missing, expected one "
        "of the two");
  form.absent_is_missing = absent.front();
  for (auto const& [number, name] : names) {
    form.numbers.push_back(number);
    form.names.push_back(name);
    if (!of.descriptions.empty()) form.about.push_back(description_of(number, of.descriptions));
  }
  for (std::size_t k = 0; k < of.members.size(); ++k)
    if (auto const* const linear = std::get_if<linear_member>(&of.members[k]))
      form.members.emplace_back(lines_of(linear->weights, form));
    else if (auto const* const joint = std::get_if<joint_member>(&of.members[k]))
      form.members.emplace_back(joint_form_of(*joint, points[k], form));
    else
      form.members.emplace_back(with_features(points[k], form));
  form.pairs = pairs_of(form.members);
  return form;
}

std::vector<double> scores_of(context const& ctx, list_form const& form,
                              datasets::dataset const& documents) {
  double const absent = form.absent_is_missing ? std::numeric_limits<double>::quiet_NaN() : 0;
  std::vector<std::vector<double>> members(form.members.size(),
                                           std::vector<double>(documents.size()));
  parallel_for(ctx, documents.queries.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q) {
      datasets::query_group const& query = documents.queries[q];
      list_values list{std::vector<double>(query.size() * form.numbers.size()),
                       form.numbers.size()};
      for (std::size_t d = 0; d < query.size(); ++d)
        datasets::for_each_value(documents.document(query.begin + d), form.numbers, absent,
                                 [&](std::size_t f, double value) { list.at(d, f) = value; });
      for (std::size_t k = 0; k < members.size(); ++k)
        std::ranges::copy(scores_of_member(form.members[k], list, query.size()),
                          members[k].begin() + static_cast<std::ptrdiff_t>(query.begin));
    }
  });
  return combine(documents.queries, members);
}

}  // namespace rulerank::l2r
