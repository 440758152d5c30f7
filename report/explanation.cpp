#include "core/error.hpp"
#include "report/model_words.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <variant>

#include <fmt/format.h>

namespace rulerank::inline v0::report {

namespace {

using l2r::exact_integer;
using l2r::quotient;
using nlohmann::ordered_json;

ordered_json exact_json(exact_integer const& numerator, exact_integer const& denominator) {
  return {{"value", quotient(numerator, denominator)}, {"numerator", numerator.str()}};
}

/// An explanation's labels, which index the class counts of its rules.
using label_list = std::vector<l2r::label_rules>;

/// For example `2: 37, 0: 4`: labels descending, without zero counts.
std::string classes_text(l2r::document_rule const& rule, label_list const& labels) {
  std::string text;
  for (std::size_t k = 0; k < rule.classes.size(); ++k)
    if (rule.classes[k] > 0)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", labels[k].label, rule.classes[k]);
  return text;
}

void add_norm(member_words const& words, blocks& to) {
  if (words.norm != datasets::normalization::none)
    say(to, "Ranges are of values normalized within their query ({}).", name_of(words.norm));
}

/// The numbers that are shown of a member. Their unit is that of the model's score, and `base` and
/// the contributions of the features sum to `total`.
struct displayed_member {
  bool several = false;  ///< the model has several members
  double unit = 1;       ///< the model's score rises by this if the member's own score rises by 1
  int digits = 6;
  std::int64_t base = 0, total = 0;  ///< in units of the last digit
  std::vector<l2r::feature_effect> const& features;
  std::vector<std::int64_t> const& adds;  ///< [features] in units of the last digit

  double number(std::int64_t units) const {
    return static_cast<double>(units) / std::pow(10, digits);
  }
  /// The contribution of a feature, or of a pair of features.
  std::int64_t adds_of(std::uint32_t feature, std::optional<std::uint32_t> partner = {}) const {
    auto const at = std::ranges::find_if(features, [&](l2r::feature_effect const& one) {
      return one.feature == feature && one.partner == partner;
    });
    return adds[static_cast<std::size_t>(at - features.begin())];
  }
  /// The name of `total`.
  char const* total_name() const { return several ? "(part)" : "(score)"; }
};

/// The rise of the score of `members` members if a member's own score rises by 1.
double unit_of(double deviation, std::size_t members) {
  if (members == 1) return 1;
  return deviation > 0 ? 1 / (deviation * static_cast<double>(members)) : 0;
}

/// Member k's numbers.
displayed_member displayed(l2r::score_effects const& of, l2r::shown_effects const& shown,
                           std::size_t k, int digits, double deviation) {
  std::size_t const members = shown.by_member.size();
  std::vector<std::int64_t> const& adds = shown.by_member[k];
  std::int64_t const base = shown.base_by_member[k];
  return {members > 1,
          unit_of(deviation, members),
          digits,
          base,
          std::accumulate(adds.begin(), adds.end(), base),
          of.features,
          adds};
}

/// One member's rules for a document or for the difference of two, as blocks and as JSON.
struct moved_rules {
  member_words const& words;
  exact_integer denominator;  ///< unit of the effects
  label_list const& labels;
  bool compared = false;  ///< for two documents
  bool shares = false;    ///< list the rules' shares
  double unit = 1;        ///< displayed_member::unit

  double moves(exact_integer const& moved) const { return quotient(moved, denominator) * unit; }

  /// Adds a list of rules that move the score by `total` millionths together: a heading such as "3
  /// rules raise the score by 0.5 in total", then the strongest rules.
  void add(l2r::moving_rules const& of, std::int64_t total, std::string_view verb,
           std::string_view what, blocks& to) const {
    if (compared && of.rules == 0) return;
    std::string const title =
        fmt::format("{} {}{} {} by {:.6f} in total{}", counted(of.rules, "rule"), verb,
                    of.rules == 1 ? "s" : "", what, static_cast<double>(std::abs(total)) / 1e6,
                    of.rules > of.most.size() && !of.most.empty() ? "; the strongest" : "");
    add(of, total, title, to);
  }

