#include "report/model_words.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

// Scores by features, in units of the score; in every table the displayed numbers add up.
namespace rulerank::inline v0::report {

namespace {

using nlohmann::ordered_json;

/// Member names: `rules`, or `rules 2` if several members have the same kind.
std::vector<std::string> member_names(std::span<member_words const> words) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < words.size(); ++k) {
    auto const same = [&](member_words const& other) { return other.kind == words[k].kind; };
    auto const before = std::ranges::count_if(words.first(k), same);
    names.push_back(std::ranges::count_if(words, same) > 1
                        ? fmt::format("{} {}", words[k].kind, before + 1)
                        : std::string(words[k].kind));
  }
  return names;
}

std::string effect_name(l2r::feature_effect const& of, member_words const& words) {
  std::string const first = feature_text(of.feature, words.names);
  return of.partner ? fmt::format("{} and {}", first, feature_text(*of.partner, words.names))
                    : first;
}

/// The value of a feature in a document; empty if missing.
std::optional<double> value_of(query_document const& document, std::uint32_t feature,
                               member_words const& words) {
  for (datasets::feature_value const& v : document.query.document(document.d))
    if (v.feature == feature) return std::isnan(v.value) ? std::nullopt : std::optional(v.value);
  if (words.unlisted == datasets::unlisted_values::zero) return 0.0;
  return std::nullopt;
}

std::string value_text(query_document const& document, l2r::feature_effect const& of,
                       member_words const& words) {
  auto const one = [&](std::uint32_t feature) {
    auto const value = value_of(document, feature, words);
    return value ? with_unit(fmt::format("{}", *value), feature, words) : std::string("missing");
  };
  return of.partner ? fmt::format("{} and {}", one(of.feature), one(*of.partner)) : one(of.feature);
}

ordered_json value_json(query_document const& document, std::uint32_t feature,
                        member_words const& words) {
  auto const value = value_of(document, feature, words);
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// The sum of `values` over the positions after the first `top` of `order`.
std::int64_t sum_after(std::vector<std::int64_t> const& values,
                       std::vector<std::size_t> const& order, std::size_t top) {
  std::int64_t sum = 0;
  for (std::size_t i = top; i < order.size(); ++i) sum += values[order[i]];
  return sum;
}

std::string others_text(std::size_t others) {
  return fmt::format("({})", counted(others, "other feature"));
}

/// The documents of a list in ranking order.
std::vector<std::size_t> ranked(std::span<l2r::score_effects const> all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t d) { return all[d].rank; });
  return order;
}

void say_base(l2r::score_effects const& of, blocks& to) {
  if (of.base != 0)
    say(to, "The base is the same for all documents of the query, and the features add to it.");
}

ordered_json query_json(datasets::dataset const& query, l2r::score_effects const& of,
                        std::span<member_words const> words) {
  ordered_json json{{"qid", query.queries.front().qid},
                    {"documents_of_query", query.size()},
                    {"members", ordered_json::array()},
                    {"base", of.base}};
  for (member_words const& member : words) json["members"].push_back(member.kind);
  if (words.size() > 1) json["base_by_member"] = of.base_by_member;
  return json;
}

ordered_json effect_json(l2r::feature_effect const& of, member_words const& words) {
  ordered_json json = feature_json(of.feature, words.names);
  json.update(description_json(description_of(of.feature, words.descriptions)));
  if (of.partner) json["partner"] = feature_json(*of.partner, words.names);
  return json;
}

}  // namespace

void add_effects(query_document const& document, l2r::score_effects const& of,
                 std::span<member_words const> words, std::size_t top, blocks& to) {
  member_words const& first = words.front();
  int const digits = l2r::digits_of(std::span(&of, 1));
  double const scale = std::pow(10, digits);
  l2r::shown_effects const all = l2r::shown(of, digits);
  say_base(of, to);
  eval::table t{"Contribution of each feature to the score, the largest first:",
                {{"adds", fixed, digits}}};
  bool const several = words.size() > 1;
  if (several)
    for (std::string& name : member_names(words)) t.columns.push_back({name, fixed, digits});
  t.columns.insert(t.columns.end(), {{"value", fixed}, {"feature"}});
  /// A row with a sum and one value per member, from `of_member`.
  auto const add = [&](std::int64_t sum, auto const& of_member, std::string value,
                       std::string what) {
    std::vector<eval::cell>& row = t.rows.emplace_back();
    row.emplace_back(static_cast<double>(sum) / scale);
    for (std::size_t k = 0; several && k < words.size(); ++k)
      row.emplace_back(static_cast<double>(of_member(k)) / scale);
    row.emplace_back(std::move(value));
    row.emplace_back(std::move(what));
  };
  auto const base = [&](std::size_t k) { return all.base_by_member[k]; };
  if (of.base != 0) add(all.base, base, "", "(base)");
  auto const order = largest(of.features.size(), of.features.size(),
                             [&](std::size_t f) { return of.features[f].adds; });
  std::size_t const listed = std::min(top, order.size());
  for (std::size_t const f : std::span(order).first(listed))
    add(
        all.adds[f], [&](std::size_t k) { return all.by_member[k][f]; },
        value_text(document, of.features[f], first), effect_name(of.features[f], first));
  if (listed < order.size())
    add(
        sum_after(all.adds, order, listed),
        [&](std::size_t k) { return sum_after(all.by_member[k], order, listed); }, "",
        others_text(order.size() - listed));
  add(
      all.score, [&](std::size_t k) { return base(k) + sum_after(all.by_member[k], order, 0); }, "",
      "(score)");
  to.push_back({std::move(t)});
}

