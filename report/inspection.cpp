#include "core/error.hpp"
#include "eval/report.hpp"
#include "eval/report_json.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/rules/options.hpp"
#include "report/card_sheet.hpp"
#include "report/model_words.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <variant>

#include <fmt/format.h>

// Models as blocks: for `inspect`, and for `report`, which shows less, as charts.
namespace rulerank::inline v0::report {

namespace {

using l2r::joint_member;
using l2r::linear_member;
using l2r::rules_member;
using l2r::scorecard_member;
using nlohmann::ordered_json;

/// The first `top` of `parts`, by reference.
template <class Part>
std::span<Part const> first_of(std::vector<Part> const& parts, std::size_t top) {
  return std::span(parts).first(std::min(top, parts.size()));
}
template <class Part>
std::span<Part const> first_of(std::vector<Part> const&& parts, std::size_t top) = delete;

/// The number of training documents per label, the largest label first.
std::map<std::int32_t, std::uint64_t, std::greater<>> labels_of(rules_member const& member) {
  std::map<std::int32_t, std::uint64_t, std::greater<>> count;
  for (std::int32_t const label : member.training->labels) ++count[label];
  return count;
}

std::string cuts_text(datasets::discretizer const& cuts) {
  std::string text = fmt::format("cuts {}, ", name_of(cuts.options.method));
  text += cuts.options.bins == 0 ? "bins by cross-validation"
                                 : fmt::format("at most {} bins", cuts.options.bins);
  if (cuts.options.norm != datasets::normalization::none)
    text += fmt::format("; values normalized within their query ({})", name_of(cuts.options.norm));
  return text;
}

std::string settings_text(rules_member const& member) {
  l2r::scoring_options const& how = member.scoring;
  std::string text = fmt::format("rule size {}, support >= {}, confidence >= {}; {}", how.rule_size,
                                 how.thresholds.min_support, how.thresholds.min_confidence,
                                 cuts_text(*member.cuts));
  if (how.support_weight != 0) text += fmt::format("; support weight {}", how.support_weight);
  if (how.smoothing != 0) text += fmt::format("; smoothing {}", how.smoothing);
  if (how.feature_share != 1) text += fmt::format("; feature share {}", how.feature_share);
  return text;
}

/// At most `top` features, by decreasing effect on scores.
eval::table feature_table(std::string title, std::vector<l2r::feature_part> const& parts,
                          datasets::feature_names const& names, std::size_t top) {
  eval::table t{std::move(title), {{"moves", fixed, 6}, {"feature"}}};
  for (l2r::feature_part const& part : first_of(parts, top))
    t.rows.push_back({part.moved, feature_text(part.feature, names)});
  return t;
}

std::string feature_title(std::uint64_t documents) {
  return fmt::format("Mean influence of features on scores, over {} training documents:",
                     documents);
}

eval::table rule_table(std::string title, inspected_member const& of) {
  eval::table t{std::move(title),
                {{"moves", fixed, 6},
                 {"support", fixed},
                 {"of", fixed},
                 {"confidence", fixed},
                 {"lift", fixed, 2},
                 {"p (Holm)", general},
                 {"rule"}}};
  for (l2r::strong_rule const& rule : of.rules.strongest)
    t.rows.push_back({rule.moved, rule.support, rule.documents, confidence(rule), rule.lift,
                      rule.p_holm, rule_text(rule, of.words)});
  return t;
}

/// A bar of at most 30 characters.
std::string bar_text(double value, double least, double most) {
  double const share = most > least ? (value - least) / (most - least) : 0;
  return std::string(static_cast<std::size_t>(std::max(0L, std::lround(share * 30))), '#');
}

/// Adds the features with the largest effect: for each item the mean score over all documents.
void add_dependence(inspected_member const& of, std::size_t top, blocks& to) {
  std::vector<double> scores;
  for (l2r::partial_dependence const& one : of.rules.dependence)
    for (l2r::bin_dependence const& bin : one.bins) scores.push_back(bin.score);
  auto const shown = first_of(of.rules.features, std::min<std::size_t>(top, 10));
  if (shown.empty() || scores.empty()) return;
  auto const [least, most] = std::ranges::minmax(scores);
  eval::table t{fmt::format("The mean score if all documents had the item (bars from {:.4f} to "
                            "{:.4f}), for the first {} features:",
                            least, most, shown.size()),
                {{"score", fixed}, {"documents", fixed}, {"bar"}, {"item"}}};
  for (l2r::feature_part const& part : shown) {
    auto const at =
        std::ranges::find(of.rules.dependence, part.feature, &l2r::partial_dependence::feature);
    for (l2r::bin_dependence const& bin : at->bins)
      t.rows.push_back({bin.score, bin.documents, bar_text(bin.score, least, most),
                        item_text(bin.item, of.words)});
  }
  to.push_back({std::move(t)});
}

void add_member(rules_member const& member, inspected_member const& of, std::size_t top,
                blocks& to) {
  std::string labels;
  for (auto const& [label, count] : labels_of(member))
    labels += fmt::format("{}{}: {}", labels.empty() ? "" : ", ", label, count);
  to.push_back({paragraph{settings_text(member)}});
  say(to, "{} training documents (labels {}), {} features, {} items; {} rules of {} itemsets",
      of.rules.training, labels, of.rules.features.size(), member.training->items(), of.rules.rules,
      of.rules.itemsets);
  if (top == 0) return;
  to.push_back(
      {feature_table(feature_title(of.rules.looked_at), of.rules.features, of.words.names, top)});
  to.push_back({rule_table("The most influential rules, one for each set of documents:", of)});
  add_dependence(of, top, to);
}

/// The order of a card's features: by decreasing effect on scores; if that is not stored, by
/// decreasing range of points.
std::vector<std::size_t> order_of_card(l2r::scorecard const& card, inspected_member const& of) {
  std::vector<std::size_t> order;
  for (l2r::feature_part const& part : of.card.features)
    order.push_back(static_cast<std::size_t>(std::ranges::lower_bound(card.features, part.feature) -
                                             card.features.begin()));
  if (!order.empty()) return order;
  for (std::size_t f = 0; f < card.features.size(); ++f) order.push_back(f);
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t f) {
    auto const [least, most] = std::minmax_element(card.points.begin() + card.item_begin[f],
                                                   card.points.begin() + card.item_begin[f + 1]);
    return *most - *least;
  });
  return order;
}