  void add(l2r::moving_rules const& of, std::int64_t total, std::string const& title,
           blocks& to) const {
    if (of.most.empty()) return say(to, "{}.", title);
    eval::table t{title + ":", {{"moves", fixed, 6}}};
    bool const second_column = compared || shares;
    if (second_column) t.columns.push_back({compared ? "rule of" : "share"});
    t.columns.insert(
        t.columns.end(),
        {{"support", fixed}, {"of", fixed}, {"confidence", fixed}, {"labels"}, {"rule"}});
    std::vector<double> moved;
    exact_integer rest = of.moved;
    for (l2r::document_rule const& rule : of.most) {
      moved.push_back(moves(rule.moved));
      rest -= rule.moved;
    }
    std::size_t const others = of.rules - of.most.size();
    if (others > 0) moved.push_back(moves(rest));
    std::vector<std::int64_t> const millionths = l2r::rounded_to_sum(moved, 1e-6, total);
    for (l2r::document_rule const& rule : of.most) {
      std::vector<eval::cell> row{static_cast<double>(millionths[t.rows.size()]) / 1e6};
      if (second_column)
        row.emplace_back(!compared      ? rule.share.str()
                         : !rule.second ? "the first"
                         : rule.first   ? "both"
                                        : "the second");
      row.insert(row.end(), {rule.support, rule.documents, confidence(rule),
                             classes_text(rule, labels), rule_text(rule, words)});
      t.rows.push_back(std::move(row));
    }
    if (others > 0) {
      std::vector<eval::cell>& row = t.rows.emplace_back(t.columns.size());
      row.front() = static_cast<double>(millionths.back()) / 1e6;
      row.back() = fmt::format("({})", counted(others, "other rule"));
    }
    to.push_back({std::move(t)});
  }

  /// Adds the items with the largest effects, then rows that complete the sum. `millionths`:
  /// [items] the displayed effects.
  void add(l2r::moving_items const& of, std::vector<std::int64_t> const& millionths,
           displayed_member const& member, std::size_t top, blocks& to) const {
    if (top == 0 || of.items.empty()) return;
    eval::table t{"Influence of items (each rule's influence split evenly among its items):",
                  {{"moves", fixed, 6}, {"rules", fixed}, {"item"}}};
    auto const add_row = [&](std::int64_t moved, eval::cell rules, std::string item) {
      t.rows.push_back({static_cast<double>(moved) / 1e6, std::move(rules), std::move(item)});
    };
    std::size_t const listed = std::min(top, of.items.size());
    for (std::size_t i = 0; i < listed; ++i)
      add_row(millionths[i], of.items[i].rules, item_text(of.items[i].item, words));
    auto const others = std::span(millionths).subspan(listed);
    if (!others.empty())
      add_row(std::accumulate(others.begin(), others.end(), std::int64_t{0}), {},
              fmt::format("({})", counted(others.size(), "other item")));
    if (member.base != 0) add_row(member.base, {}, "(base)");
    add_row(member.total, {}, compared ? "(difference)" : member.total_name());
    to.push_back({std::move(t)});
  }

  ordered_json to_json(l2r::moving_items const& of) const {
    ordered_json items = ordered_json::array();
    for (l2r::item_part const& part : of.items) {
      ordered_json item = item_json(words.ranges[part.item], words.names);
      item["rules"] = part.rules;
      item["moved"] = exact_json(part.moved, denominator * of.split);
      items.push_back(std::move(item));
    }
    return {{"moved_denominator", (denominator * of.split).str()}, {"items", std::move(items)}};
  }

