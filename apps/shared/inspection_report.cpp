#include "apps/shared/inspection_report.hpp"

#include "apps/shared/report_page.hpp"
#include "l2r/options.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::apps {

namespace {

using eval::column;
using nlohmann::ordered_json;

constexpr auto fixed = column::style::fixed;
constexpr auto general = column::style::general;

std::string name_of(std::uint32_t feature, datasets::feature_names const& names) {
  auto const name = names.find(feature);
  return name != names.end() ? name->second : fmt::format("feature {}", feature);
}

std::string rule_text(l2r::strong_rule const& rule, rule_words const& words) {
  std::string text;
  for (rules::item const x : rule.antecedent)
    text +=
        fmt::format("{}{}", text.empty() ? "" : " and ", words_of(words.ranges[x], words.names));
  return fmt::format("{} -> {}", text, rule.label);
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

std::string settings_text(inspected_rules const& of) {
  l2r::scoring_options const& how = of.member.scoring;
  datasets::discretizer_options const& cuts = of.member.cuts->options;
  std::string text = fmt::format(
      "rule size {}, support >= {}, confidence >= {}; cuts {}, at most {} bins", how.rule_size,
      how.thresholds.min_support, how.thresholds.min_confidence, name_of(cuts.method), cuts.bins);
  if (how.support_weight != 0) text += fmt::format("; support weight {}", how.support_weight);
  if (how.smoothing != 0) text += fmt::format("; smoothing {}", how.smoothing);
  if (how.feature_share != 1) text += fmt::format("; feature share {}", how.feature_share);
  if (cuts.norm != datasets::normalization::none)
    text += fmt::format("; values normalized within their query ({})", name_of(cuts.norm));
  return text;
}

std::string sizes_text(inspected_rules const& of) {
  std::string labels;
  for (auto const& [label, count] : labels_of(of.member))
    labels += fmt::format("{}{}: {}", labels.empty() ? "" : ", ", label, count);
  return fmt::format(
      "{} training documents (labels {}), {} features, {} items; {} rules of {} "
      "itemsets",
      of.found.training, labels, of.found.features.size(), of.member.training->items(),
      of.found.rules, of.found.itemsets);
}

eval::table feature_table(inspected_rules const& of, std::size_t top) {
  eval::table t{
      .title = fmt::format("What features move scores by, the mean over {} training documents:",
                           of.found.looked_at),
      .columns = {{"moves", fixed, 6}, {"feature"}},
      .rows = {}};
  for (l2r::feature_part const& part :
       std::span(of.found.features).first(std::min(top, of.found.features.size())))
    t.rows.push_back({part.moved, name_of(part.feature, of.words.names)});
  return t;
}

eval::table rule_table(inspected_rules const& of) {
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
void add_dependence(page& to, inspected_rules const& of, std::size_t top) {
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
    row.emplace_back(name_of(one.feature, of.names));
    t.rows.push_back(std::move(row));
  }
  return t;
}

ordered_json feature_json(std::uint32_t feature, datasets::feature_names const& names) {
  ordered_json json{{"feature", feature}};
  if (auto const name = names.find(feature); name != names.end()) json["name"] = name->second;
  return json;
}

ordered_json rules_json(inspected_rules const& of) {
  ordered_json json{{"kind", "rules"},
                    {"options", l2r::to_json(of.member.scoring)},
                    {"cuts",
                     {{"method", name_of(of.member.cuts->options.method)},
                      {"bins", of.member.cuts->options.bins},
                      {"norm", name_of(of.member.cuts->options.norm)}}},
                    {"training_documents", of.found.training},
                    {"labels", ordered_json::object()},
                    {"items", of.member.training->items()},
                    {"rules", of.found.rules},
                    {"itemsets", of.found.itemsets},
                    {"documents_looked_at", of.found.looked_at},
                    {"features", ordered_json::array()},
                    {"strongest", ordered_json::array()},
                    {"dependence", ordered_json::array()}};
  for (auto const& [label, count] : labels_of(of.member))
    json["labels"][fmt::format("{}", label)] = count;
  for (l2r::feature_part const& part : of.found.features) {
    ordered_json one = feature_json(part.feature, of.words.names);
    one["moved"] = part.moved;
    json["features"].push_back(std::move(one));
  }
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
  for (l2r::partial_dependence const& one : of.found.dependence) {
    ordered_json feature = feature_json(one.feature, of.words.names);
    feature["items"] = ordered_json::array();
    for (l2r::bin_dependence const& bin : one.bins) {
      ordered_json item = item_json(of.words.ranges[bin.item], of.words.names);
      item["documents"] = bin.documents;
      item["score"] = bin.score;
      feature["items"].push_back(std::move(item));
    }
    json["dependence"].push_back(std::move(feature));
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

}  // namespace

std::string report(inspected_model const& of, std::size_t top, eval::table_format format) {
  page to(format);
  to.line(fmt::format("{}: {} bytes, SHA-256 {}", of.path, of.bytes, of.sha256));
  for (std::size_t k = 0; k < of.members.size(); ++k) {
    inspected_rules const& one = of.members[k];
    to.heading(of.members.size() == 1 ? std::string("Rules")
                                      : fmt::format("Member {}: rules", k + 1));
    to.line(settings_text(one));
    to.line(sizes_text(one));
    if (top > 0) {
      to.table(feature_table(one, top));
      to.table(rule_table(one));
      add_dependence(to, one, top);
    }
  }
  if (of.file) {
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
  for (inspected_rules const& one : of.members) json["members"].push_back(rules_json(one));
  if (of.file) json["permutation"] = file_json(*of.file);
  return json;
}

}  // namespace rulerank::apps
