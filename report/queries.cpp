#include "core/json_text.hpp"
#include "report/escape.hpp"
#include "report/rule_source.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::report {

namespace {

constexpr std::size_t depth = 10;          // ranks considered
constexpr std::size_t static_queries = 3;  // queries with documents shown without the script, won
                                           // and lost each
constexpr std::size_t rules_each_way = 3;
constexpr std::size_t rules_of_baseline = 1;     // in each direction
constexpr std::size_t most_values = 800'000;     // in the script's data: 2.7 bytes each
constexpr std::size_t document_bytes = 400'000;  // in the script's data

/// A query of a fold.
struct query_place {
  std::size_t fold = 0, query = 0;
};

std::vector<query_place> places_of(validation_group const& group) {
  std::vector<query_place> places;
  for (std::size_t f = 0; f < group.folds.size(); ++f)
    for (std::size_t q = 0; q < group.systems.front().folds[f].size(); ++q)
      places.push_back({f, q});
  return places;
}

double value_of(validation_group const& group, std::size_t system, query_place at, std::size_t m) {
  return group.systems[system].folds[at.fold].at(at.query, m);
}

std::string const& qid_of(validation_group const& group, query_place at) {
  return group.systems.front().folds[at.fold].qids[at.query];
}

/// A query's documents, numbered within it, by a system's scores; empty if there are no scores.
std::vector<std::size_t> ranking(validation_group const& group, std::size_t system,
                                 query_place at) {
  system_source const& source = group.sources[system];
  std::optional<fold_data> const& data = source.from->data[at.fold];
  if (!data || !data->scores.contains(source.name)) return {};
  datasets::query_group const& query = data->test.queries[at.query];
  std::vector<double> const& scores = data->scores.at(source.name);
  std::vector<std::size_t> order(query.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](std::size_t d) { return scores[query.begin + d]; });
  return order;
}

std::size_t rank_in(std::vector<std::size_t> const& order, std::size_t d) {
  return static_cast<std::size_t>(std::ranges::find(order, d) - order.begin()) + 1;
}

/// The documents at the top of either ranking, in the order `order`.
std::vector<std::size_t> on_top(std::vector<std::size_t> const& order,
                                std::vector<std::size_t> const& other) {
  std::set<std::size_t> shown;
  for (auto const* const one : {&order, &other})
    shown.insert(one->begin(),
                 one->begin() + static_cast<std::ptrdiff_t>(std::min(depth, one->size())));
  std::vector<std::size_t> documents;
  for (std::size_t const d : order)
    if (shown.contains(d)) documents.push_back(d);
  return documents;
}

/// The rules that a report shows; each table appears once.
class rules_shown {
 public:
  rules_shown(context const& ctx, validation_group const& group, report_options const& options)
      : ctx_(ctx), group_(group) {
    for (std::size_t s = 0; s < group.sources.size(); ++s)
      sources_.push_back(
          std::make_unique<rule_source>(ctx, options, group.sources[s], group.systems[s].name));
  }

  /// The rules behind a system's score of document `d` of query `at.query`, place `i`; empty if not
  /// available or already returned.
  std::optional<eval::table> of(std::size_t system, std::size_t i, query_place at, std::size_t d) {
    if (!given_.insert({i, system, d}).second) return std::nullopt;
    ctx_.check_stop();
    std::optional<eval::table> t = sources_[system]->explain(
        at.fold, at.query, d, system == group_.baseline ? rules_of_baseline : rules_each_way);
    if (t) {
      datasets::dataset const& test = group_.sources[system].from->data[at.fold]->test;
      std::string const id = clean(test.docid(test.queries[at.query].begin + d));
      t->key = fmt::format("{} {} {} {}", i, system, id, clean(group_.title()));
      shown_[std::to_string(i)].push_back({system, t->key});
    }
    return t;
  }
  /// Why a system has no rules to show.
  std::string lacks(std::size_t system) const { return sources_[system]->lacks(); }

  /// For the script to find the tables in the page: systems and keys of tables by place.
  json const& shown() const { return shown_; }