  /// `add_part` adds a rule's relation to the document or documents.
  template <class AddPart>
  ordered_json to_json(l2r::moving_rules const& of, AddPart const& add_part) const {
    ordered_json most = ordered_json::array();
    for (l2r::document_rule const& rule : of.most) {
      ordered_json entry = rule_json(rule, words);
      entry["support"] = rule.support;
      entry["documents"] = rule.documents;
      entry["confidence"] = confidence(rule);
      entry["labels"] = ordered_json::object();
      for (std::size_t k = 0; k < rule.classes.size(); ++k)
        entry["labels"][fmt::format("{}", labels[k].label)] = rule.classes[k];
      add_part(rule, entry);
      entry["moved"] = exact_json(rule.moved, denominator);
      most.push_back(std::move(entry));
    }
    return {{"rules", of.rules}, {"moved", exact_json(of.moved, denominator)}, {"most", most}};
  }
};

/// The effects of all rules that raise the score and of all that lower it, in millionths that sum
/// to `total`.
std::vector<std::int64_t> moved_each_way(moved_rules const& rules, l2r::moving_rules const& up,
                                         l2r::moving_rules const& down, std::int64_t total) {
  return l2r::rounded_to_sum(std::array{rules.moves(up.moved), rules.moves(down.moved)}, 1e-6,
                             total);
}

/// Adds a member's rules for a document.
void add_why(l2r::explanation const& why, displayed_member const& member, member_words const& words,
             std::size_t top, blocks& to) {
  if (why.rules == 0)
    return say(to,
               "No rule holds for the document, so its {} is the mean label of the {} training "
               "documents.",
               member.several ? "own score" : "score", why.training);
  moved_rules const rules{
      words, why.denominator * why.training, why.labels, false, !member.several, member.unit};
  say(to,
      "{} of {} hold. Without rules the {} would be {:.6f}, {}the mean label of the {}; the rules "
      "move it by {:+.6f}.",
      counted(why.rules, "rule"), counted(why.itemsets, "itemset"),
      member.several ? "part" : "score", member.number(member.base), member.several ? "from " : "",
      counted(why.training, "training document"), member.number(member.total - member.base));
  if (rules.shares)
    say(to, "The score is {} / {}. A rule's share is its part of the first number.",
        why.numerator.str(), why.denominator.str());
  add_norm(words, to);
  eval::table t{{}, {{"label"}, {"rules", fixed}, {"weight in %", fixed, 2}}};
  for (l2r::label_rules const& l : why.labels)
    t.rows.push_back(
        {fmt::format("{}", l.label), l.rules, 100 * quotient(l.weight, why.denominator)});
  to.push_back({std::move(t)});
  std::vector<std::int64_t> of_items;
  for (l2r::item_part const& part : why.items.items)
    of_items.push_back(member.adds_of(words.ranges[part.item].feature));
  rules.add(why.items, of_items, member, top, to);
  auto const moved = moved_each_way(rules, why.up, why.down, member.total - member.base);
  rules.add(why.up, moved[0], "raise", "the score", to);
  rules.add(why.down, moved[1], "lower", "the score", to);
  if (why.level.rules > 0)
    rules.add(why.level, 0,
              fmt::format("{} with the mean label leave{} the score unchanged",
                          counted(why.level.rules, "rule"), why.level.rules == 1 ? "s" : ""),
              to);
}

/// Adds a member's rules for two documents of a query.
void add_why(l2r::comparison const& why, displayed_member const& first,
             displayed_member const& second, member_words const& words, std::size_t top,
             blocks& to) {
  moved_rules const rules{words, why.denominator, why.first.labels, true, false, first.unit};
  displayed_member difference = first;
  difference.base = 0;
  difference.total =
      first.several ? first.total - second.total
                    : std::llround(1e6 * quotient(why.up.moved + why.down.moved, why.denominator));
  say(to, "The rules' influence adds up to the difference of the {}, {:+.6f}.",
      first.several ? "parts" : "scores", difference.number(difference.total));
  add_norm(words, to);
  std::vector<double> of_items;
  for (l2r::item_part const& part : why.items.items)
    of_items.push_back(quotient(part.moved, why.denominator * why.items.split) * first.unit);
  rules.add(why.items, l2r::rounded_to_sum(of_items, 1e-6, difference.total), difference, top, to);
  auto const moved = moved_each_way(rules, why.up, why.down, difference.total);
  rules.add(why.up, moved[0], "favour", "the first", to);
  rules.add(why.down, moved[1], "favour", "the second", to);
}

std::string item_text(l2r::score_term const& term, member_words const& words) {
  if (term.partner) {
    l2r::score_term first = term, second = term;
    first.partner.reset();
    second.partner.reset();
    second.feature = *term.partner;
    second.item = term.partner_item;
    return fmt::format("{} and {}", item_text(first, words), item_text(second, words));
  }
  return term.item ? item_text(*term.item, words)
                   : fmt::format("{} without an item", feature_text(term.feature, words.names));
}

/// Whether a sum consists of points of items; otherwise of weights.
bool has_items(member_words const& words) {
  return !words.ranges.empty();
}

/// Each feature's largest points on a card.
std::vector<double> most_points(l2r::scorecard const& card) {
  std::vector<double> most;
  for (std::size_t f = 0; f < card.features.size(); ++f)
    most.push_back(l2r::value_of_points(*std::max_element(
        card.points.begin() + card.item_begin[f], card.points.begin() + card.item_begin[f + 1])));
  return most;
}

/// Adds the training documents with similar scores, if the card stores them.
void add_total(double score, l2r::scorecard_member const& card, blocks& to) {
  if (card.totals.empty()) return;
  std::uint64_t all = 0;
  for (l2r::card_total const& one : card.totals) all += one.documents;
  auto next = std::ranges::find_if(card.totals, [&](l2r::card_total const& one) {
    return score < static_cast<double>(one.from);
  });
  if (next == card.totals.begin()) ++next;
  l2r::card_total const& own = *std::prev(next);
  std::string const range = next == card.totals.end() ? fmt::format("of {} or more", own.from)
                            : next == std::next(card.totals.begin())
                                ? fmt::format("below {}", next->from)
                                : fmt::format("of {} to {}", own.from, next->from - 1);
  say(to, "{1:.1f} % of {0} have scores {2}; their mean label is {3:.3f}.",
      counted(all, "labelled training document"),
      100 * static_cast<double>(own.documents) / static_cast<double>(all), range, own.mean_label);
}

bool is_joint(member_words const& words) {
  return words.kind == "joint";
}

void add_sum(l2r::sum_explanation const& of, displayed_member const& member,
             member_words const& words, blocks& to) {
  char const* const score = !member.several    ? "The score is the sum"
                            : member.base == 0 ? "The part is the sum"
                                               : "The part is the base plus the sum";
  if (words.card != nullptr) {
    say(to, "{} of points: one bin of each of {}.", score, counted(of.terms.size(), "feature"));
    return add_norm(words, to);
  }
  if (!has_items(words))
    return say(to,
               "{} over {} features of weight times z-score (the number of standard deviations "
               "above the mean of {}).",
               score, of.terms.size(),
               words.scale == l2r::linear_scale::query ? "the query" : "all training documents");
  if (is_joint(words))
    return say(to,
               "{} of {}: for each feature, the points of its item plus weight times z-score (the "
               "number of standard deviations above the query's mean).",
               score, counted(of.terms.size(), "term"));
  say(to, "{} of the points of its items in {}.", score, counted(of.terms.size(), "feature"));
  add_norm(words, to);
}

/// The contribution of each term of a sum, in units of the last digit.
std::vector<std::int64_t> adds_of(l2r::sum_explanation const& why, displayed_member const& member) {
  std::vector<std::int64_t> adds;
  for (l2r::score_term const& term : why.terms)
    adds.push_back(member.adds_of(term.feature, term.partner));
  return adds;
}

/// One of a table's first columns: the numbers of all terms and the base, in units of the last
/// digit.
struct sum_column {
  std::vector<std::int64_t> terms;
  std::int64_t base = 0;
};

/// Adds rows for the base, for the terms that a table omits, and for the total, so that the
/// displayed numbers add up. `shown`: the displayed terms. Column `name` holds the rows' names.
void add_sums(std::vector<sum_column> const& columns, std::vector<std::size_t> const& shown,
              std::size_t name, std::string_view term, char const* total, eval::table& t) {
  auto const add = [&](std::string what, auto const& sum_of) {
    std::vector<eval::cell>& row = t.rows.emplace_back(t.columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i)
      row[i] = static_cast<double>(sum_of(columns[i])) / std::pow(10, t.columns[i].digits);
    row[name] = std::move(what);
  };
  auto const sum = [](sum_column const& of) {
    return std::accumulate(of.terms.begin(), of.terms.end(), std::int64_t{0});
  };
  std::size_t const others = columns.front().terms.size() - shown.size();
  if (others > 0)
    add(fmt::format("({})", counted(others, term)), [&](sum_column const& of) {
      return std::accumulate(shown.begin(), shown.end(), sum(of),
                             [&](std::int64_t left, std::size_t k) { return left - of.terms[k]; });
    });
  if (columns.back().base != 0) add("(base)", [](sum_column const& of) { return of.base; });
  add(total, [&](sum_column const& of) { return sum(of) + of.base; });
}

/// The noun for the terms that a table omits.
std::string_view other_terms(member_words const& words) {
  return is_joint(words) ? "other term" : "other feature";
}

/// Adds the points of a document on a card.
void add_points(l2r::sum_explanation const& why, displayed_member const& member,
                member_words const& words, std::size_t top, blocks& to) {
  add_total(why.score, *words.card, to);
  if (top == 0) return;
  int const digits = member.digits;
  eval::table t{"Points, the most first:",
                {{"points", fixed, digits}, {"of", fixed, digits}, {"bin"}}};
  std::vector<double> const most = most_points(words.card->card);
  double const unit = std::pow(10, -digits);
  double const of_all = std::accumulate(most.begin(), most.end(), 0.0);
  std::vector<sum_column> const columns{
      {adds_of(why, member), member.base},
      {l2r::rounded_to_sum(most, unit, std::llround(of_all / unit))}};
  std::vector<std::size_t> const shown =
      largest(most.size(), top, [&](std::size_t k) { return why.terms[k].adds; });
  for (std::size_t const k : shown)
    t.rows.push_back({member.number(columns[0].terms[k]), most[k], item_text(why.terms[k], words)});
  add_sums(columns, shown, 2, "other feature", member.total_name(), t);
  to.push_back({std::move(t)});
}

/// Adds the contributions of a document's features: points or weights.
void add_why(l2r::sum_explanation const& why, displayed_member const& member,
             member_words const& words, std::size_t top, blocks& to) {
  add_sum(why, member, words, to);
  if (words.card != nullptr && !member.several) return add_points(why, member, words, top, to);
  if (top == 0) return;
  eval::table t{"The largest terms, positive or negative:", {{"adds", fixed, member.digits}}};
  if (is_joint(words))
    t.columns.insert(t.columns.end(),
                     {{"points", fixed, 6}, {"weight", fixed, 6}, {"z-score", fixed, 3}});
  if (has_items(words))
    t.columns.push_back({"item"});
  else
    t.columns.insert(t.columns.end(), {{"weight", fixed, 6}, {"z-score", fixed, 3}, {"feature"}});
  sum_column const adds{adds_of(why, member), member.base};
  std::vector<std::size_t> const shown =
      largest(why.terms.size(), top, [&](std::size_t k) { return why.terms[k].adds; });
  for (std::size_t const k : shown) {
    l2r::score_term const& term = why.terms[k];
    double const added = member.number(adds.terms[k]), weight = term.weight * member.unit;
    if (is_joint(words))
      t.rows.push_back({added, term.points * member.unit,
                        term.partner ? eval::cell() : eval::cell(weight),
                        term.partner ? eval::cell() : eval::cell(term.z), item_text(term, words)});
    else if (has_items(words))
      t.rows.push_back({added, item_text(term, words)});
    else
      t.rows.push_back(
          {added, weight, term.z,
           feature_text(term.feature, words.names) + (term.missing ? " missing" : "")});
  }
  add_sums({adds}, shown, t.columns.size() - 1, other_terms(words), member.total_name(), t);
  to.push_back({std::move(t)});
}

/// Adds the differences between two documents' sums.
void add_why(l2r::sum_comparison const& why, displayed_member const& of_first,
             displayed_member const& of_second, member_words const& words, std::size_t top,
             blocks& to) {
  add_sum(why.first, of_first, words, to);
  if (top == 0) return;
  int const digits = of_first.digits;
  eval::table t{
      "The largest differences between the two:",
      {{"difference", fixed, digits}, {"the first", fixed, digits}, {"the second", fixed, digits}}};
  if (has_items(words))
    t.columns.insert(t.columns.end(), {{"item of the first"}, {"item of the second"}});
  else
    t.columns.insert(
        t.columns.end(),
        {{"z-score of the first", fixed, 3}, {"of the second", fixed, 3}, {"feature"}});
  sum_column const a{adds_of(why.first, of_first), of_first.base};
  sum_column const b{adds_of(why.second, of_second), of_second.base};
  sum_column differences;
  std::ranges::transform(a.terms, b.terms, std::back_inserter(differences.terms), std::minus());
  std::vector<std::size_t> const shown = largest(a.terms.size(), top, [&](std::size_t k) {
    return why.first.terms[k].adds - why.second.terms[k].adds;
  });
  for (std::size_t const k : shown) {
    l2r::score_term const& first = why.first.terms[k];
    l2r::score_term const& second = why.second.terms[k];
    std::vector<eval::cell> row{of_first.number(differences.terms[k]), of_first.number(a.terms[k]),
                                of_first.number(b.terms[k])};
    if (has_items(words))
      row.insert(row.end(), {item_text(first, words), item_text(second, words)});
    else
      row.insert(row.end(), {first.z, second.z, feature_text(first.feature, words.names)});
    t.rows.push_back(std::move(row));
  }
  add_sums({differences, a, b}, shown, has_items(words) ? 3 : 5, other_terms(words),
           of_first.total_name(), t);
  to.push_back({std::move(t)});
}

/// Adds the ranks of two documents and, for rules, their numbers of rules.
template <class Why>
void add_ranks(datasets::dataset const& query, l2r::member_comparison const& member, Why const& why,
               bool several, blocks& to) {
  auto const rank = [&](std::size_t at, double score) {
    return several ? fmt::format("rank {} of {} by this member", at, query.size())
                   : rank_text(at, query, score);
  };
  auto const rules = [](auto const& of) {
    if constexpr (requires { of.rules; })
      return ", " + counted(of.rules, "rule");
    else
      return std::string();
  };
  say(to, "The first: {}{}.", rank(member.first_rank, member.first_score), rules(why.first));
  say(to, "The second: {}{}.", rank(member.second_rank, member.second_score), rules(why.second));
}

void say_members(std::size_t members, blocks& to) {
  say(to,
      "The score is the sum of {} members' parts. A member's part is the z-score of its own score "
      "within the query, divided by {}. If its own score rises by 1, the score rises by `unit`. "
      "All "
      "other tables are in the unit of the score, and their numbers add up.",
      members, members);
}

/// Decimals of a document's tables: none if all effects of a sum are whole, as on a card.
int digits_of(std::span<member_words const> words, l2r::score_effects const& of) {
  return words.size() > 1 || words.front().kind == "rules" ? 6 : l2r::digits_of(std::span(&of, 1));
}

/// The value that a document's line lists for a feature: a number or null.
ordered_json feature_value_of(query_document const& document, std::uint32_t feature) {
  for (datasets::feature_value const& v : document.query.document(document.d))
    if (v.feature == feature && !std::isnan(v.value)) return v.value;
  return nullptr;
}

/// Adds a document's score by rules to the JSON.
void add_terms(query_document const& document, l2r::explanation const& why,
               member_words const& words, ordered_json& json) {
  json["numerator"] = why.numerator.str();
  json["denominator"] = why.denominator.str();
  json["rules"] = why.rules;
  json["itemsets"] = why.itemsets;
  json["labels"] = ordered_json::array();
  for (l2r::label_rules const& l : why.labels)
    json["labels"].push_back({{"label", l.label},
                              {"rules", l.rules},
                              {"weight", exact_json(l.weight, why.denominator)}});
  json["values"] = ordered_json::object();
  for (datasets::item_range const& range : words.ranges)  // ranges of a feature are contiguous
    json["values"][fmt::format("{}", range.feature)] = feature_value_of(document, range.feature);
}

/// Adds the terms of a sum to the JSON.
void add_terms(query_document const& /*document*/, l2r::sum_explanation const& why,
               member_words const& words, ordered_json& json) {
  json["terms"] = ordered_json::array();
  for (l2r::score_term const& term : why.terms) {
    ordered_json& entry =
        json["terms"].emplace_back(term.item ? item_json(words.ranges[*term.item], words.names)
                                             : feature_json(term.feature, words.names));
    if (term.partner)
      entry["partner"] = term.partner_item
                             ? item_json(words.ranges[*term.partner_item], words.names)
                             : feature_json(*term.partner, words.names);
    if (is_joint(words)) entry["points"] = term.points;
    if (!has_items(words) || (is_joint(words) && !term.partner)) {
      entry["missing"] = term.missing;
      entry["z"] = term.z;
      entry["weight"] = term.weight;
    }
    entry["adds"] = term.adds;
  }
}

template <class Why>
ordered_json document_json(query_document const& document, std::size_t rank, double score,
                           Why const& why, member_words const& words) {
  ordered_json json = standing_json(document, rank, score);
  add_terms(document, why, words, json);
  return json;
}

/// The first fields of a member's JSON; `why`: of either document.
template <class Why>
ordered_json head_json(datasets::dataset const& query, Why const& why, member_words const& words) {
  ordered_json json{{"kind", words.kind},
                    {"qid", query.queries.front().qid},
                    {"documents_of_query", query.size()}};
  if constexpr (requires { why.training; }) {
    json["training_documents"] = why.training;
    json["mean_label"] = why.mean_label;
  }
  json["norm"] = name_of(words.norm);
  return json;
}

/// A member's JSON for one document.
ordered_json member_json(query_document const& document, l2r::member_explanation const& member,
                         member_words const& words) {
  ordered_json json = std::visit(
      [&](auto const& why) {
        ordered_json head = head_json(document.query, why, words);
        head["document"] = document_json(document, member.rank, member.score, why, words);
        return head;
      },
      member.why);
  auto const* const why = std::get_if<l2r::explanation>(&member.why);
  if (why == nullptr) return json;
  moved_rules const rules{words, why->denominator * why->training, why->labels};
  json["moved_denominator"] = rules.denominator.str();
  json["split"] = rules.to_json(why->items);
  auto const add_part = [&](l2r::document_rule const& rule, ordered_json& entry) {
    entry["share"] = exact_json(rule.share, why->denominator);
    entry["weight"] = exact_json(rule.weight, why->denominator);
  };
  json["up"] = rules.to_json(why->up, add_part);
  json["down"] = rules.to_json(why->down, add_part);
  json["level"] = rules.to_json(why->level, add_part);
  return json;
}

/// A member's JSON for two documents.
ordered_json member_json(query_document const& first, query_document const& second,
                         l2r::member_comparison const& member, member_words const& words) {
  ordered_json json = std::visit(
      [&](auto const& why) {
        ordered_json head = head_json(first.query, why.first, words);
        head["first"] =
            document_json(first, member.first_rank, member.first_score, why.first, words);
        head["second"] =
            document_json(second, member.second_rank, member.second_score, why.second, words);
        return head;
      },
      member.why);
  auto const* const why = std::get_if<l2r::comparison>(&member.why);
  if (why == nullptr) return json;
  moved_rules const rules{words, why->denominator, why->first.labels, true};
  json["moved_denominator"] = why->denominator.str();
  json["split"] = rules.to_json(why->items);
  auto const add_part = [](l2r::document_rule const& rule, ordered_json& entry) {
    entry["of_first"] = rule.first;
    entry["of_second"] = rule.second;
  };
  json["for_first"] = rules.to_json(why->up, add_part);
  json["for_second"] = rules.to_json(why->down, add_part);
  return json;
}

}  // namespace

blocks explanation(query_document const& document, l2r::model_explanation const& why,
                   l2r::score_effects const& effects, std::span<member_words const> words,
                   std::size_t top) {
  datasets::dataset const& query = document.query;
  bool const several = why.members.size() > 1;
  int const digits = digits_of(words, effects);
  l2r::shown_effects const shown = l2r::shown(effects, digits);
  std::vector<displayed_member> members;
  for (std::size_t k = 0; k < why.members.size(); ++k)
    members.push_back(displayed(effects, shown, k, digits, why.members[k].deviation));
  blocks to{
      {heading{2, fmt::format("query {}, document {}: {}", query.queries.front().qid,
                              document_text(document), rank_text(why.rank, query, why.score))}}};
  if (several) {
    say_members(why.members.size(), to);
    eval::table t{{},
                  {{"member", fixed},
                   {"part", fixed, 6},
                   {"score", fixed, 6},
                   {"rank", fixed},
                   {"mean", fixed, 6},
                   {"deviation", fixed, 6},
                   {"unit", fixed, 6}}};
    for (std::size_t k = 0; k < members.size(); ++k) {
      l2r::member_explanation const& one = why.members[k];
      t.rows.push_back({k + 1, members[k].number(members[k].total), one.score, one.rank, one.mean,
                        one.deviation, members[k].unit});
    }
    to.push_back({std::move(t)});
    if (top > 0) add_effects(document, effects, words, top, to);
  }
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (several)
      to.push_back({heading{2, fmt::format("Member {}, part {:+.6f}: {}, rank {} of {}", k + 1,
                                           members[k].number(members[k].total), words[k].kind,
                                           why.members[k].rank, query.size())}});
    std::visit([&](auto const& one) { add_why(one, members[k], words[k], top, to); },
               why.members[k].why);
  }
  return to;
}