blocks effects(query_document const& document, l2r::score_effects const& of,
               std::span<member_words const> words, std::size_t top) {
  blocks to{{heading{
      2, fmt::format("query {}, document {}: {}", document.query.queries.front().qid,
                     document_text(document), rank_text(of.rank, document.query, of.score))}}};
  add_effects(document, of, words, top, to);
  return to;
}

void add_effects(query_document const& first, query_document const& second,
                 l2r::score_effects const& of_first, l2r::score_effects const& of_second,
                 std::span<member_words const> words, std::size_t top, blocks& to) {
  say_base(of_first, to);
  int const digits =
      std::max(l2r::digits_of(std::span(&of_first, 1)), l2r::digits_of(std::span(&of_second, 1)));
  double const scale = std::pow(10, digits);
  l2r::shown_effects const a = l2r::shown(of_first, digits), b = l2r::shown(of_second, digits);
  eval::table t{"Contribution of each feature to the two scores, the largest difference first:",
                {{"difference", fixed, digits},
                 {"the first", fixed, digits},
                 {"the second", fixed, digits},
                 {"value of the first", fixed},
                 {"of the second", fixed},
                 {"feature"}}};
  auto const add = [&](std::int64_t x, std::int64_t y, std::string value_x, std::string value_y,
                       std::string what) {
    t.rows.push_back({static_cast<double>(x - y) / scale, static_cast<double>(x) / scale,
                      static_cast<double>(y) / scale, std::move(value_x), std::move(value_y),
                      std::move(what)});
  };
  if (of_first.base != 0) add(a.base, b.base, "", "", "(base)");
  auto const order = largest(a.adds.size(), a.adds.size(), [&](std::size_t f) {
    return of_first.features[f].adds - of_second.features[f].adds;
  });
  std::size_t const listed = std::min(top, order.size());
  member_words const& own = words.front();
  for (std::size_t const f : std::span(order).first(listed))
    add(a.adds[f], b.adds[f], value_text(first, of_first.features[f], own),
        value_text(second, of_first.features[f], own), effect_name(of_first.features[f], own));
  if (listed < order.size())
    add(sum_after(a.adds, order, listed), sum_after(b.adds, order, listed), "", "",
        others_text(order.size() - listed));
  add(a.score, b.score, "", "", "(score)");
  to.push_back({std::move(t)});
}

blocks effects(query_document const& first, query_document const& second,
               l2r::score_effects const& of_first, l2r::score_effects const& of_second,
               std::span<member_words const> words, std::size_t top) {
  blocks to{{heading{2, fmt::format("query {}, the first document {} and the second {}",
                                    first.query.queries.front().qid, document_text(first),
                                    document_text(second))}}};
  say(to, "The first: {}.", rank_text(of_first.rank, first.query, of_first.score));
  say(to, "The second: {}.", rank_text(of_second.rank, second.query, of_second.score));
  add_effects(first, second, of_first, of_second, words, top, to);
  return to;
}