/// The items of the first features with their points and, if known, documents. `bar_of`, if given,
/// returns a bar for the points.
eval::table points_table(std::string title, scorecard_member const& member,
                         inspected_member const& of, std::size_t top,
                         std::function<std::string(double)> const& bar_of = {}) {
  l2r::scorecard const& card = member.card;
  bool const counted_items = !of.card.features.empty();
  eval::table t{std::move(title), {{"points", fixed, 6}}};
  if (counted_items) t.columns.push_back({"documents", fixed});
  if (bar_of) t.columns.push_back({"bar"});
  t.columns.push_back({"item"});
  std::vector<std::size_t> const order = order_of_card(card, of);
  for (std::size_t const f : first_of(order, top))
    for (rules::item x = card.item_begin[f]; x < card.item_begin[f + 1]; ++x) {
      if (counted_items && member.item_documents[x] == 0) continue;
      double const points = l2r::value_of_points(card.points[x]);
      std::vector<eval::cell>& row = t.rows.emplace_back();
      row.emplace_back(points);
      if (counted_items) row.emplace_back(member.item_documents[x]);
      if (bar_of) row.emplace_back(bar_of(points));
      row.emplace_back(item_text(x, of.words));
    }
  return t;
}

/// The card: each feature's items with their points.
void add_member(scorecard_member const& member, inspected_member const& of, std::size_t top,
                blocks& to) {
  if (member.options.page) return add_sheet(sheet_of(of), top > 0, to);
  l2r::scorecard const& card = member.card;
  bool const counted_items = !of.card.features.empty();
  say(to, "loss {}, points penalty {}, smoothness {}{}; {}", name_of(member.options.loss),
      member.options.points_penalty, member.options.smoothness,
      member.cross_fitted_folds > 0 ? ", both by cross-fitting" : "", cuts_text(*member.cuts));
  say(to, "{}{}, {}",
      counted_items ? counted(member.training_documents, "training document") + ", " : "",
      counted(card.features.size(), "feature"), counted(card.points.size(), "item"));
  if (top == 0) return;
  if (counted_items)
    to.push_back({feature_table(feature_title(member.training_documents), of.card.features,
                                of.words.names, top)});
  double least = 0, most = 0;
  for (std::int64_t const points : card.points) {
    least = std::min(least, l2r::value_of_points(points));
    most = std::max(most, l2r::value_of_points(points));
  }
  eval::table t =
      points_table(fmt::format("Points of items (bars from {:.4f} to {:.4f}); a document's score "
                               "is the sum of its items' points:",
                               least, most),
                   member, of, top, [&](double points) { return bar_text(points, least, most); });
  if (!t.rows.empty()) to.push_back({std::move(t)});
}

