#include "l2r/model/input_columns.hpp"

#include "l2r/model/member_kind.hpp"

#include <algorithm>
#include <set>
#include <variant>

namespace rulerank::inline v0::l2r {

namespace {

/// The cuts of a member; null for a member of raw features.
datasets::discretizer const* member_cuts(model_member const& of) {
  return std::visit(
      []<class Member>(Member const& member) -> datasets::discretizer const* {
        if constexpr (requires { member.cuts; })
          return member.cuts.get();
        else
          return nullptr;
      },
      of);
}

/// The features that the members have cuts or weights of.
std::set<std::uint32_t> features_of(model const& of) {
  std::set<std::uint32_t> all;
  for (model_member const& member : of.members)
    if (auto const* const cuts = member_cuts(member)) {
      for (datasets::feature_cuts const& one : cuts->features) all.insert(one.feature);
    } else if (auto const* const linear = std::get_if<linear_member>(&member)) {
      for (feature_weight const& one : linear->weights.features) all.insert(one.feature);
    }
  return all;
}

}  // namespace

datasets::feature_names const& names_of(model const& of) {
  datasets::discretizer const* const cuts = member_cuts(of.members.front());
  return cuts != nullptr ? cuts->names : std::get<linear_member>(of.members.front()).weights.names;
}

input_columns columns_of(model const& of) {
  auto const features = features_of(of);
  std::uint32_t const first = features.empty() ? 1 : std::min(1U, *features.begin());
  std::uint32_t const last = features.empty() ? 0 : *features.rbegin();
  return {first,
          std::max({std::size_t{last} + 1 - first, names_of(of).size(), std::size_t{of.columns}})};
}

}  // namespace rulerank::l2r
