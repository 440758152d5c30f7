#include "apps/shared/reports/explanation_report.hpp"

#include "apps/shared/reports/report_page.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::apps {

namespace {

using eval::column;
using eval::table_format;
using l2r::exact_integer;
using l2r::quotient;
using nlohmann::ordered_json;

/// A document and its rank among the scores that are explained.
struct explained_document {
  datasets::dataset const& query;
  std::size_t d = 0;
  std::size_t rank = 0;  // from 1
};

std::string digits(exact_integer const& value) {
  return value.str();
}

std::string rule_text(l2r::document_rule const& rule, rule_words const& words) {
  return words_of_rule(rule.antecedent, rule.label, words.ranges, words.names);
}

double confidence(l2r::document_rule const& rule) {
  return static_cast<double>(rule.support) / rule.documents;
}

/// The labels of an explanation, which the classes of its rules are counted by.
using label_list = std::vector<l2r::label_rules>;

/// `2: 37, 0: 4`, labels descending, those that do not occur left out.
std::string classes_text(l2r::document_rule const& rule, label_list const& labels) {
  std::string text;
  for (std::size_t k = 0; k < rule.classes.size(); ++k)
    if (rule.classes[k] > 0)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", labels[k].label, rule.classes[k]);
  return text;
}

template <class Document>
std::string document_text(Document const& document) {
  std::string text = fmt::format("{} (line {}", printable(document.query.docid(document.d)),
                                 datasets::place_of(document.query, document.d).line);
  if (std::int32_t const label = document.query.labels[document.d]; label != datasets::unlabelled)
    text += document.query.fractional_labels.empty()
                ? fmt::format(", label {}", label)
                : fmt::format(", label {}", document.query.fractional_labels[document.d]);
  return text + ")";
}

std::string rank_text(std::size_t rank, datasets::dataset const& query, double score) {
  return fmt::format("rank {} of {}, score {}", rank, query.size(), score);
}

std::string norm_text(rule_words const& words) {
  return fmt::format("Ranges are of values normalized within their query ({}).",
                     name_of(words.norm));
}

bool is_normalised(rule_words const& words) {
  return words.norm != datasets::normalization::none;
}

/// "3 rules move it up, by 0.5 in all": what a list is headed by.
std::string list_text(l2r::moving_rules const& of, std::string_view what,
                      exact_integer const& denominator) {
  double const moved = quotient(abs(of.moved), denominator);
  std::string text =
      fmt::format("{} rule{} {}, by {:.6f} in all", of.rules, of.rules == 1 ? "" : "s",
                  fmt::format(fmt::runtime(what), of.rules == 1 ? "s" : ""), moved);
  if (of.rules > of.most.size() && !of.most.empty()) text += "; those that do most";
  return text;
}

eval::table label_table(l2r::explanation const& why) {
  eval::table t{.title = "",
                .columns = {{"label"},
                            {"rules", column::style::fixed},
                            {"weight in %", column::style::fixed, 2}},
                .rows = {}};
  for (l2r::label_rules const& l : why.labels)
    t.rows.push_back({fmt::format("{}", l.label), static_cast<std::int64_t>(l.rules),
                      100 * quotient(l.weight, why.denominator)});
  return t;
}

void add_rules(page& to, l2r::moving_rules const& of, std::string const& title,
               exact_integer const& denominator, label_list const& labels, rule_words const& words,
               bool compared) {
  if (of.most.empty()) {
    to.line(title + ".");
    return;
  }
  eval::table t{.title = title + ":", .columns = {{"moves", column::style::fixed, 6}}, .rows = {}};
  if (compared)
    t.columns.push_back({"rule of"});
  else
    t.columns.push_back({"share"});
  for (char const* const name : {"support", "of", "confidence"})
    t.columns.push_back({name, column::style::fixed});
  t.columns.push_back({"labels"});
  t.columns.push_back({"rule"});
  for (l2r::document_rule const& rule : of.most)
    t.rows.push_back({quotient(rule.moved, denominator),
                      !compared      ? digits(rule.share)
                      : !rule.second ? "the first"
                      : rule.first   ? "both"
                                     : "the second",
                      std::int64_t{rule.support}, std::int64_t{rule.documents}, confidence(rule),
                      classes_text(rule, labels), rule_text(rule, words)});
  to.table(t);
}

/// The items that move furthest; `denominator` is that of rules.
void add_items(page& to, l2r::moving_items const& of, std::size_t top,
               exact_integer const& denominator, rule_words const& words) {
  if (top == 0 || of.items.empty()) return;
  eval::table t{
      .title = "What the rules move, split evenly among the items of each:",
      .columns = {{"moves", column::style::fixed, 6}, {"rules", column::style::fixed}, {"item"}},
      .rows = {}};
  for (l2r::item_part const& part : std::span(of.items).first(std::min(top, of.items.size())))
    t.rows.push_back({quotient(part.moved, denominator * of.split),
                      static_cast<std::int64_t>(part.rules),
                      words_of(words.ranges[part.item], words.names)});
  to.table(t);
}

/// The value that a document's line lists for a feature: a number, or null.
ordered_json feature_value_of(explained_document const& document, std::uint32_t feature) {
  for (datasets::feature_value const& v : document.query.document(document.d))
    if (v.feature == feature && !std::isnan(v.value)) return v.value;
  return nullptr;
}

ordered_json exact_json(exact_integer const& numerator, exact_integer const& denominator) {
  return {{"value", quotient(numerator, denominator)}, {"numerator", digits(numerator)}};
}

ordered_json items_json(l2r::moving_items const& of, exact_integer const& denominator,
                        rule_words const& words) {
  ordered_json items = ordered_json::array();
  for (l2r::item_part const& part : of.items) {
    ordered_json item = item_json(words.ranges[part.item], words.names);
    item["rules"] = part.rules;
    item["moved"] = exact_json(part.moved, denominator * of.split);
    items.push_back(std::move(item));
  }
  return {{"moved_denominator", digits(denominator * of.split)}, {"items", std::move(items)}};
}

ordered_json rule_json(l2r::document_rule const& rule, label_list const& labels,
                       rule_words const& words) {
  ordered_json antecedent = ordered_json::array();
  for (rules::item const x : rule.antecedent)
    antecedent.push_back(item_json(words.ranges[x], words.names));
  ordered_json classes = ordered_json::object();
  for (std::size_t k = 0; k < rule.classes.size(); ++k)
    classes[fmt::format("{}", labels[k].label)] = rule.classes[k];
  return {{"rule", rule_text(rule, words)},
          {"antecedent", antecedent},
          {"label", rule.label},
          {"support", rule.support},
          {"documents", rule.documents},
          {"confidence", confidence(rule)},
          {"labels", classes}};
}

ordered_json document_json(explained_document const& document, l2r::explanation const& why,
                           rule_words const& words) {
  datasets::dataset const& query = document.query;
  ordered_json json{{"docid", query.docid(document.d)},
                    {"line", datasets::place_of(query, document.d).line}};
  std::int32_t const label = query.labels[document.d];
  json["label"] = label == datasets::unlabelled ? ordered_json(nullptr) : ordered_json(label);
  json["rank"] = document.rank;
  json["score"] = why.score;
  json["numerator"] = digits(why.numerator);
  json["denominator"] = digits(why.denominator);
  json["rules"] = why.rules;
  json["itemsets"] = why.itemsets;
  json["labels"] = ordered_json::array();
  for (l2r::label_rules const& l : why.labels)
    json["labels"].push_back({{"label", l.label},
                              {"rules", l.rules},
                              {"weight", exact_json(l.weight, why.denominator)}});
  json["values"] = ordered_json::object();
  for (datasets::item_range const& range : words.ranges)  // a feature's follow each other
    json["values"][fmt::format("{}", range.feature)] = feature_value_of(document, range.feature);
  return json;
}

/// What both forms of JSON begin with; `why` of any of the documents.
ordered_json head_json(explained_document const& document, l2r::explanation const& why,
                       rule_words const& words) {
  return {{"kind", words.kind},
          {"qid", document.query.queries.front().qid},
          {"documents_of_query", document.query.size()},
          {"training_documents", why.training},
          {"mean_label", why.mean_label},
          {"norm", name_of(words.norm)}};
}

ordered_json list_json(l2r::moving_rules const& of, exact_integer const& denominator) {
  return {{"rules", of.rules},
          {"moved", exact_json(of.moved, denominator)},
          {"most", ordered_json::array()}};
}

/// The rules of one member that a document has.
void add_explanation(page& to, l2r::explanation const& why, rule_words const& words,
                     std::size_t top) {
  if (why.rules == 0) {
    to.line(fmt::format("No rule holds for it: it has the mean label of the {} training documents.",
                        why.training));
    return;
  }
  exact_integer const moved_in = why.denominator * why.training;
  to.line(
      fmt::format("{} of {}. Without any it would have {:.6f}, the mean label of "
                  "the {}; what the rules move adds up to {:+.6f}.",
                  counted(why.rules, "rule"), counted(why.itemsets, "itemset"), why.mean_label,
                  counted(why.training, "training document"),
                  quotient(why.up.moved + why.down.moved, moved_in)));
  to.line(fmt::format("The score is {} / {}. A rule's share is what it adds to the first number.",
                      digits(why.numerator), digits(why.denominator)));
  if (is_normalised(words)) to.line(norm_text(words));
  to.table(label_table(why));
  add_items(to, why.items, top, moved_in, words);
  for (auto const& [of, what] :
       {std::pair{&why.up, "move{} it up"}, {&why.down, "move{} it down"}}) {
    add_rules(to, *of, list_text(*of, what, moved_in), moved_in, why.labels, words, false);
  }
  if (why.level.rules > 0)
    add_rules(to, why.level,
              fmt::format("{} rule{} of the mean label move{} it neither way", why.level.rules,
                          why.level.rules == 1 ? "" : "s", why.level.rules == 1 ? "s" : ""),
              moved_in, why.labels, words, false);
}

/// The rules of one member that two documents of a query have.
void add_rules_of_both(page& to, datasets::dataset const& query,
                       l2r::member_comparison const& member, rule_words const& words,
                       std::size_t top) {
  auto const& why = std::get<l2r::comparison>(member.why);
  to.line(fmt::format("The first: {}, {}.", rank_text(member.first_rank, query, why.first.score),
                      counted(why.first.rules, "rule")));
  to.line(fmt::format("The second: {}, {}.", rank_text(member.second_rank, query, why.second.score),
                      counted(why.second.rules, "rule")));
  to.line(fmt::format("What the rules move adds up to the difference of the scores, {:+.6f}.",
                      quotient(why.up.moved + why.down.moved, why.denominator)));
  if (is_normalised(words)) to.line(norm_text(words));
  add_items(to, why.items, top, why.denominator, words);
  for (auto const& [of, what] :
       {std::pair{&why.up, "speak{} for the first"}, {&why.down, "speak{} for the second"}})
    add_rules(to, *of, list_text(*of, what, why.denominator), why.denominator, why.first.labels,
              words, true);
}

/// One document by one member.
ordered_json explanation_json(explained_document const& document, l2r::explanation const& why,
                              rule_words const& words) {
  exact_integer const moved_in = why.denominator * why.training;
  ordered_json json = head_json(document, why, words);
  json["document"] = document_json(document, why, words);
  json["moved_denominator"] = digits(moved_in);
  json["split"] = items_json(why.items, moved_in, words);
  for (auto const& [name, of] :
       {std::pair{"up", &why.up}, {"down", &why.down}, {"level", &why.level}}) {
    json[name] = list_json(*of, moved_in);
    for (l2r::document_rule const& rule : of->most) {
      ordered_json entry = rule_json(rule, why.labels, words);
      entry["share"] = exact_json(rule.share, why.denominator);
      entry["weight"] = exact_json(rule.weight, why.denominator);
      entry["moved"] = exact_json(rule.moved, moved_in);
      json[name]["most"].push_back(std::move(entry));
    }
  }
  return json;
}

/// Two documents by one member.
ordered_json comparison_json(explained_document const& first, explained_document const& second,
                             l2r::comparison const& why, rule_words const& words) {
  ordered_json json = head_json(first, why.first, words);
  json["first"] = document_json(first, why.first, words);
  json["second"] = document_json(second, why.second, words);
  json["moved_denominator"] = digits(why.denominator);
  json["split"] = items_json(why.items, why.denominator, words);
  for (auto const& [name, of] : {std::pair{"for_first", &why.up}, {"for_second", &why.down}}) {
    json[name] = list_json(*of, why.denominator);
    for (l2r::document_rule const& rule : of->most) {
      ordered_json entry = rule_json(rule, why.first.labels, words);
      entry["of_first"] = rule.first;
      entry["of_second"] = rule.second;
      entry["moved"] = exact_json(rule.moved, why.denominator);
      json[name]["most"].push_back(std::move(entry));
    }
  }
  return json;
}

/// What a document is called and where it stands, without its rules.
ordered_json standing_json(query_document const& document, std::size_t rank, double score) {
  datasets::dataset const& query = document.query;
  std::int32_t const label = query.labels[document.d];
  return {{"docid", query.docid(document.d)},
          {"line", datasets::place_of(query, document.d).line},
          {"label", label == datasets::unlabelled ? ordered_json(nullptr) : ordered_json(label)},
          {"rank", rank},
          {"score", score}};
}

std::string item_text(l2r::score_term const& term, rule_words const& words) {
  return term.item ? words_of(words.ranges[*term.item], words.names)
                   : fmt::format("{} without an item", feature_text(term.feature, words.names));
}

/// Positions 0 to `size` - 1, those with the largest size of `value` first; at most `top`.
template <class Value>
std::vector<std::size_t> largest(std::size_t size, std::size_t top, Value const& value) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::abs(value(a)) > std::abs(value(b)); });
  order.resize(std::min(size, top));
  return order;
}