/// The weights of z-scores, by decreasing effect on scores or, if that is not stored, decreasing
/// size.
void add_member(linear_member const& member, inspected_member const& of, std::size_t top,
                blocks& to) {
  l2r::linear_weights const& weights = member.weights;
  say(to, "strength {}; {}", weights.options.strength, counted(weights.features.size(), "feature"));
  std::vector<l2r::feature_weight> sorted = weights.features;
  bool const known = !of.linear.empty();
  std::ranges::stable_sort(sorted, std::greater<>{}, [&](l2r::feature_weight const& one) {
    return known ? one.moved : std::max(std::abs(one.weight), std::abs(one.missing));
  });
  double most = 0;
  for (l2r::feature_weight const& one : sorted)
    most = std::max(most, std::abs(l2r::value_of_weight(one.weight)));
  eval::table t{fmt::format(
      "Weights of z-scores {} and of missing values (bars from {:.4f} to {:.4f}){}:",
      weights.options.scale == l2r::linear_scale::query ? "within the query"
                                                        : "over all training documents",
      -most, most,
      known ? "; moves: the mean absolute influence of the feature on training documents" : "")};
  if (known) t.columns.push_back({"moves", fixed, 6});
  t.columns.insert(t.columns.end(),
                   {{"weight", fixed, 6}, {"missing", fixed, 6}, {"bar"}, {"feature"}});
  for (l2r::feature_weight const& one : first_of(sorted, top)) {
    std::vector<eval::cell>& row = t.rows.emplace_back();
    if (known) row.emplace_back(l2r::value_of_weight(one.moved));
    double const weight = l2r::value_of_weight(one.weight);
    row.emplace_back(weight);
    row.push_back(one.misses ? eval::cell(l2r::value_of_weight(one.missing)) : eval::cell());
    row.emplace_back(bar_text(weight, -most, most));
    row.emplace_back(feature_text(one.feature, of.words.names));
  }
  if (!t.rows.empty()) to.push_back({std::move(t)});
}

/// The curves: each feature's weight and the points of its bins, by decreasing effect on scores.
void add_member(joint_member const& member, inspected_member const& of, std::size_t top,
                blocks& to) {
  say(to,
      "loss {}, penalties of weights {}, points {}, differences {} and tables {}; {}; {}, {}, {}",
      name_of(member.loss), member.penalties.weights, member.penalties.points,
      member.penalties.smoothness, member.penalties.tables, cuts_text(*member.cuts),
      counted(member.training_documents, "training document"),
      counted(member.features.size(), "feature"),
      counted(member.pairs.size(), "pair of features", "pairs of features"));
  if (top == 0) return;
  eval::table t{
      "Curves of features: each adds its weight times the z-score within the query, and the points "
      "of its item; moves: the mean absolute influence on training documents:",
      {{"moves", fixed, 6}, {"weight", fixed, 6}, {"points", fixed, 6}, {"item"}}};
  for (l2r::feature_part const& part : first_of(of.linear, top)) {
    auto const f = static_cast<std::size_t>(
        std::ranges::lower_bound(member.features, part.feature) - member.features.begin());
    double const weight = l2r::value_of_weight(member.weights[f]);
    for (rules::item x = member.item_begin[f]; x < member.item_begin[f + 1]; ++x)
      t.rows.push_back(
          {part.moved, weight, l2r::value_of_points(member.points[x]), item_text(x, of.words)});
  }
  to.push_back({std::move(t)});
  if (member.pairs.empty()) return;
  eval::table pairs{"Pairs of features, in addition to their curves:",
                    {{"moves", fixed, 6}, {"least", fixed, 6}, {"most", fixed, 6}, {"features"}}};
  for (std::size_t p = 0; p < std::min(top, member.pairs.size()); ++p) {
    l2r::joint_pair const& pair = member.pairs[p];
    auto const [least, most] = std::ranges::minmax(pair.points);
    pairs.rows.push_back(
        {l2r::value_of_points(member.moved[member.features.size() + p]),
         l2r::value_of_points(least), l2r::value_of_points(most),
         fmt::format("{} and {}", feature_text(member.features[pair.first], of.words.names),
                     feature_text(member.features[pair.second], of.words.names))});
  }
  to.push_back({std::move(pairs)});
}

