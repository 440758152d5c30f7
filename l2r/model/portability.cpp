#include "core/error.hpp"
#include "core/random.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/model/input_columns.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/model/scorer.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r {

namespace {

constexpr std::size_t documents_in_halves = 2'000;
constexpr std::size_t compared_in_half = 1'000;

bool reads_own_values(model_member const& of) {
  if (auto const* const linear = std::get_if<linear_member>(&of))
    return linear->weights.options.scale == linear_scale::pool;
  datasets::discretizer const* const cuts = cuts_of(of).get();
  return !std::holds_alternative<joint_member>(of) &&
         (cuts == nullptr || cuts->options.norm == datasets::normalization::none);
}

bool reads_own_values(recipe const& of) {
  if (auto const* const linear = std::get_if<linear_recipe>(&of))
    return linear->options.scale == linear_scale::pool;
  auto const norm = [](auto const& how) {
    if constexpr (requires { how.cuts; })
      return how.cuts != nullptr ? how.cuts->options.norm : how.discretizer.norm;
    else
      return datasets::normalization::none;
  };
  return !std::holds_alternative<joint_recipe>(of) &&
         std::visit(norm, of) == datasets::normalization::none;
}

/// Of `of_all` features `normalized` look normalized within queries. `which`: "its features" or
/// another.
portability portability_by(bool portable, std::size_t normalized, std::size_t of_all,
                           std::string_view which, std::string_view whose) {
  if (!portable)
    return {.portable = false,
            .words =
                "not portable: scores depend on the list of a query's documents, so a part of "
                "the list gets other scores"};
  if (normalized == 0) return {.words = "portable: scores depend on a document's own values alone"};
  return {
      .normalized_features = normalized,
      .words = fmt::format(
          "portable only where {} are: {} of the {} {} {}, and then a document's score depends on "
          "the other documents of its list",
          which, normalized, whose, counted(of_all, "feature"),
          normalized == 1 ? "looks normalized within its query"
                          : "look normalized within their query")};
}

/// The documents of random lists.
datasets::dataset random_lists(random_engine& engine, datasets::dataset const& documents) {
  std::vector<std::size_t> lists(documents.queries.size());
  std::iota(lists.begin(), lists.end(), std::size_t{0});
  shuffle(std::span(lists), engine);
  std::vector<std::size_t> chosen;
  for (std::size_t const q : lists) {
    datasets::query_group const& query = documents.queries[q];
    if (!chosen.empty() && chosen.size() + query.size() > documents_in_halves) continue;
    for (std::size_t d = query.begin; d < query.end; ++d) chosen.push_back(d);
  }
  return datasets::subset(documents, chosen);
}

/// Two random halves of each list, ascending within it.
std::array<std::vector<std::size_t>, 2> halves_of(random_engine& engine,
                                                  datasets::dataset const& lists) {
  std::array<std::vector<std::size_t>, 2> halves;
  for (datasets::query_group const& query : lists.queries) {
    std::vector<std::size_t> order(query.size());
    std::iota(order.begin(), order.end(), query.begin);
    shuffle(std::span(order), engine);
    auto const middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() + 1) / 2);
    std::sort(order.begin(), middle);
    std::sort(middle, order.end());
    halves[0].insert(halves[0].end(), order.begin(), middle);
    halves[1].insert(halves[1].end(), middle, order.end());
  }
  return halves;
}

/// Counts the pairs of documents whose order differs between two scorings, of the pairs that the
/// first one orders.
class changed_pairs {
 public:
  void add(std::span<double const> together, std::span<double const> alone) {
    std::size_t const step = (together.size() + compared_in_half - 1) / compared_in_half;
    for (std::size_t i = 0; i < together.size(); i += step)
      for (std::size_t j = 0; j < i; j += step) {
        if (together[i] == together[j]) continue;
        ++pairs_;
        bool const same = together[i] < together[j] ? alone[i] < alone[j] : alone[j] < alone[i];
        changed_ += same ? 0 : 1;
      }
  }
  double share() const {
    return pairs_ == 0 ? 0 : static_cast<double>(changed_) / static_cast<double>(pairs_);
  }

 private:
  std::size_t pairs_ = 0, changed_ = 0;
};

double changed_in_halves(context const& ctx, model const& of, datasets::dataset const& documents) {
  random_engine engine(ctx.seed);
  datasets::dataset const lists = random_lists(engine, documents);
  scorer const by(ctx, of);
  std::vector<double> const by_list = by.score(ctx, lists).scores;
  changed_pairs found;
  for (std::vector<std::size_t> const& half : halves_of(engine, lists)) {
    if (half.empty()) continue;
    datasets::dataset const part = datasets::subset(lists, half);
    std::vector<double> const alone = by.score(ctx, part).scores;
    std::vector<double> together;
    for (std::size_t const d : half) together.push_back(by_list[d]);
    for (datasets::query_group const& query : part.queries)
      found.add(std::span(together).subspan(query.begin, query.size()),
                std::span(alone).subspan(query.begin, query.size()));
  }
  return found.share();
}

}  // namespace

bool is_portable(model const& of) {
  return of.members.size() == 1 && reads_own_values(of.members.front());
}

bool is_portable(std::span<recipe const> recipes) {
  return recipes.empty() || (recipes.size() == 1 && reads_own_values(recipes.front()));
}

std::vector<std::uint32_t> list_normalized_features(model const& of,
                                                    datasets::dataset const& training) {
  if (!is_portable(of)) return {};
  std::vector<std::uint32_t> found;
  std::ranges::set_intersection(scored_features(of),
                                datasets::features_normalized_within_queries(training),
                                std::back_inserter(found));
  return found;
}

portability portability_of(model const& of) {
  return portability_by(is_portable(of), of.list_normalized.size(), scored_features(of).size(),
                        "its features", "model's");
}

portability portability_of(std::span<recipe const> recipes, datasets::dataset const& training) {
  bool const portable = is_portable(recipes);
  return portability_by(
      portable, portable ? datasets::features_normalized_within_queries(training).size() : 0,
      datasets::listed_features(training).size(), "the features", "training documents'");
}

portability measured_portability(context const& ctx, model const& of,
                                 datasets::dataset const& documents) {
  portability found = portability_of(of);
  if (found.portable) return found;
  found.changed_in_halves = changed_in_halves(ctx, of, documents);
  found.words += fmt::format(
      "; if each half of a list is scored alone, {:.1f} % of the pairs of its documents change "
      "their order",
      100 * *found.changed_in_halves);
  return found;
}

nlohmann::ordered_json to_json(portability const& of) {
  nlohmann::ordered_json json{{"portable", of.portable},
                              {"features_normalized_within_queries", of.normalized_features}};
  if (of.changed_in_halves) json["order_changed_in_halves"] = *of.changed_in_halves;
  return json;
}

}  // namespace rulerank::l2r