blocks effects(datasets::dataset const& query, std::span<l2r::score_effects const> all,
               std::span<member_words const> words, std::size_t top) {
  std::vector<l2r::feature_effect> const& features = all.front().features;
  blocks to{{heading{2, fmt::format("query {}: {}", query.queries.front().qid,
                                    counted(query.size(), "document"))}}};
  say_base(all.front(), to);
  std::vector<double> sizes(features.size());
  for (l2r::score_effects const& one : all)
    for (std::size_t f = 0; f < sizes.size(); ++f) sizes[f] += std::abs(one.features[f].adds);
  auto const order = largest(sizes.size(), sizes.size(), [&](std::size_t f) { return sizes[f]; });
  std::size_t const listed = std::min(top, order.size());
  int const digits = l2r::digits_of(all);
  double const scale = std::pow(10, digits);
  bool const has_base = all.front().base != 0;
  eval::table t{"Contributions of the features to each score, the most influential first:",
                {{"rank", fixed}, {"document"}, {"label", fixed}, {"score", fixed, digits}}};
  if (has_base) t.columns.push_back({"(base)", fixed, digits});
  for (std::size_t const f : std::span(order).first(listed))
    t.columns.push_back({effect_name(features[f], words.front()), fixed, digits});
  if (listed < order.size())
    t.columns.push_back({others_text(order.size() - listed), fixed, digits});
  for (std::size_t const d : ranked(all)) {
    l2r::shown_effects const one = l2r::shown(all[d], digits);
    auto& row = t.rows.emplace_back();
    row = {all[d].rank, printable(query.docid(d)), label_text({query, d}),
           static_cast<double>(one.score) / scale};
    if (has_base) row.emplace_back(static_cast<double>(one.base) / scale);
    for (std::size_t const f : std::span(order).first(listed))
      row.emplace_back(static_cast<double>(one.adds[f]) / scale);
    if (listed < order.size())
      row.emplace_back(static_cast<double>(sum_after(one.adds, order, listed)) / scale);
  }
  to.push_back({std::move(t)});
  return to;
}

ordered_json effects_json(query_document const& document, l2r::score_effects const& of,
                          std::span<member_words const> words) {
  ordered_json json = query_json(document.query, of, words);
  json["document"] = standing_json(document, of.rank, of.score);
  json["features"] = ordered_json::array();
  for (std::size_t const f : largest(of.features.size(), of.features.size(),
                                     [&](std::size_t i) { return of.features[i].adds; })) {
    l2r::feature_effect const& one = of.features[f];
    ordered_json& entry = json["features"].emplace_back(effect_json(one, words.front()));
    entry["value"] = value_json(document, one.feature, words.front());
    if (one.partner) entry["partner"]["value"] = value_json(document, *one.partner, words.front());
    entry["adds"] = one.adds;
    if (words.size() > 1) entry["by_member"] = one.by_member;
  }
  return json;
}

ordered_json effects_json(query_document const& first, query_document const& second,
                          l2r::score_effects const& of_first, l2r::score_effects const& of_second,
                          std::span<member_words const> words) {
  ordered_json json = query_json(first.query, of_first, words);
  json["first"] = standing_json(first, of_first.rank, of_first.score);
  json["second"] = standing_json(second, of_second.rank, of_second.score);
  json["features"] = ordered_json::array();
  auto const difference = [&](std::size_t f) {
    return of_first.features[f].adds - of_second.features[f].adds;
  };
  for (std::size_t const f :
       largest(of_first.features.size(), of_first.features.size(), difference)) {
    l2r::feature_effect const& one = of_first.features[f];
    ordered_json& entry = json["features"].emplace_back(effect_json(one, words.front()));
    auto const add = [&](std::string const& name, query_document const& document,
                         l2r::feature_effect const& effect) {
      entry[name]["value"] = value_json(document, one.feature, words.front());
      if (one.partner)
        entry[name]["partner_value"] = value_json(document, *one.partner, words.front());
      entry[name]["adds"] = effect.adds;
      if (words.size() > 1) entry[name]["by_member"] = effect.by_member;
    };
    add("first", first, one);
    add("second", second, of_second.features[f]);
    entry["difference"] = difference(f);
  }
  return json;
}

ordered_json effects_json(datasets::dataset const& query, std::span<l2r::score_effects const> all,
                          std::span<member_words const> words) {
  ordered_json json = query_json(query, all.front(), words);
  json["features"] = ordered_json::array();
  for (l2r::feature_effect const& one : all.front().features)
    json["features"].push_back(effect_json(one, words.front()));
  json["documents"] = ordered_json::array();
  for (std::size_t const d : ranked(all)) {
    ordered_json& entry =
        json["documents"].emplace_back(standing_json({query, d}, all[d].rank, all[d].score));
    entry["adds"] = ordered_json::array();
    if (words.size() > 1) entry["by_member"] = ordered_json::array();
    for (l2r::feature_effect const& one : all[d].features) {
      entry["adds"].push_back(one.adds);
      if (words.size() > 1) entry["by_member"].push_back(one.by_member);
    }
  }
  return json;
}

}  // namespace rulerank::report