/// Whether a sum is of points of items; otherwise of weights.
bool has_items(rule_words const& words) {
  return !words.ranges.empty();
}

std::string sum_text(std::size_t terms, rule_words const& words) {
  return has_items(words)
             ? fmt::format("The score is the sum of the points of its items in {} features.", terms)
             : fmt::format(
                   "The score is the sum of {} features' weights times z-scores: by how "
                   "many deviations a value lies above the mean of its query.",
                   terms);
}

/// What the features of a document add: points or weights.
void add_sum(page& to, l2r::sum_explanation const& why, rule_words const& words, std::size_t top) {
  constexpr auto fixed = column::style::fixed;
  to.line(sum_text(why.terms.size(), words));
  if (has_items(words) && is_normalised(words)) to.line(norm_text(words));
  if (top == 0) return;
  eval::table t{
      .title = "Those that add most, up or down:", .columns = {{"adds", fixed, 6}}, .rows = {}};
  if (!has_items(words)) {
    t.columns.push_back({"weight", fixed, 6});
    t.columns.push_back({"z-score", fixed, 3});
  }
  t.columns.push_back({has_items(words) ? "item" : "feature"});
  for (std::size_t const k :
       largest(why.terms.size(), top, [&](std::size_t i) { return why.terms[i].adds; })) {
    l2r::score_term const& term = why.terms[k];
    if (has_items(words))
      t.rows.push_back({term.adds, item_text(term, words)});
    else
      t.rows.push_back(
          {term.adds, term.weight, term.z,
           feature_text(term.feature, words.names) + (term.missing ? " missing" : "")});
  }
  to.table(t);
}

