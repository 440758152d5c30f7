#include "apps/shared/reports/inspection_report.hpp"

#include "apps/shared/reports/report_page.hpp"
#include "core/error.hpp"
#include "l2r/options.hpp"
#include "l2r/options_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::apps {

namespace {

using eval::column;
using nlohmann::ordered_json;

constexpr auto fixed = column::style::fixed;
constexpr auto general = column::style::general;

std::string rule_text(l2r::strong_rule const& rule, rule_words const& words) {
  return words_of_rule(rule.antecedent, rule.label, words.ranges, words.names);
}

double confidence(l2r::strong_rule const& rule) {
  return static_cast<double>(rule.support) / rule.documents;
}

/// How many training documents have each label, the largest label first.
std::map<std::int32_t, std::uint64_t, std::greater<>> labels_of(l2r::rules_member const& member) {
  std::map<std::int32_t, std::uint64_t, std::greater<>> count;
  for (std::int32_t const label : member.training->labels) ++count[label];
  return count;
}

l2r::rules_member const& rules_of(inspected_member const& of) {
  return std::get<l2r::rules_member>(of.member);
}

std::string cuts_text(datasets::discretizer const& cuts) {
  std::string text =
      fmt::format("cuts {}, at most {} bins", name_of(cuts.options.method), cuts.options.bins);
  if (cuts.options.norm != datasets::normalization::none)
    text += fmt::format("; values normalized within their query ({})", name_of(cuts.options.norm));
  return text;
}

std::string settings_text(inspected_member const& of) {
  l2r::scoring_options const& how = rules_of(of).scoring;
  std::string text = fmt::format("rule size {}, support >= {}, confidence >= {}; {}", how.rule_size,
                                 how.thresholds.min_support, how.thresholds.min_confidence,
                                 cuts_text(*rules_of(of).cuts));
  if (how.support_weight != 0) text += fmt::format("; support weight {}", how.support_weight);
  if (how.smoothing != 0) text += fmt::format("; smoothing {}", how.smoothing);
  if (how.feature_share != 1) text += fmt::format("; feature share {}", how.feature_share);
  return text;
}

std::string sizes_text(inspected_member const& of) {
  std::string labels;
  for (auto const& [label, count] : labels_of(rules_of(of)))
    labels += fmt::format("{}{}: {}", labels.empty() ? "" : ", ", label, count);
  return fmt::format(
      "{} training documents (labels {}), {} features, {} items; {} rules of {} "
      "itemsets",
      of.found.training, labels, of.found.features.size(), rules_of(of).training->items(),
      of.found.rules, of.found.itemsets);
}

eval::table feature_table(std::span<l2r::feature_part const> parts, std::uint64_t documents,
                          rule_words const& words, std::size_t top) {
  eval::table t{
      .title = fmt::format("What features move scores by, the mean over {} training documents:",
                           documents),
      .columns = {{"moves", fixed, 6}, {"feature"}},
      .rows = {}};
  for (l2r::feature_part const& part : parts.first(std::min(top, parts.size())))
    t.rows.push_back({part.moved, feature_text(part.feature, words.names)});
  return t;
}

eval::table rule_table(inspected_member const& of) {
  eval::table t{.title = "The rules that move them furthest, one for the same documents:",
                .columns = {{"moves", fixed, 6},
                            {"support", fixed},
                            {"of", fixed},
                            {"confidence", fixed},
                            {"lift", fixed, 2},
                            {"p (Holm)", general},
                            {"rule"}},
                .rows = {}};
  for (l2r::strong_rule const& rule : of.found.strongest)
    t.rows.push_back({rule.moved, std::int64_t{rule.support}, std::int64_t{rule.documents},
                      confidence(rule), rule.lift, rule.p_holm, rule_text(rule, of.words)});
  return t;
}

/// A bar of at most 30 characters.
std::string bar(double value, double least, double most) {
  double const share = most > least ? (value - least) / (most - least) : 1;
  std::string text;
  for (long i = std::lround(share * 30); i > 0; --i) text += '#';
  return text;
}

/// The features that move furthest, each of their items with the mean score in all documents.
void add_dependence(page& to, inspected_member const& of, std::size_t top) {
  double least = 0, most = 0;
  bool first = true;
  for (l2r::partial_dependence const& one : of.found.dependence)
    for (l2r::bin_dependence const& bin : one.bins) {
      least = first ? bin.score : std::min(least, bin.score);
      most = first ? bin.score : std::max(most, bin.score);
      first = false;
    }
  std::size_t const shown = std::min<std::size_t>({top, 10, of.found.features.size()});
  if (shown == 0 || first) return;
  eval::table t{.title = fmt::format("The mean score if all of them had the item (bars from {:.4f} "
                                     "to {:.4f}), of the first {} features:",
                                     least, most, shown),
                .columns = {{"score", fixed}, {"documents", fixed}, {"bar"}, {"item"}},
                .rows = {}};
  for (l2r::feature_part const& part : std::span(of.found.features).first(shown)) {
    auto const at =
        std::ranges::find(of.found.dependence, part.feature, &l2r::partial_dependence::feature);
    for (l2r::bin_dependence const& bin : at->bins)
      t.rows.push_back({bin.score, std::int64_t{bin.documents}, bar(bin.score, least, most),
                        words_of(of.words.ranges[bin.item], of.words.names)});
  }
  to.table(t);
}

/// What features move in the score of all members together.
eval::table combined_table(inspected_file const& of, std::size_t members, std::size_t top) {
  eval::table t{
      .title = fmt::format(
          "What features move the score{} by within the query, the mean over {} of {} of "
          "{}:",
          members > 1 ? " of all members together" : "", counted(of.combined.documents, "document"),
          counted(of.combined.queries, "query", "queries"), of.path),
      .columns = {{"moves", fixed, 6}, {"feature"}},
      .rows = {}};
  auto const& parts = of.combined.features;
  for (l2r::feature_part const& part : std::span(parts).first(std::min(top, parts.size())))
    t.rows.push_back({part.moved, feature_text(part.feature, of.names)});
  return t;
}

eval::table permutation_table(inspected_file const& of, std::size_t top) {
  eval::table t{.title = fmt::format("What {} loses when a feature's values are shuffled, the mean "
                                     "of {} draws (profile {}):",
                                     of.path, of.draws, of.profile),
                .columns = {},
                .rows = {}};
  for (eval::measure const& m : of.measures) {
    t.columns.push_back({m.name(), fixed, 6});
    t.columns.push_back({"deviation", fixed, 6});
  }
  t.columns.push_back({"feature"});
  std::vector<l2r::permuted_feature> sorted = of.found.features;
  std::ranges::stable_sort(sorted, std::greater<>{},
                           [](l2r::permuted_feature const& one) { return one.loss.front(); });
  std::vector<eval::cell> whole;
  for (double const value : of.found.whole) {
    whole.emplace_back(value);
    whole.emplace_back(std::string{});
  }
  whole.emplace_back(std::string("(none: the file as it is)"));
  t.rows.push_back(std::move(whole));
  for (l2r::permuted_feature const& one : std::span(sorted).first(std::min(top, sorted.size()))) {
    std::vector<eval::cell> row;
    for (std::size_t m = 0; m < one.loss.size(); ++m) {
      row.emplace_back(one.loss[m]);
      row.emplace_back(one.deviation[m]);
    }
    row.emplace_back(feature_text(one.feature, of.names));
    t.rows.push_back(std::move(row));
  }
  return t;
}

ordered_json cuts_json(datasets::discretizer const& cuts) {
  return {{"method", name_of(cuts.options.method)},
          {"bins", cuts.options.bins},
          {"norm", name_of(cuts.options.norm)}};
}

ordered_json features_json(std::span<l2r::feature_part const> parts, rule_words const& words) {
  ordered_json json = ordered_json::array();
  for (l2r::feature_part const& part : parts) {
    ordered_json one = feature_json(part.feature, words.names);
    one["moved"] = part.moved;
    json.push_back(std::move(one));
  }
  return json;
}

ordered_json dependence_json(std::span<l2r::partial_dependence const> all,
                             rule_words const& words) {
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

ordered_json card_json(inspected_member const& of) {
  auto const& member = std::get<l2r::scorecard_member>(of.member);
  ordered_json json{{"kind", "scorecard"},
                    {"options", l2r::to_json(member.options)},
                    {"cuts", cuts_json(*member.cuts)}};
  if (member.cross_fitted_folds > 0)
    json["options"]["cross_fitted_folds"] = member.cross_fitted_folds;
  bool const counted_items = !of.card.features.empty();
  if (counted_items) {
    json["training_documents"] = member.training_documents;
    json["features"] = features_json(of.card.features, of.words);
  }
  json["items"] = ordered_json::array();
  for (std::size_t x = 0; x < member.card.points.size(); ++x) {
    ordered_json item = item_json(of.words.ranges[x], of.words.names);
    item["points"] = l2r::value_of_points(member.card.points[x]);
    if (counted_items) item["documents"] = member.item_documents[x];
    json["items"].push_back(std::move(item));
  }
  if (counted_items) json["dependence"] = dependence_json(of.card.dependence, of.words);
  return json;
}

ordered_json linear_json(inspected_member const& of) {
  l2r::linear_weights const& weights = std::get<l2r::linear_member>(of.member).weights;
  ordered_json json{{"kind", "linear"},
                    {"options", l2r::to_json(weights.options)},
                    {"features", ordered_json::array()}};
  for (l2r::feature_weight const& one : weights.features) {
    ordered_json feature = feature_json(one.feature, of.words.names);
    feature["weight"] = l2r::value_of_weight(one.weight);
    if (one.misses) feature["missing"] = l2r::value_of_weight(one.missing);
    if (one.moved >= 0) feature["moved"] = l2r::value_of_weight(one.moved);
    json["features"].push_back(std::move(feature));
  }
  return json;
}

ordered_json rules_json(inspected_member const& of) {
  ordered_json json{{"kind", "rules"},
                    {"options", l2r::to_json(rules_of(of).scoring)},
                    {"cuts", cuts_json(*rules_of(of).cuts)},
                    {"training_documents", of.found.training},
                    {"labels", ordered_json::object()},
                    {"items", rules_of(of).training->items()},
                    {"rules", of.found.rules},
                    {"itemsets", of.found.itemsets},
                    {"documents_looked_at", of.found.looked_at},
                    {"features", features_json(of.found.features, of.words)},
                    {"strongest", ordered_json::array()},
                    {"dependence", dependence_json(of.found.dependence, of.words)}};
  for (auto const& [label, count] : labels_of(rules_of(of)))
    json["labels"][fmt::format("{}", label)] = count;
  for (l2r::strong_rule const& rule : of.found.strongest) {
    ordered_json antecedent = ordered_json::array();
    for (rules::item const x : rule.antecedent)
      antecedent.push_back(item_json(of.words.ranges[x], of.words.names));
    json["strongest"].push_back({{"rule", rule_text(rule, of.words)},
                                 {"antecedent", antecedent},
                                 {"label", rule.label},
                                 {"moved", rule.moved},
                                 {"support", rule.support},
                                 {"documents", rule.documents},
                                 {"with_label", rule.with_label},
                                 {"confidence", confidence(rule)},
                                 {"lift", rule.lift},
                                 {"p", rule.p},
                                 {"p_holm", rule.p_holm}});
  }
  return json;
}

ordered_json file_json(inspected_file const& of) {
  auto const by_measure = [&](std::vector<double> const& values) {
    ordered_json json = ordered_json::object();
    for (std::size_t m = 0; m < values.size(); ++m) json[of.measures[m].name()] = values[m];
    return json;
  };
  ordered_json json{{"file", of.path},
                    {"profile", of.profile},
                    {"permutations", of.draws},
                    {"whole", by_measure(of.found.whole)},
                    {"features", ordered_json::array()}};
  for (l2r::permuted_feature const& one : of.found.features) {
    ordered_json feature = feature_json(one.feature, of.names);
    feature["loss"] = by_measure(one.loss);
    feature["deviation"] = by_measure(one.deviation);
    json["features"].push_back(std::move(feature));
  }
  return json;
}

ordered_json combined_json(inspected_file const& of) {
  ordered_json json{{"file", of.path},
                    {"documents", of.combined.documents},
                    {"queries", of.combined.queries},
                    {"features", ordered_json::array()}};
  for (l2r::feature_part const& part : of.combined.features) {
    ordered_json feature = feature_json(part.feature, of.names);
    feature["moved"] = part.moved;
    json["features"].push_back(std::move(feature));
  }
  return json;
}

void add_rules(page& to, inspected_member const& of, std::size_t top) {
  to.line(settings_text(of));
  to.line(sizes_text(of));
  if (top == 0) return;
  to.table(feature_table(of.found.features, of.found.looked_at, of.words, top));
  to.table(rule_table(of));
  add_dependence(to, of, top);
}

/// The features of a card in the order in which it is shown: those that move scores furthest or,
/// where that is not known, those with the widest range of points, first.
std::vector<std::size_t> order_of_card(inspected_member const& of) {
  l2r::scorecard const& card = std::get<l2r::scorecard_member>(of.member).card;
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

/// The card: of each feature its items with their points.
void add_card(page& to, inspected_member const& of, std::size_t top) {
  auto const& member = std::get<l2r::scorecard_member>(of.member);
  l2r::scorecard const& card = member.card;
  bool const counted_items = !of.card.features.empty();
  to.line(fmt::format(
      "loss {}, points penalty {}, smoothness {}{}; {}", name_of(member.options.loss),
      member.options.points_penalty, member.options.smoothness,
      member.cross_fitted_folds > 0 ? ", both by cross-fitting" : "", cuts_text(*member.cuts)));
  to.line(fmt::format("{}{}, {}",
                      counted_items ? counted(member.training_documents, "training document") + ", "
                                    : std::string(),
                      counted(card.features.size(), "feature"),
                      counted(card.points.size(), "item")));
  if (top == 0) return;
  if (counted_items)
    to.table(feature_table(of.card.features, member.training_documents, of.words, top));
  double least = 0, most = 0;
  for (std::int64_t const points : card.points) {
    least = std::min(least, l2r::value_of_points(points));
    most = std::max(most, l2r::value_of_points(points));
  }
  eval::table t{.title = fmt::format("The points of items; a document's score is the sum of its "
                                     "items' points (bars from {:.4f} to {:.4f}):",
                                     least, most),
                .columns = {{"points", fixed, 6}},
                .rows = {}};
  if (counted_items) t.columns.push_back({"documents", fixed});
  t.columns.push_back({"bar"});
  t.columns.push_back({"item"});
  std::vector<std::size_t> const order = order_of_card(of);
  for (std::size_t const f : std::span(order).first(std::min(top, order.size())))
    for (rules::item x = card.item_begin[f]; x < card.item_begin[f + 1]; ++x) {
      if (counted_items && member.item_documents[x] == 0) continue;
      double const points = l2r::value_of_points(card.points[x]);
      std::vector<eval::cell> row{points};
      if (counted_items) row.emplace_back(std::int64_t{member.item_documents[x]});
      row.emplace_back(bar(points, least, most));
      row.emplace_back(words_of(of.words.ranges[x], of.words.names));
      t.rows.push_back(std::move(row));
    }
  if (!t.rows.empty()) to.table(t);
}

/// Weights of z-scores: those that move scores furthest or, where that is not known, the largest,
/// first.
void add_linear(page& to, inspected_member const& of, std::size_t top) {
  l2r::linear_weights const& weights = std::get<l2r::linear_member>(of.member).weights;
  to.line(fmt::format("strength {}; {}", weights.options.strength,
                      counted(weights.features.size(), "feature")));
  std::vector<l2r::feature_weight> sorted = weights.features;
  bool const known = !of.linear.empty();
  std::ranges::stable_sort(sorted, std::greater<>{}, [&](l2r::feature_weight const& one) {
    return known ? one.moved : std::max(std::abs(one.weight), std::abs(one.missing));
  });
  double most = 0;
  for (l2r::feature_weight const& one : sorted)
    most = std::max(most, std::abs(l2r::value_of_weight(one.weight)));
  eval::table t{.title = fmt::format("The weights of z-scores within the query, and of missing "
                                     "values (bars from {:.4f} to {:.4f}){}:",
                                     -most, most,
                                     known ? "; moves: the mean size of what a feature adds to "
                                             "training documents"
                                           : ""),
                .columns = {},
                .rows = {}};
  if (known) t.columns.push_back({"moves", fixed, 6});
  t.columns.insert(t.columns.end(),
                   {{"weight", fixed, 6}, {"missing", fixed, 6}, {"bar"}, {"feature"}});
  for (l2r::feature_weight const& one : std::span(sorted).first(std::min(top, sorted.size()))) {
    std::vector<eval::cell> row;
    if (known) row.emplace_back(l2r::value_of_weight(one.moved));
    double const weight = l2r::value_of_weight(one.weight);
    row.emplace_back(weight);
    row.emplace_back(std::string{});
    if (one.misses) row.back() = l2r::value_of_weight(one.missing);
    row.emplace_back(bar(weight, -most, most));
    row.emplace_back(feature_text(one.feature, of.words.names));
    t.rows.push_back(std::move(row));
  }
  if (!t.rows.empty()) to.table(t);
}

}  // namespace

std::string report(inspected_model const& of, std::size_t top, eval::table_format format) {
  page to(format);
  to.line(fmt::format("{}: {} bytes, SHA-256 {}", of.path, of.bytes, of.sha256));
  for (std::size_t k = 0; k < of.members.size(); ++k) {
    inspected_member const& one = of.members[k];
    std::string_view const kind = l2r::kind_of(one.member);
    to.heading(of.members.size() == 1 ? fmt::format("Kind {}", kind)
                                      : fmt::format("Member {}, kind {}", k + 1, kind));
    if (std::holds_alternative<l2r::scorecard_member>(one.member))
      add_card(to, one, top);
    else if (std::holds_alternative<l2r::linear_member>(one.member))
      add_linear(to, one, top);
    else
      add_rules(to, one, top);
  }
  if (of.members.size() > 1 && !of.file)
    to.line("--test FILE adds what each feature moves in the score of all members together.");
  if (of.file) {
    to.heading("Features");
    if (top > 0) to.table(combined_table(*of.file, of.members.size(), top));
    to.heading("Permutation");
    to.table(permutation_table(*of.file, top));
  }
  return to.take();
}

ordered_json report_json(inspected_model const& of) {
  ordered_json json{{"model", of.path},
                    {"bytes", of.bytes},
                    {"sha256", of.sha256},
                    {"members", ordered_json::array()}};
  for (inspected_member const& one : of.members) {
    if (std::holds_alternative<l2r::scorecard_member>(one.member))
      json["members"].push_back(card_json(one));
    else if (std::holds_alternative<l2r::linear_member>(one.member))
      json["members"].push_back(linear_json(one));
    else
      json["members"].push_back(rules_json(one));
  }
  if (of.file) json["combined"] = combined_json(*of.file);
  if (of.file) json["permutation"] = file_json(*of.file);
  return json;
}

}  // namespace rulerank::apps