/// Units and origins; a card has them next to its features.
void add_descriptions(inspected_model const& of, blocks& to) {
  member_words const& words = of.members.front().words;
  if (words.descriptions.empty() || (of.members.size() == 1 && words.kind == "card")) return;
  eval::table t{"Units and origins of features:", {{"feature"}, {"unit"}, {"origin"}}, {}};
  for (auto const& [feature, one] : words.descriptions)
    t.rows.push_back({feature_text(feature, words.names), one.unit, one.origin});
  to.push_back({std::move(t)});
}

eval::table permutation_table(inspected_file const& of, std::size_t top) {
  eval::table t{fmt::format(
      "Loss of {} when a feature's values are shuffled, the mean of {} draws (profile {}):",
      of.path, of.draws, of.profile)};
  for (eval::measure const& m : of.measures)
    t.columns.insert(t.columns.end(), {{m.name(), fixed, 6}, {"deviation", fixed, 6}});
  t.columns.push_back({"feature"});
  std::vector<l2r::permuted_feature> sorted = of.found.features;
  std::ranges::stable_sort(sorted, std::greater<>{},
                           [](l2r::permuted_feature const& one) { return one.loss.front(); });
  std::vector<eval::cell>& whole = t.rows.emplace_back();
  for (double const value : of.found.whole) whole.insert(whole.end(), {value, ""});
  whole.emplace_back("(none: the unchanged file)");
  for (l2r::permuted_feature const& one : first_of(sorted, top)) {
    std::vector<eval::cell>& row = t.rows.emplace_back();
    for (std::size_t m = 0; m < one.loss.size(); ++m)
      row.insert(row.end(), {one.loss[m], one.deviation[m]});
    row.emplace_back(feature_text(one.feature, of.names));
  }
  return t;
}

ordered_json cuts_json(datasets::discretizer const& cuts) {
  return {{"method", name_of(cuts.options.method)},
          {"bins", cuts.options.bins},
          {"norm", name_of(cuts.options.norm)}};
}

ordered_json features_json(std::span<l2r::feature_part const> parts,
                           datasets::feature_names const& names) {
  ordered_json json = ordered_json::array();
  for (l2r::feature_part const& part : parts) {
    json.push_back(feature_json(part.feature, names));
    json.back()["moved"] = part.moved;
  }
  return json;
}

ordered_json dependence_json(std::span<l2r::partial_dependence const> all,
                             member_words const& words) {
  ordered_json json = ordered_json::array();
  for (l2r::partial_dependence const& one : all) {
    ordered_json feature = feature_json(one.feature, words.names);
    feature["items"] = ordered_json::array();
    for (l2r::bin_dependence const& bin : one.bins) {
      ordered_json item = item_json(words.ranges[bin.item], words.names);
      item["documents"] = bin.documents;
      item["score"] = bin.score;
      feature["items"].push_back(std::move(item));
    }
    json.push_back(std::move(feature));
  }
  return json;
}

ordered_json member_json(scorecard_member const& member, inspected_member const& of) {
  ordered_json json{{"kind", of.words.kind},
                    {"options", l2r::to_json(member.options)},
                    {"cuts", cuts_json(*member.cuts)}};
  if (member.cross_fitted_folds > 0)
    json["options"]["cross_fitted_folds"] = member.cross_fitted_folds;
  bool const counted_items = !of.card.features.empty();
  if (counted_items) {
    json["training_documents"] = member.training_documents;
    json["features"] = features_json(of.card.features, of.words.names);
  }
  json["items"] = ordered_json::array();
  for (std::size_t x = 0; x < member.card.points.size(); ++x) {
    ordered_json item = item_json(of.words.ranges[x], of.words.names);
    item["points"] = l2r::value_of_points(member.card.points[x]);
    if (!of.intervals.empty())
      item["points_interval"] = {of.intervals[x].low, of.intervals[x].high};
    if (counted_items) item["documents"] = member.item_documents[x];
    json["items"].push_back(std::move(item));
  }
  if (counted_items) json["dependence"] = dependence_json(of.card.dependence, of.words);
  for (l2r::card_total const& one : member.totals) json["totals"].push_back(l2r::to_json(one));
  for (l2r::card_trial const& one : member.frontier) json["frontier"].push_back(l2r::to_json(one));
  return json;
}

