#include "l2r/explain/inspection.hpp"
#include "l2r/rules/rule_walk.hpp"

#include <algorithm>
#include <cmath>

// Inspection of scorecard, linear and joint members. Their scores are sums over features, so the
// stored counts or mean contributions suffice.
namespace rulerank::inline v0::l2r {

namespace {

void sort_by_moved(std::vector<feature_part>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](feature_part const& a, feature_part const& b) { return a.moved > b.moved; });
}

}  // namespace

card_inspection inspect(scorecard_member const& member) {
  card_inspection found;
  scorecard const& card = member.card;
  if (member.item_documents.size() != card.points.size() || member.training_documents == 0)
    return found;
  auto const documents = static_cast<int128>(member.training_documents);
  auto const sum_of = [&](std::size_t f) {
    int128 sum = 0;
    for (rules::item x = card.item_begin[f]; x < card.item_begin[f + 1]; ++x)
      sum += static_cast<int128>(card.points[x]) * member.item_documents[x];
    return sum;
  };
  auto const mean_of = [&](int128 sum) {
    return std::ldexp(static_cast<double>(sum) / member.training_documents, -card_bits);
  };
  int128 of_all = 0;
  for (std::size_t f = 0; f < card.features.size(); ++f) of_all += sum_of(f);
  for (std::size_t f = 0; f < card.features.size(); ++f) {
    int128 const sum = sum_of(f);
    auto const distance = [&](int128 points) {
      int128 const difference = points * documents - sum;
      return difference < 0 ? -difference : difference;
    };
    partial_dependence dependence{card.features[f], {}};
    int128 moved = 0;
    std::uint32_t without = member.training_documents;
    for (rules::item x = card.item_begin[f]; x < card.item_begin[f + 1]; ++x) {
      moved += distance(card.points[x]) * member.item_documents[x];
      without -= member.item_documents[x];
      dependence.bins.push_back(
          {x, member.item_documents[x], mean_of(of_all - sum + card.points[x] * documents)});
    }
    moved += distance(0) * without;
    double const n = member.training_documents;
    found.features.push_back(
        {card.features[f], std::ldexp(static_cast<double>(moved) / n / n, -card_bits)});
    found.dependence.push_back(std::move(dependence));
  }
  sort_by_moved(found.features);
  return found;
}

std::vector<feature_part> inspect(linear_member const& linear) {
  std::vector<feature_part> parts;
  for (feature_weight const& one : linear.weights.features) {
    if (one.moved < 0) return {};
    parts.push_back({one.feature, value_of_weight(one.moved)});
  }
  sort_by_moved(parts);
  return parts;
}

std::vector<feature_part> inspect(joint_member const& joint) {
  std::vector<feature_part> parts;
  for (std::size_t f = 0; f < joint.features.size(); ++f)
    parts.push_back({joint.features[f], value_of_weight(joint.moved.at(f))});
  sort_by_moved(parts);
  return parts;
}

}  // namespace rulerank::l2r
