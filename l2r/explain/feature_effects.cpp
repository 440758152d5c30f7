#include "core/parallel.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/rules/rule_walk.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

// Scores of all member kinds as sums over features, in units of the combined score.
namespace rulerank::inline v0::l2r {

namespace {

/// A feature, or a pair of features.
using feature_key = std::pair<std::uint32_t, std::optional<std::uint32_t>>;

/// Sums the effects of several members by feature.
class effect_sums {
 public:
  explicit effect_sums(std::size_t members) : members_(members) {}

  void add(feature_key const& key, std::size_t member, double value) {
    std::vector<double>& own = sums_.try_emplace(key, members_).first->second;
    own[member] += value;
  }
  std::vector<feature_effect> take() {
    std::vector<feature_effect> all;
    for (auto& [key, by_member] : sums_) {
      double adds = 0;
      for (double const one : by_member) adds += one;
      all.push_back({key.first, key.second, adds, std::move(by_member)});
    }
    return all;
  }

 private:
  std::size_t members_;
  std::map<feature_key, std::vector<double>> sums_;
};

}  // namespace

std::vector<std::int64_t> rounded_to_sum(std::span<double const> numbers, double unit,
                                         std::int64_t sum) {
  std::vector<std::int64_t> rounded;
  std::vector<double> left;
  std::int64_t missing = sum;
  for (double const number : numbers) {
    double const units = number / unit;
    double const below = std::floor(units);
    rounded.push_back(static_cast<std::int64_t>(below));
    left.push_back(units - below);
    missing -= rounded.back();
  }
  if (rounded.empty()) return rounded;
  auto const size = static_cast<std::int64_t>(rounded.size());
  std::int64_t const of_each = missing >= 0 ? missing / size : -((size - 1 - missing) / size);
  for (std::int64_t& one : rounded) one += of_each;
  std::vector<std::size_t> order(rounded.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return left[i]; });
  for (std::int64_t i = 0; i < missing - of_each * size; ++i)
    ++rounded[order[static_cast<std::size_t>(i)]];
  return rounded;
}

int digits_of(std::span<score_effects const> all) {
  auto const is_whole = [](double value) { return value == std::floor(value); };
  for (score_effects const& one : all)
    if (!is_whole(one.base) || !std::ranges::all_of(one.features, is_whole, &feature_effect::adds))
      return 6;
  return 0;
}

shown_effects shown(score_effects const& of, int digits) {
  double const unit = std::pow(10, -digits);
  shown_effects result{std::llround(of.score / unit), 0, {}, {}, {}};
  std::vector<std::vector<double>> columns(of.base_by_member.size());
  std::vector<double> parts;  // [members]
  for (std::size_t k = 0; k < columns.size(); ++k) {
    result.base_by_member.push_back(std::llround(of.base_by_member[k] / unit));
    result.base += result.base_by_member.back();
    for (feature_effect const& one : of.features) columns[k].push_back(one.by_member[k]);
    parts.push_back(std::accumulate(columns[k].begin(), columns[k].end(), of.base_by_member[k]));
  }
  auto const shown_parts = rounded_to_sum(parts, unit, result.score);
  result.adds.resize(of.features.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    result.by_member.push_back(
        rounded_to_sum(columns[k], unit, shown_parts[k] - result.base_by_member[k]));
    for (std::size_t f = 0; f < result.adds.size(); ++f) result.adds[f] += result.by_member[k][f];
  }
  return result;
}

namespace {

score_effects effects_of(model_explanation const& why,
                         std::vector<std::vector<datasets::item_range>> const& ranges) {
  std::size_t const members = why.members.size();
  score_effects result{why.score, why.rank, 0, std::vector<double>(members), {}};
  effect_sums sums(members);
  for (std::size_t k = 0; k < members; ++k) {
    member_explanation const& one = why.members[k];
    double& base = result.base_by_member[k];
    double unit = 1;  // factor of the member's own scores in the combined score
    if (members > 1) {
      unit = one.deviation > 0 ? 1 / (one.deviation * static_cast<double>(members)) : 0;
      base -= one.mean * unit;
    }
    if (auto const* const sum = std::get_if<sum_explanation>(&one.why)) {
      for (score_term const& term : sum->terms)
        sums.add({term.feature, term.partner}, k, term.adds * unit);
    } else {
      auto const& rules = std::get<explanation>(one.why);
      base += rules.mean_label * unit;
      for (datasets::item_range const& item : ranges[k]) sums.add({item.feature, {}}, k, 0);
      exact_integer const over = rules.denominator * rules.training * rules.items.split;
      for (item_part const& part : rules.items.items)
        sums.add({ranges[k][part.item].feature, {}}, k, quotient(part.moved, over) * unit);
    }
    result.base += base;
  }
  result.features = sums.take();
  return result;
}

}  // namespace

std::vector<std::vector<datasets::item_range>> explainer::all_ranges() const {
  std::vector<std::vector<datasets::item_range>> all;
  for (std::size_t k = 0; k < members_.size(); ++k) all.push_back(ranges(k));
  return all;
}

score_effects explainer::effects(model_explanation const& why) const {
  return effects_of(why, all_ranges());
}

score_effects explainer::effects(context const& ctx, std::size_t d) const {
  return effects(explain(ctx, d, 0));
}

std::vector<score_effects> explainer::effects(context const& ctx) const {
  expect_explainable(ctx);
  auto const ranges = all_ranges();
  context const alone = one_thread(ctx);
  std::vector<score_effects> all(scores_.size());
  parallel_for(ctx, all.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d) all[d] = effects_of(explained(alone, d, 0), ranges);
  });
  return all;
}

}  // namespace rulerank::l2r