/// Where two documents' sums differ.
void add_sums(page& to, l2r::sum_comparison const& why, rule_words const& words, std::size_t top) {
  constexpr auto fixed = column::style::fixed;
  to.line(sum_text(why.first.terms.size(), words));
  if (has_items(words) && is_normalised(words)) to.line(norm_text(words));
  if (top == 0) return;
  eval::table t{
      .title = "Where the two differ most:",
      .columns = {{"difference", fixed, 6}, {"the first", fixed, 6}, {"the second", fixed, 6}},
      .rows = {}};
  if (has_items(words)) {
    t.columns.push_back({"item of the first"});
    t.columns.push_back({"item of the second"});
  } else {
    t.columns.push_back({"z-score of the first", fixed, 3});
    t.columns.push_back({"of the second", fixed, 3});
    t.columns.push_back({"feature"});
  }
  auto const difference = [&](std::size_t i) {
    return why.first.terms[i].adds - why.second.terms[i].adds;
  };
  for (std::size_t const k : largest(why.first.terms.size(), top, difference)) {
    l2r::score_term const& a = why.first.terms[k];
    l2r::score_term const& b = why.second.terms[k];
    if (has_items(words))
      t.rows.push_back({difference(k), a.adds, b.adds, item_text(a, words), item_text(b, words)});
    else
      t.rows.push_back(
          {difference(k), a.adds, b.adds, a.z, b.z, feature_text(a.feature, words.names)});
  }
  to.table(t);
}

