#include "l2r/model/input_columns.hpp"

#include <algorithm>
#include <variant>

namespace rulerank::inline v0::l2r {

namespace {

/// The features that the members have cuts or weights of.
std::set<std::uint32_t> features_of(model const& of) {
  std::set<std::uint32_t> all;
  for (model_member const& member : of.members)
    if (auto const& cuts = cuts_of(member)) {
      for (datasets::feature_cuts const& one : cuts->features) all.insert(one.feature);
    } else if (auto const* const linear = std::get_if<linear_member>(&member)) {
      for (feature_weight const& one : linear->weights.features) all.insert(one.feature);
    }
  return all;
}

}  // namespace

std::set<std::uint32_t> scored_features(model const& of) {
  auto const* const card = std::get_if<scorecard_member>(&of.members.front());
  if (card == nullptr || of.members.size() > 1) return features_of(of);
  return {card->card.features.begin(), card->card.features.end()};
}

input_columns columns_of(model const& of) {
  auto const features = features_of(of);
  std::uint32_t const first = features.empty() ? 1 : std::min(1U, *features.begin());
  std::uint32_t const last = features.empty() ? 0 : *features.rbegin();
  return {first,
          std::max({std::size_t{last} + 1 - first, names_of(of).size(), std::size_t{of.columns}})};
}

}  // namespace rulerank::l2r