ordered_json member_json(linear_member const& member, inspected_member const& of) {
  ordered_json json{{"kind", "linear"},
                    {"options", l2r::to_json(member.weights.options)},
                    {"features", ordered_json::array()}};
  for (l2r::feature_weight const& one : member.weights.features) {
    ordered_json feature = feature_json(one.feature, of.words.names);
    feature["weight"] = l2r::value_of_weight(one.weight);
    if (one.misses) feature["missing"] = l2r::value_of_weight(one.missing);
    if (one.moved >= 0) feature["moved"] = l2r::value_of_weight(one.moved);
    if (member.weights.options.scale == l2r::linear_scale::pool) {
      feature["mean"] = one.mean;
      feature["deviation"] = one.deviation;
    }
    json["features"].push_back(std::move(feature));
  }
  return json;
}

ordered_json member_json(joint_member const& member, inspected_member const& of) {
  ordered_json json{{"kind", "joint"},
                    {"options", l2r::to_json(member.options)},
                    {"cuts", cuts_json(*member.cuts)},
                    {"training_documents", member.training_documents},
                    {"features", ordered_json::array()},
                    {"pairs", ordered_json::array()}};
  json["options"]["loss"] = name_of(member.loss);
  for (std::size_t f = 0; f < member.features.size(); ++f) {
    ordered_json& feature =
        json["features"].emplace_back(feature_json(member.features[f], of.words.names));
    feature["weight"] = l2r::value_of_weight(member.weights[f]);
    feature["moved"] = l2r::value_of_weight(member.moved[f]);
    for (rules::item x = member.item_begin[f]; x < member.item_begin[f + 1]; ++x) {
      ordered_json item = item_json(of.words.ranges[x], of.words.names);
      item["points"] = l2r::value_of_points(member.points[x]);
      feature["items"].push_back(std::move(item));
    }
  }
  for (std::size_t p = 0; p < member.pairs.size(); ++p) {
    l2r::joint_pair const& pair = member.pairs[p];
    ordered_json& entry = json["pairs"].emplace_back();
    entry["features"] = {feature_json(member.features[pair.first], of.words.names),
                         feature_json(member.features[pair.second], of.words.names)};
    entry["moved"] = l2r::value_of_points(member.moved[member.features.size() + p]);
    for (std::int64_t const points : pair.points)
      entry["points"].push_back(l2r::value_of_points(points));
  }
  return json;
}

ordered_json member_json(rules_member const& member, inspected_member const& of) {
  ordered_json labels = ordered_json::object(), strongest = ordered_json::array();
  for (auto const& [label, count] : labels_of(member)) labels[fmt::format("{}", label)] = count;
  for (l2r::strong_rule const& rule : of.rules.strongest) {
    ordered_json entry = rule_json(rule, of.words);
    entry.update({{"moved", rule.moved},
                  {"support", rule.support},
                  {"documents", rule.documents},
                  {"with_label", rule.with_label},
                  {"confidence", confidence(rule)},
                  {"lift", rule.lift},
                  {"p", rule.p},
                  {"p_holm", rule.p_holm}});
    strongest.push_back(std::move(entry));
  }
  return {{"kind", "rules"},
          {"options", l2r::to_json(member.scoring)},
          {"cuts", cuts_json(*member.cuts)},
          {"training_documents", of.rules.training},
          {"labels", labels},
          {"items", member.training->items()},
          {"rules", of.rules.rules},
          {"itemsets", of.rules.itemsets},
          {"documents_looked_at", of.rules.looked_at},
          {"features", features_json(of.rules.features, of.words.names)},
          {"strongest", strongest},
          {"dependence", dependence_json(of.rules.dependence, of.words)}};
}

ordered_json permutation_json(inspected_file const& of) {
  ordered_json json{{"file", of.path},
                    {"profile", of.profile},
                    {"permutations", of.draws},
                    {"whole", eval::by_measure(of.measures, of.found.whole)},
                    {"features", ordered_json::array()}};
  for (l2r::permuted_feature const& one : of.found.features) {
    ordered_json feature = feature_json(one.feature, of.names);
    feature["loss"] = eval::by_measure(of.measures, one.loss);
    feature["deviation"] = eval::by_measure(of.measures, one.deviation);
    json["features"].push_back(std::move(feature));
  }
  return json;
}