/// The terms of a sum, for programs.
ordered_json terms_json(l2r::sum_explanation const& why, rule_words const& words) {
  ordered_json terms = ordered_json::array();
  for (l2r::score_term const& term : why.terms) {
    ordered_json& entry =
        terms.emplace_back(term.item ? item_json(words.ranges[*term.item], words.names)
                                     : feature_json(term.feature, words.names));
    if (!has_items(words)) {
      entry["missing"] = term.missing;
      entry["z"] = term.z;
      entry["weight"] = term.weight;
    }
    entry["adds"] = term.adds;
  }
  return terms;
}

/// One document by one member.
void add_member(page& to, l2r::member_explanation const& member, rule_words const& words,
                std::size_t top) {
  if (auto const* const sum = std::get_if<l2r::sum_explanation>(&member.why))
    return add_sum(to, *sum, words, top);
  add_explanation(to, std::get<l2r::explanation>(member.why), words, top);
}

/// Two documents by one member.
void add_comparison(page& to, datasets::dataset const& query, l2r::member_comparison const& member,
                    rule_words const& words, std::size_t top) {
  auto const* const sums = std::get_if<l2r::sum_comparison>(&member.why);
  if (sums == nullptr) return add_rules_of_both(to, query, member, words, top);
  to.line(fmt::format("The first: {}.", rank_text(member.first_rank, query, member.first_score)));
  to.line(
      fmt::format("The second: {}.", rank_text(member.second_rank, query, member.second_score)));
  add_sums(to, *sums, words, top);
}