 private:
  context const& ctx_;
  validation_group const& group_;
  std::vector<std::unique_ptr<rule_source>> sources_;  // [systems]
  std::set<std::array<std::size_t, 3>> given_;         // place, system, document
  json shown_ = json::object();
};

/// Compares one system with the baseline.
class duel {
 public:
  duel(validation_group const& group, report_options const& options, std::size_t system,
       rules_shown& rules)
      : group_(group), system_(system), rules_(rules) {
    places_ = places_of(group);
    difference_.reserve(places_.size());
    for (query_place const at : places_)
      difference_.push_back(value_of(group, system, at, group.measure) -
                            value_of(group, group.baseline, at, group.measure));
    order_.resize(places_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::greater<>{},
                             [this](std::size_t i) { return difference_[i]; });
    for (std::size_t i = 0; i < std::min(options.top, order_.size()); ++i) {
      if (difference_[order_[i]] > 1e-12) won_.push_back(order_[i]);
      std::size_t const last = order_[order_.size() - 1 - i];
      if (difference_[last] < -1e-12) lost_.push_back(last);
    }
  }

  std::string title() const { return fmt::format("{} against {}", name(), baseline()); }

  void add_to(blocks& to) {
    std::string const& measure = group_.measures[group_.measure].name();
    eval::comparison const& c = group_.compared[group_.baseline][system_][group_.measure];
    say(to, "{}: {:+.4f} on average; {} won, {} tied, {} lost{}.", measure, c.difference, c.wins,
        c.ties, c.losses,
        c.paired_t ? fmt::format("; p = {:.3g}, {:.3g} after Holm's correction", c.paired_t->p,
                                 c.paired_t->p_holm)
                   : std::string());
    chart columns{
        .title = fmt::format("{} of each query: {} minus {}, sorted", measure, name(), baseline()),
        .kind = chart_kind::differences,
        .x = {counted(places_.size(), "query", "queries")},
        .y = {"difference"},
        .series = {{name(), {}}}};
    for (std::size_t const i : order_) columns.series[0].points.push_back({0, difference_[i]});
    to.push_back({std::move(columns)});
    to.push_back({details{"The queries it wins and loses most",
                          {{
                               extremes(won_, "Won most"),
                           },
                           {extremes(lost_, "Lost most")}}}});
    for (auto const* const side : {&won_, &lost_})
      for (std::size_t i = 0; i < std::min(static_queries, side->size()); ++i)
        add_documents((*side)[i], to);
    std::string reasons;
    for (std::size_t const s : {system_, group_.baseline})
      if (std::string const why = rules_.lacks(s); !why.empty())
        reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", why);
    if (!reasons.empty() && shows_documents_) say(to, "Rules are not shown: {}.", reasons);
  }

 private:
  std::string const& name() const { return group_.systems[system_].name; }
  std::string const& baseline() const { return group_.systems[group_.baseline].name; }

  eval::table extremes(std::vector<std::size_t> const& queries, std::string title) const {
    eval::table t{
        .title = std::move(title),
        .columns = {
            {"query"}, {"fold"}, {name(), fixed}, {baseline(), fixed}, {"difference", fixed}}};
    for (std::size_t const i : queries)
      t.rows.push_back({qid_of(group_, places_[i]), group_.folds[places_[i].fold],
                        value_of(group_, system_, places_[i], group_.measure),
                        value_of(group_, group_.baseline, places_[i], group_.measure),
                        difference_[i]});
    return t;
  }