blocks explanation(query_document const& first, query_document const& second,
                   l2r::model_comparison const& why, l2r::score_effects const& of_first,
                   l2r::score_effects const& of_second, std::span<member_words const> words,
                   std::size_t top) {
  datasets::dataset const& query = first.query;
  bool const several = why.members.size() > 1;
  int const digits = std::max(digits_of(words, of_first), digits_of(words, of_second));
  l2r::shown_effects const shown_a = l2r::shown(of_first, digits);
  l2r::shown_effects const shown_b = l2r::shown(of_second, digits);
  std::vector<displayed_member> a, b;
  for (std::size_t k = 0; k < why.members.size(); ++k) {
    a.push_back(displayed(of_first, shown_a, k, digits, why.members[k].deviation));
    b.push_back(displayed(of_second, shown_b, k, digits, why.members[k].deviation));
  }
  auto const difference = [&](std::size_t k) { return a[k].number(a[k].total - b[k].total); };
  blocks to{{heading{
      2, fmt::format("query {}, the first document {} and the second {}", query.queries.front().qid,
                     document_text(first), document_text(second))}}};
  if (several) {
    say(to, "The first: {}.", rank_text(why.first_rank, query, why.first_score));
    say(to, "The second: {}.", rank_text(why.second_rank, query, why.second_score));
    say_members(why.members.size(), to);
    eval::table t{{},
                  {{"member", fixed},
                   {"part of the first", fixed, 6},
                   {"of the second", fixed, 6},
                   {"difference", fixed, 6},
                   {"unit", fixed, 6}}};
    for (std::size_t k = 0; k < a.size(); ++k)
      t.rows.push_back(
          {k + 1, a[k].number(a[k].total), b[k].number(b[k].total), difference(k), a[k].unit});
    to.push_back({std::move(t)});
    if (top > 0) add_effects(first, second, of_first, of_second, words, top, to);
  }
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (several)
      to.push_back({heading{2, fmt::format("Member {}, difference of the parts {:+.6f}: {}", k + 1,
                                           difference(k), words[k].kind)}});
    std::visit(
        [&](auto const& one) {
          add_ranks(query, why.members[k], one, several, to);
          add_why(one, a[k], b[k], words[k], top, to);
        },
        why.members[k].why);
  }
  return to;
}