/// How the members' parts make the score.
eval::table parts_table(l2r::model_explanation const& why) {
  constexpr auto fixed = column::style::fixed;
  eval::table t{.title = "",
                .columns = {{"member", fixed},
                            {"part", fixed, 6},
                            {"score", fixed, 6},
                            {"rank", fixed},
                            {"mean", fixed, 6},
                            {"deviation", fixed, 6}},
                .rows = {}};
  for (l2r::member_explanation const& member : why.members)
    t.rows.push_back({static_cast<std::int64_t>(t.rows.size() + 1), member.part, member.score,
                      static_cast<std::int64_t>(member.rank), member.mean, member.deviation});
  return t;
}

eval::table parts_table(l2r::model_comparison const& why) {
  constexpr auto fixed = column::style::fixed;
  eval::table t{.title = "",
                .columns = {{"member", fixed},
                            {"part of the first", fixed, 6},
                            {"of the second", fixed, 6},
                            {"difference", fixed, 6}},
                .rows = {}};
  for (l2r::member_comparison const& member : why.members)
    t.rows.push_back({static_cast<std::int64_t>(t.rows.size() + 1), member.first_part,
                      member.second_part, member.first_part - member.second_part});
  return t;
}

std::string members_text(std::size_t members) {
  return fmt::format(
      "The score is the sum of {} members' parts: a member's part is its score less the mean of "
      "its "
      "scores over the query's documents, over their standard deviation, over {}.",
      members, members);
}

}  // namespace

std::string report(query_document const& document, l2r::model_explanation const& why,
                   std::span<rule_words const> words, std::size_t top, table_format format) {
  datasets::dataset const& query = document.query;
  page to(format);
  to.heading(fmt::format("query {}, document {}: {}", query.queries.front().qid,
                         document_text(document), rank_text(why.rank, query, why.score)));
  if (why.members.size() == 1) {
    add_member(to, why.members.front(), words.front(), top);
    return to.take();
  }
  to.line(members_text(why.members.size()));
  to.table(parts_table(why));
  for (std::size_t k = 0; k < why.members.size(); ++k) {
    l2r::member_explanation const& member = why.members[k];
    to.heading(fmt::format("Member {}, part {:+.6f}: {}", k + 1, member.part,
                           rank_text(member.rank, query, member.score)));
    add_member(to, member, words[k], top);
  }
  return to.take();
}