  void add_documents(std::size_t i, blocks& to) {
    query_place const at = places_[i];
    std::vector<std::size_t> const mine = ranking(group_, system_, at);
    std::vector<std::size_t> const theirs = ranking(group_, group_.baseline, at);
    if (mine.empty() || mine.size() != theirs.size()) return;
    shows_documents_ = true;
    datasets::dataset const& test = group_.sources[system_].from->data[at.fold]->test;
    std::size_t const begin = test.queries[at.query].begin;
    eval::table t{
        .title = fmt::format("The first {} of each ranking", depth),
        .columns = {{"rank", fixed}, {"baseline's", fixed}, {"label", fixed}, {"document"}}};
    std::optional<std::size_t> moved;
    double furthest = -1;
    for (std::size_t const d : on_top(mine, theirs)) {
      std::size_t const a = rank_in(mine, d), b = rank_in(theirs, d);
      std::int32_t const label = test.labels[begin + d];
      t.rows.push_back({a, b, label, test.docid(begin + d)});
      double const far = std::abs(1 / std::log2(a + 1.0) - 1 / std::log2(b + 1.0)) *
                         (std::exp2(std::min(label, 30)) - 0.99);
      if (far > furthest) {
        furthest = far;
        moved = d;
      }
    }
    details shown{fmt::format("Query {} ({}): {:+.4f}", qid_of(group_, at), group_.folds[at.fold],
                              difference_[i]),
                  {{std::move(t)}}};
    if (moved)
      for (std::size_t const s : {system_, group_.baseline})
        if (std::optional<eval::table> why = rules_.of(s, i, at, *moved))
          shown.inside.push_back({std::move(*why)});
    to.push_back({std::move(shown)});
  }

  validation_group const& group_;
  std::size_t system_;
  rules_shown& rules_;
  std::vector<query_place> places_;
  std::vector<double> difference_;  // [places]
  std::vector<std::size_t> order_;  // indices of places, most won first
  std::vector<std::size_t> won_, lost_;
  bool shows_documents_ = false;
};

/// A system's values of a measure as 16-bit integers, scaled to [low, high].
std::string packed(validation_group const& group, std::size_t system, std::size_t m,
                   std::vector<query_place> const& places, double low, double high) {
  std::string bytes;
  for (query_place const at : places) {
    double const share = high > low ? (value_of(group, system, at, m) - low) / (high - low) : 0;
    auto const v = static_cast<unsigned>(std::lround(share * 65535));
    bytes += static_cast<char>(v & 0xFFU);
    bytes += static_cast<char>(v >> 8U);
  }
  return base64(bytes);
}

json values_data(validation_group const& group, std::vector<query_place> const& places) {
  json data{{"measures", json::array()}};
  std::size_t const each = std::max<std::size_t>(1, group.systems.size() * places.size());
  std::size_t const count = std::clamp<std::size_t>(most_values / each, 1, group.measures.size());
  for (std::size_t m = 0; m < group.measures.size(); ++m) {
    // If there are too many values, only the first measures and the selected one are stored.
    if (m >= count && m != group.measure) continue;
    double low = 0, high = 0;
    for (std::size_t s = 0; s < group.systems.size(); ++s)
      for (query_place const at : places) {
        low = std::min(low, value_of(group, s, at, m));
        high = std::max(high, value_of(group, s, at, m));
      }
    json one{{"name", group.measures[m].name()},
             {"low", low},
             {"high", high},
             {"values", json::array()},
             {"compared", json::array()}};
    for (std::size_t s = 0; s < group.systems.size(); ++s)
      one["values"].push_back(packed(group, s, m, places, low, high));
    for (auto const& with : group.compared) {
      json row = json::array();
      for (auto const& by_measure : with) {
        if (by_measure.empty()) {
          row.push_back(nullptr);
          continue;
        }
        eval::comparison const& c = by_measure[m];
        row.push_back({c.difference, c.wins, c.ties, c.losses, c.paired_t->p, c.paired_t->p_holm});
      }
      one["compared"].push_back(std::move(row));
    }
    if (m == group.measure) data["measure"] = data["measures"].size();
    data["measures"].push_back(std::move(one));
  }
  return data;
}