std::string member_title(std::size_t k, std::size_t members, l2r::model_member const& member) {
  std::string_view const kind = l2r::kind_of(member);
  return members == 1 ? fmt::format("Kind {}", kind)
                      : fmt::format("Member {}, kind {}", k + 1, kind);
}

/// Features as bars and as a table, by decreasing effect on scores.
void add_features(std::string title, std::vector<l2r::feature_part> const& parts,
                  inspected_member const& of, std::size_t top, blocks& to) {
  if (top == 0 || parts.empty()) return;
  chart bars{.title = std::move(title),
             .kind = chart_kind::bars,
             .y = {"mean absolute influence on a score"},
             .series = {{"moves", {}}}};
  for (l2r::feature_part const& part : first_of(parts, top))
    bars.series[0].points.push_back(
        {0, part.moved, datasets::feature_text(part.feature, of.words.names)});
  to.push_back({std::move(bars)});
  to.push_back(
      {details{"The values of these bars", {{feature_table({}, parts, of.words.names, top)}}}});
}

void add_to_page(rules_member const& member, inspected_member const& of, std::size_t top,
                 blocks& to) {
  say(to,
      "Rules of size {} with support >= {} and confidence >= {}: {} rules of {} itemsets, from {}.",
      member.scoring.rule_size, member.scoring.thresholds.min_support,
      member.scoring.thresholds.min_confidence, of.rules.rules, of.rules.itemsets,
      counted(of.rules.training, "training document"));
  add_features(fmt::format("Features by what they move scores by, over {}",
                           counted(of.rules.looked_at, "training document")),
               of.rules.features, of, top, to);
  to.push_back({rule_table("The most influential rules", of)});
}

constexpr std::string_view unknown =
    "The model file does not hold the influence of features on scores.";

void add_to_page(scorecard_member const& member, inspected_member const& of, std::size_t top,
                 blocks& to) {
  if (of.card.features.empty()) return to.push_back({paragraph{std::string(unknown)}});
  add_features(fmt::format("Features by the mean distance of their points from their mean, over {}",
                           counted(member.training_documents, "training document")),
               of.card.features, of, top, to);
  to.push_back({details{"The points of their items", {{points_table({}, member, of, top)}}}});
}

void add_to_page(linear_member const& /*member*/, inspected_member const& of, std::size_t top,
                 blocks& to) {
  if (of.linear.empty()) return to.push_back({paragraph{std::string(unknown)}});
  add_features("Features by the mean size of what they add to a score", of.linear, of, top, to);
}

void add_to_page(joint_member const& /*member*/, inspected_member const& of, std::size_t top,
                 blocks& to) {
  add_features("Features by the mean size of what they add to a score", of.linear, of, top, to);
}

}  // namespace

inspected_member inspected(context const& ctx, l2r::model const& model, std::size_t k,
                           datasets::feature_names const& names,
                           l2r::inspection_options const& options) {
  l2r::model_member const& member = model.members[k];
  inspected_member one{member, words_of(model, k, {}, names), {}, {}, {}};
  if (auto const* const card = std::get_if<scorecard_member>(&member)) {
    one.words.ranges = l2r::item_ranges(*card);
    one.card = l2r::inspect(*card);
  } else if (auto const* const linear = std::get_if<linear_member>(&member)) {
    one.linear = l2r::inspect(*linear);
  } else if (auto const* const joint = std::get_if<joint_member>(&member)) {
    one.words.ranges = l2r::item_ranges(*joint);
    one.linear = l2r::inspect(*joint);
  } else if (auto const* const rules = std::get_if<rules_member>(&member)) {
    l2r::ranker const by(ctx, *rules->training, {.scoring = rules->scoring});
    one.words.ranges = l2r::item_ranges(by, *rules->cuts);
    one.rules = l2r::inspect(ctx, by, *rules->training, options);
  }
  return one;
}

