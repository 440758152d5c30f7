#include "l2r/model/recommended.hpp"

#include "core/error.hpp"
#include "l2r/linear/cholesky.hpp"
#include "l2r/model/options_json.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r {

namespace {

// The section that shows the evidence for the table.
constexpr std::string_view evidence = "docs/reference/components.md, Recommended members";

/// With fewer labels, cross-fitting cannot choose the ridge strength reliably.
constexpr std::size_t several_labels = 300;
/// From this many labels on, no tried combination was much better than the members for several
/// labels.
constexpr std::size_t measured_labels = 470;

template <class... Cases>
struct visitor : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
visitor(Cases...) -> visitor<Cases...>;

/// Upper bound on the number of the features' items.
std::size_t items_of(label_counts const& labels, int bins, datasets::discretizer const* cuts) {
  if (cuts == nullptr)
    return labels.features * (static_cast<std::size_t>(bins) + 1);  // one for missing values
  std::size_t items = 0;
  for (datasets::feature_cuts const& f : cuts->features) items += f.cuts.size() + 2;
  return items;
}

bool holds(recommended_case const& row, label_counts const& labels,
           datasets::discretizer const* cuts) {
  return labels.documents >= row.least_documents &&
         (row.most_items == 0 || items_of(labels, row.bins, cuts) <= row.most_items);
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
  std::vector<std::size_t> const labelled = datasets::labelled_documents(train, "learn from");
  label_counts counts;
  counts.documents = labelled.size();
  counts.pool = train.size();
  counts.features = datasets::listed_features(train).size();
  for (std::size_t const d : labelled) counts.relevant += train.labels[d] > 0 ? 1 : 0;
  for (datasets::query_group const& q : datasets::subset_queries(train, labelled)) {
    ++counts.queries;
    auto const documents = std::span(labelled).subspan(q.begin, q.size());
    if (std::all_of(documents.begin(), documents.end(), [&](std::size_t d) {
          return train.labels[d] == train.labels[documents.front()];
        }))
      continue;
    ++counts.queries_with_pairs;
    counts.documents_compared += documents.size();
  }
  return counts;
}

namespace {

/// Measured in bench/results/members.
std::vector<recommended_case> table() {
  linear_options cross_fitted, strong;
  cross_fitted.strength = 0;
  strong.strength = 1000;
  scorecard_options const smooth{card_loss::point, 1e-3, 100};
  return {{"several-labels",
           measured_labels,
           most_unknowns,
           20,
           {smooth, cross_fitted},
           "with 470 labels or more and a known pool, none of 175 settings had more than .002 MAP "
           "above a smooth scorecard and linear together (mean of four data sets)",
           "with 470 labels or more and no pool, none of 175 settings had more than .003 MAP above "
           "a smooth scorecard and linear together (mean of four data sets)"},
          {"several-labels",
           several_labels,
           most_unknowns,
           20,
           {smooth, cross_fitted},
           "with a known pool, a smooth scorecard and linear together had .0021 MAP less than the "
           "best of 175 settings with 188 labels and .0012 less with 470 (mean of four data sets); "
           "nothing was measured in between",
           "without a pool, a smooth scorecard and linear together had .0060 MAP less than the "
           "best of 175 settings with 188 labels and .0027 less with 470 (mean of four data sets); "
           "nothing was measured in between"},
          {"few-labels",
           0,
           most_unknowns,
           20,
           {smooth, strong},
           "with 94 and 188 labels and a known pool, the most regularized of 175 settings were the "
           "best: a smooth scorecard and a linear member of great strength",
           "with 94 and 188 labels and a known pool, the most regularized of 175 settings were the "
           "best, which was not measured without a pool: a smooth scorecard and a linear member of "
           "great strength"},
          {"many-features",
           0,
           0,
           10,
           {scoring_options{}, scorecard_options{card_loss::pair, 1e-3, 10}},
           "the loss point and the kind linear cannot solve for this many features",
           "the loss point and the kind linear cannot solve for this many features"}};
}

}  // namespace

std::span<recommended_case const> recommended_cases() {
  static std::vector<recommended_case> const rows = table();
  return rows;
}

double seconds_to_solve(std::size_t unknowns) {
  auto const n = static_cast<double>(unknowns);
  return n * n * n / 3 / 1e10;
}

recommendation recommend(label_counts const& labels,
                         datasets::discretizer_options const& discretizer,
                         std::shared_ptr<datasets::discretizer const> const& cuts) {
  auto const rows = recommended_cases();
  auto const row = std::find_if(rows.begin(), rows.end() - 1, [&](recommended_case const& one) {
    return holds(one, labels, cuts.get());
  });
  datasets::discretizer_options how = discretizer;
  how.method = datasets::binning::frequency;
  how.bins = row->bins;
  recommendation result;
  result.name = row->name;
  for (member_options const& member : row->members) {
    std::visit(visitor{[&](scoring_options const& rules) {
                         result.recipes.emplace_back(rules_recipe{how, cuts, rules});
                       },
                       [&](scorecard_options const& card) {
                         if (card.loss == card_loss::point)
                           result.unknowns = items_of(labels, row->bins, cuts.get());
                         result.recipes.emplace_back(scorecard_recipe{how, cuts, card});
                       },
                       [&](linear_options linear) {
                         linear.missing = discretizer.missing;
                         linear.unlisted = discretizer.unlisted;
                         result.recipes.emplace_back(linear_recipe{linear});
                       }},
               member);
    result.members += fmt::format("{}{}", result.members.empty() ? "" : ", ", words_of(member));
  }
  if (cuts == nullptr)
    result.members += fmt::format("; cuts by {}, {} bins", datasets::name_of(how.method), how.bins);
  result.reason = fmt::format(
      "{}; {} of {} with documents of different labels, {:.0f} % of the documents: {} ({})",
      counted(labels.documents, "labelled document"), labels.queries_with_pairs,
      counted(labels.queries, "query", "queries"), 100 * labels.share_compared(),
      labels.knows_pool() ? row->why : row->why_without_pool, evidence);
  return result;
}

nlohmann::ordered_json to_json(recommendation const& of, label_counts const& labels) {
  nlohmann::ordered_json json{{"name", of.name},
                              {"reason", of.reason},
                              {"labels",
                               {{"documents", labels.documents},
                                {"pool", labels.pool},
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
