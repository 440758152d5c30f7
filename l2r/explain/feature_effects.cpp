#include "l2r/explain/explanation.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

// Scores of every kind of member as sums over features, in the unit of the combined score.
namespace rulerank::inline v0::l2r {

namespace {

/// A feature, and of a pair its second one.
using feature_key = std::pair<std::uint32_t, std::optional<std::uint32_t>>;

/// Sums over features that several members share.
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

score_effects explainer::effects(context const& ctx, std::size_t d) const {
  model_explanation const whole = explain(ctx, d, 0);
  score_effects result{whole.score, whole.rank, 0, {}};
  effect_sums sums(members_.size());
  for (std::size_t k = 0; k < members_.size(); ++k) {
    member_explanation const& one = whole.members[k];
    double unit = 1;  // of the member's own scores in the combined one
    if (members_.size() > 1) {
      unit = one.deviation > 0 ? 1 / (one.deviation * static_cast<double>(members_.size())) : 0;
      result.base -= one.mean * unit;
    }
    if (auto const* const sum = std::get_if<sum_explanation>(&one.why)) {
      for (score_term const& term : sum->terms)
        sums.add({term.feature, term.partner}, k, term.adds * unit);
      continue;
    }
    auto const& rules = std::get<explanation>(one.why);
    result.base += rules.mean_label * unit;
    std::vector<datasets::item_range> const items = ranges(k);
    for (datasets::item_range const& item : items) sums.add({item.feature, {}}, k, 0);
    exact_integer const over = rules.denominator * rules.training * rules.items.split;
    for (item_part const& part : rules.items.items)
      sums.add({items[part.item].feature, {}}, k, quotient(part.moved, over) * unit);
  }
  result.features = sums.take();
  return result;
}

}  // namespace rulerank::l2r