std::string card_page(inspected_model const& of, card_form form) {
  auto const is_card = [](inspected_member const& one) { return one.words.kind == "card"; };
  if (of.members.size() > 1 || !is_card(of.members.front()))
    throw usage_error(fmt::format("{} is not a card, expected a card", of.path));
  card_sheet sheet = sheet_of(of.members.front());
  sheet.head.push_back(of.portability.words + ".");
  char& first = sheet.head.back().front();
  first = static_cast<char>(first - 'a' + 'A');
  std::string const title = fmt::format("Card {}", of.path);
  switch (form) {
    case card_form::html:
      return sheet_html(sheet, title);
    case card_form::latex:
      return sheet_latex(sheet, title);
    case card_form::pdf:
      return sheet_pdf(sheet, title);
  }
  return {};
}

blocks inspection(inspected_model const& of, std::size_t top) {
  blocks to;
  say(to, "{}: {} bytes, SHA-256 {}; {}", of.path, of.bytes, of.sha256, of.portability.words);
  for (std::size_t k = 0; k < of.members.size(); ++k) {
    inspected_member const& one = of.members[k];
    to.push_back({heading{2, member_title(k, of.members.size(), one.member)}});
    std::visit([&](auto const& member) { add_member(member, one, top, to); }, one.member);
  }
  add_descriptions(of, to);
  bool const several = of.members.size() > 1;
  if (several && !of.file)
    say(to, "--test FILE adds the influence of each feature on the score of all members together.");
  if (!of.file) return to;
  to.push_back({heading{2, "Features"}});
  l2r::combined_inspection const& combined = of.file->combined;
  if (top > 0)
    to.push_back({feature_table(
        fmt::format("What features move the score{} by within the query, the mean over {} of {} of "
                    "{}:",
                    several ? " of all members together" : "",
                    counted(combined.documents, "document"),
                    counted(combined.queries, "query", "queries"), of.file->path),
        combined.features, of.file->names, top)});
  to.push_back({heading{2, "Permutation"}});
  to.push_back({permutation_table(*of.file, top)});
  return to;
}

ordered_json inspection_json(inspected_model const& of) {
  ordered_json json{{"model", of.path}, {"bytes", of.bytes}, {"sha256", of.sha256}};
  json.update(l2r::to_json(of.portability));
  json["members"] = ordered_json::array();
  member_words const& words = of.members.front().words;
  for (auto const& [feature, one] : words.descriptions) {
    ordered_json& entry = json["features"].emplace_back(feature_json(feature, words.names));
    entry.update(description_json(one));
  }
  for (inspected_member const& one : of.members)
    json["members"].push_back(
        std::visit([&](auto const& member) { return member_json(member, one); }, one.member));
  if (!of.file) return json;
  l2r::combined_inspection const& combined = of.file->combined;
  json["combined"] = {{"file", of.file->path},
                      {"documents", combined.documents},
                      {"queries", combined.queries},
                      {"features", features_json(combined.features, of.file->names)}};
  json["permutation"] = permutation_json(*of.file);
  return json;
}

chart card_frontier(std::string const& title, l2r::card_sizes const& of, std::string_view how,
                    std::string_view chosen) {
  bool const squares = of.loss == l2r::card_loss::point;
  std::string const quality = squares ? "squared error" : "NDCG";
  chart made{.title = fmt::format("{}: {} by features on the card, by cross-fitting {}; {}; bars: "
                                  "one standard error of the difference to the largest card",
                                  title, quality, how, chosen),
             .x = {"features"},
             .y = {quality},
             .series = {{"card", {}}}};
  for (l2r::card_trial const& one : of.tried) {
    double const y = squares ? -one.quality : one.quality;
    made.series.front().points.push_back(
        {static_cast<double>(one.features), y, {}, {y - one.error, y + one.error}});
  }
  return made;
}

std::vector<chart> add_model(context const& ctx, std::string const& path,
                             report_options const& options, blocks& to) {
  std::vector<chart> frontiers;
  if (options.opened) options.opened(path);
  l2r::model const model = l2r::read_model(path);
  say(to, "The model is {}.", l2r::portability_of(model).words);
  for (std::size_t k = 0; k < model.members.size(); ++k) {
    inspected_member const one = inspected(ctx, model, k, {}, {.top = options.top});
    to.push_back({heading{3, member_title(k, model.members.size(), one.member)}});
    std::visit([&](auto const& member) { add_to_page(member, one, options.top, to); }, one.member);
  }
  for (l2r::card_sizes const& one : l2r::tried_sizes(model))
    frontiers.push_back(card_frontier(path, one, "in the training documents",
                                      fmt::format("{} were chosen", one.chosen)));
  return frontiers;
}

}  // namespace rulerank::report