/// The top documents of a query's rankings: ids, labels, and the rank of each by each system.
json documents_of(validation_group const& group, query_place at) {
  std::vector<std::vector<std::size_t>> orders;
  std::set<std::size_t> shown;
  datasets::dataset const* test = nullptr;
  for (std::size_t s = 0; s < group.systems.size(); ++s) {
    std::vector<std::size_t> const& order = orders.emplace_back(ranking(group, s, at));
    if (!order.empty()) test = &group.sources[s].from->data[at.fold]->test;
    shown.insert(order.begin(),
                 order.begin() + static_cast<std::ptrdiff_t>(std::min(depth, order.size())));
  }
  if (test == nullptr) return nullptr;
  std::size_t const begin = test->queries[at.query].begin;
  json ids = json::array(), labels = json::array(), ranks = json::array();
  for (std::size_t const d : shown) {
    ids.push_back(clean(test->docid(begin + d)));
    labels.push_back(test->labels[begin + d]);
  }
  for (std::vector<std::size_t> const& order : orders) {
    json of = json::array();
    for (std::size_t const d : shown) of.push_back(rank_in(order, d));
    ranks.push_back(order.empty() ? json() : std::move(of));
  }
  return {ids, labels, ranks};
}

/// The documents of the queries with the largest differences between systems, within the size
/// limit.
json documents_data(validation_group const& group, std::vector<query_place> const& places) {
  std::vector<double> spread;
  for (query_place const at : places) {
    double low = 0, high = 0;
    for (std::size_t s = 0; s < group.systems.size(); ++s) {
      double const v = value_of(group, s, at, group.measure);
      low = s == 0 ? v : std::min(low, v);
      high = s == 0 ? v : std::max(high, v);
    }
    spread.push_back(high - low);
  }
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return spread[i]; });
  json data = json::object();
  std::size_t bytes = 0;
  for (std::size_t const i : order) {
    json const one = documents_of(group, places[i]);
    if (one.is_null()) continue;
    bytes += json_line_of(one).size();
    if (bytes > document_bytes) break;
    data[std::to_string(i)] = one;
  }
  return data;
}

/// `system`: shown first.
interactive explorer(validation_group const& group, std::size_t system, rules_shown const& rules) {
  std::vector<query_place> const places = places_of(group);
  json data = values_data(group, places);
  data["kind"] = "queries";
  data["baseline"] = group.baseline;
  data["system"] = system;
  data["systems"] = json::array();
  for (eval::system_values const& one : group.systems) data["systems"].push_back(clean(one.name));
  data["folds"] = json::array();
  for (std::size_t f = 0; f < group.folds.size(); ++f)
    data["folds"].push_back({clean(group.folds[f]), group.systems.front().folds[f].size()});
  data["qids"] = json::array();
  for (query_place const at : places) data["qids"].push_back(clean(qid_of(group, at)));
  data["documents"] = documents_data(group, places);
  data["rules"] = rules.shown();
  data["lacks"] = json::array();
  for (std::size_t s = 0; s < group.systems.size(); ++s)
    data["lacks"].push_back(clean(rules.lacks(s)));
  return {json_line_of(data)};
}

}  // namespace

void add_queries(context const& ctx, validation_group const& group, report_options const& options,
                 blocks& to) {
  if (group.systems.size() < 2) {
    say(to, "There is only one system, so there is nothing to compare it with.");
    return;
  }
  for (cross_validation const* const one : group.validations)
    for (std::size_t f = 0; f < one->folds.size(); ++f)
      if (!one->data[f]) {
        say(to,
            "The test set of {} of {} is missing or has changed since the run, so its documents "
            "are not shown.",
            one->folds[f].name, one->name);
      }
  rules_shown rules(ctx, group, options);
  std::vector<std::size_t> others = best_first(group);
  std::erase(others, group.baseline);
  // The best system with documents to show.
  auto const ranked = std::ranges::find_if(others, [&](std::size_t s) {
    return !ranking(group, s, {0, 0}).empty();
  });
  std::size_t const first = ranked == others.end() ? others.front() : *ranked;
  blocks duels;
  for (std::size_t const s : others) {
    ctx.check_stop();
    duel one(group, options, s, rules);
    details folded{one.title(), {}, s == first};
    one.add_to(folded.inside);
    duels.push_back({std::move(folded)});
  }
  to.push_back({explorer(group, first, rules)});
  std::ranges::move(duels, std::back_inserter(to));
}

}  // namespace rulerank::report