std::string report(query_document const& first, query_document const& second,
                   l2r::model_comparison const& why, std::span<rule_words const> words,
                   std::size_t top, table_format format) {
  datasets::dataset const& query = first.query;
  page to(format);
  to.heading(fmt::format("query {}, the first document {} and the second {}",
                         query.queries.front().qid, document_text(first), document_text(second)));
  if (why.members.size() == 1) {
    add_comparison(to, query, why.members.front(), words.front(), top);
    return to.take();
  }
  to.line(fmt::format("The first: {}.", rank_text(why.first_rank, query, why.first_score)));
  to.line(fmt::format("The second: {}.", rank_text(why.second_rank, query, why.second_score)));
  to.line(members_text(why.members.size()));
  to.table(parts_table(why));
  for (std::size_t k = 0; k < why.members.size(); ++k) {
    l2r::member_comparison const& member = why.members[k];
    to.heading(fmt::format("Member {}, difference of the parts {:+.6f}", k + 1,
                           member.first_part - member.second_part));
    add_comparison(to, query, member, words[k], top);
  }
  return to.take();
}

ordered_json report_json(query_document const& document, l2r::model_explanation const& why,
                         std::span<rule_words const> words) {
  auto const by_member = [&](std::size_t k) -> ordered_json {
    l2r::member_explanation const& member = why.members[k];
    if (auto const* const sum = std::get_if<l2r::sum_explanation>(&member.why)) {
      ordered_json json{{"kind", words[k].kind},
                        {"qid", document.query.queries.front().qid},
                        {"documents_of_query", document.query.size()},
                        {"norm", name_of(words[k].norm)},
                        {"document", standing_json(document, member.rank, member.score)}};
      json["document"]["terms"] = terms_json(*sum, words[k]);
      return json;
    }
    return explanation_json({document.query, document.d, member.rank},
                            std::get<l2r::explanation>(member.why), words[k]);
  };
  if (why.members.size() == 1) return by_member(0);
  ordered_json json{{"qid", document.query.queries.front().qid},
                    {"documents_of_query", document.query.size()},
                    {"document", standing_json(document, why.rank, why.score)},
                    {"members", ordered_json::array()}};
  for (std::size_t k = 0; k < why.members.size(); ++k) {
    l2r::member_explanation const& member = why.members[k];
    ordered_json entry{
        {"part", member.part}, {"mean", member.mean}, {"deviation", member.deviation}};
    entry.update(by_member(k));
    json["members"].push_back(std::move(entry));
  }
  return json;
}

ordered_json report_json(query_document const& first, query_document const& second,
                         l2r::model_comparison const& why, std::span<rule_words const> words) {
  auto const by_member = [&](std::size_t k) -> ordered_json {
    l2r::member_comparison const& member = why.members[k];
    if (auto const* const sums = std::get_if<l2r::sum_comparison>(&member.why)) {
      ordered_json json{{"kind", words[k].kind},
                        {"qid", first.query.queries.front().qid},
                        {"documents_of_query", first.query.size()},
                        {"norm", name_of(words[k].norm)},
                        {"first", standing_json(first, member.first_rank, member.first_score)},
                        {"second", standing_json(second, member.second_rank, member.second_score)}};
      json["first"]["terms"] = terms_json(sums->first, words[k]);
      json["second"]["terms"] = terms_json(sums->second, words[k]);
      return json;
    }
    return comparison_json({first.query, first.d, member.first_rank},
                           {second.query, second.d, member.second_rank},
                           std::get<l2r::comparison>(member.why), words[k]);
  };
  if (why.members.size() == 1) return by_member(0);
  ordered_json json{{"qid", first.query.queries.front().qid},
                    {"documents_of_query", first.query.size()},
                    {"first", standing_json(first, why.first_rank, why.first_score)},
                    {"second", standing_json(second, why.second_rank, why.second_score)},
                    {"members", ordered_json::array()}};
  for (std::size_t k = 0; k < why.members.size(); ++k) {
    l2r::member_comparison const& member = why.members[k];
    ordered_json entry{{"first_part", member.first_part},
                       {"second_part", member.second_part},
                       {"mean", member.mean},
                       {"deviation", member.deviation}};
    entry.update(by_member(k));
    json["members"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace rulerank::apps
