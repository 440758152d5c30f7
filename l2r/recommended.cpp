#include "l2r/recommended.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::l2r {

namespace {

// What docs/members.md shows under "Recommended members".
constexpr std::string_view evidence = "docs/members.md, Recommended members";

/// `point` and `linear` solve systems of fewer unknowns than this.
constexpr std::size_t most_items = (std::size_t{1} << 14) - 1;
constexpr int most_bins = 250;

template <class... Cases>
struct visitor : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
visitor(Cases...) -> visitor<Cases...>;

/// The items that the features have at most.
std::size_t items_of(label_counts const& labels, datasets::discretizer_options const& discretizer,
                     datasets::discretizer const* cuts) {
  if (cuts == nullptr) {
    int const bins = discretizer.bins == 0 ? most_bins : discretizer.bins;
    return labels.features * (static_cast<std::size_t>(bins) + 1);  // one for missing values
  }
  std::size_t items = 0;
  for (datasets::feature_cuts const& f : cuts->features) items += f.cuts.size() + 2;
  return items;
}

bool holds(recommended_case const& row, label_counts const& labels, std::size_t items) {
  return labels.documents >= row.least_documents &&
         labels.queries_with_pairs >= row.least_queries_with_pairs &&
         labels.share_compared() >= row.least_share_compared &&
         (row.most_items == 0 || items <= row.most_items);
}

std::string words_of(member_options const& of) {
  return std::visit(
      visitor{[](scoring_options const& rules) {
                return fmt::format("rules (rule size {})", rules.rule_size);
              },
              [](scorecard_options const& card) {
                if (card.cross_fit)
                  return fmt::format("scorecard (loss {}, penalties by cross-fitting)",
                                     name_of(card.loss));
                return fmt::format("scorecard (loss {}, points penalty {}, smoothness {})",
                                   name_of(card.loss), card.points_penalty, card.smoothness);
              },
              [](linear_options const& linear) {
                if (linear.strength == 0) return fmt::format("linear (strength by cross-fitting)");
                return fmt::format("linear (strength {})", linear.strength);
              }},
      of);
}

}  // namespace

double label_counts::share_compared() const {
  if (documents == 0) return 0;
  return static_cast<double>(documents_compared) / static_cast<double>(documents);
}

label_counts count_labels(datasets::dataset const& train) {
  datasets::expect_labels(train, "learn from");
  label_counts counts;
  counts.documents = train.size();
  counts.queries = train.queries.size();
  counts.features = datasets::listed_features(train).size();
  for (datasets::query_group const& q : train.queries) {
    auto const labels = std::span(train.labels).subspan(q.begin, q.size());
    for (auto const label : labels) counts.relevant += label > 0 ? 1 : 0;
    if (std::all_of(labels.begin(), labels.end(), [&](auto y) { return y == labels.front(); }))
      continue;
    ++counts.queries_with_pairs;
    counts.documents_compared += labels.size();
  }
  return counts;
}

std::span<recommended_case const> recommended_cases() {
  static std::vector<recommended_case> const rows{
      {"many-labels",
       2000,
       50,
       0.5,
       most_items,
       {scorecard_options{card_loss::pair, 1e-4, 0.1}, scoring_options{}, linear_options{}},
       "so many lists carry the comparison of pairs, under weak penalties, and three kinds"},
      {"few-labels",
       0,
       0,
       0,
       most_items,
       {scorecard_options{card_loss::point, 0.1, 10}, scoring_options{}},
       "labels are few, or stand alone in their queries: they are learned one by one, under strong "
       "penalties"},
      {"many-features",
       0,
       0,
       0,
       0,
       {scorecard_options{card_loss::pair, 0.1, 10}, scoring_options{}},
       "there are too many features for the linear systems of the loss point and of linear"}};
  return rows;
}

recommendation recommend(label_counts const& labels,
                         datasets::discretizer_options const& discretizer,
                         std::shared_ptr<datasets::discretizer const> const& cuts) {
  std::size_t const items = items_of(labels, discretizer, cuts.get());
  auto const rows = recommended_cases();
  auto const row = std::find_if(rows.begin(), rows.end() - 1, [&](recommended_case const& one) {
    return holds(one, labels, items);
  });
  recommendation result;
  result.name = row->name;
  for (member_options const& member : row->members) {
    std::visit(visitor{[&](scoring_options const& rules) {
                         result.recipes.emplace_back(rules_recipe{discretizer, cuts, rules});
                       },
                       [&](scorecard_options const& card) {
                         result.recipes.emplace_back(scorecard_recipe{discretizer, cuts, card});
                       },
                       [&](linear_options linear) {
                         linear.missing = discretizer.missing;
                         linear.unlisted = discretizer.unlisted;
                         result.recipes.emplace_back(linear_recipe{linear});
                       }},
               member);
    result.members += fmt::format("{}{}", result.members.empty() ? "" : ", ", words_of(member));
  }
  result.reason = fmt::format(
      "{}; {} of {} with documents of different labels, {:.0f} % of the documents: {} ({})",
      counted(labels.documents, "labelled document"), labels.queries_with_pairs,
      counted(labels.queries, "query", "queries"), 100 * labels.share_compared(), row->why,
      evidence);
  return result;
}

nlohmann::ordered_json to_json(recommendation const& of, label_counts const& labels) {
  nlohmann::ordered_json json{{"name", of.name},
                              {"reason", of.reason},
                              {"labels",
                               {{"documents", labels.documents},
                                {"relevant", labels.relevant},
                                {"queries", labels.queries},
                                {"queries_with_pairs", labels.queries_with_pairs},
                                {"documents_compared", labels.documents_compared},
                                {"features", labels.features}}},
                              {"members", nlohmann::ordered_json::array()}};
  for (recipe const& one : of.recipes) {
    nlohmann::ordered_json& member = json["members"].emplace_back();
    member["kind"] = member_kind_names()[one.index()];
    member.update(
        std::visit(visitor{[](rules_recipe const& rules) { return to_json(rules.scoring); },
                           [](auto const& other) { return to_json(other.options); }},
                   one));
  }
  return json;
}

}  // namespace rulerank::l2r