ordered_json explanation_json(query_document const& document, l2r::model_explanation const& why,
                              std::span<member_words const> words) {
  if (why.members.size() == 1) return member_json(document, why.members[0], words[0]);
  ordered_json json{{"qid", document.query.queries.front().qid},
                    {"documents_of_query", document.query.size()},
                    {"document", standing_json(document, why.rank, why.score)}};
  for (std::size_t k = 0; k < why.members.size(); ++k) {
    l2r::member_explanation const& member = why.members[k];
    json["members"].push_back(
        {{"part", member.part}, {"mean", member.mean}, {"deviation", member.deviation}});
    json["members"].back().update(member_json(document, member, words[k]));
  }
  return json;
}

ordered_json explanation_json(query_document const& first, query_document const& second,
                              l2r::model_comparison const& why,
                              std::span<member_words const> words) {
  if (why.members.size() == 1) return member_json(first, second, why.members[0], words[0]);
  ordered_json json{{"qid", first.query.queries.front().qid},
                    {"documents_of_query", first.query.size()},
                    {"first", standing_json(first, why.first_rank, why.first_score)},
                    {"second", standing_json(second, why.second_rank, why.second_score)}};
  for (std::size_t k = 0; k < why.members.size(); ++k) {
    l2r::member_comparison const& member = why.members[k];
    json["members"].push_back({{"first_part", member.first_part},
                               {"second_part", member.second_part},
                               {"mean", member.mean},
                               {"deviation", member.deviation}});
    json["members"].back().update(member_json(first, second, member, words[k]));
  }
  return json;
}

}  // namespace rulerank::report
