#include "l2r/export/point_tree.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

/// Adds the tree of the bins [first, last]; returns its root.
std::size_t add_bins(std::vector<point_node>& nodes, additive_feature const& feature,
                     std::size_t first, std::size_t last) {
  std::size_t const root = nodes.size();
  if (first == last) {
    nodes.push_back({true, feature.points[first]});
    return root;
  }
  std::size_t const middle = (first + last) / 2;
  nodes.push_back({false, feature.cuts[middle]});
  std::size_t const left = add_bins(nodes, feature, first, middle);
  std::size_t const right = add_bins(nodes, feature, middle + 1, last);
  nodes[root].left = left;
  nodes[root].right = right;
  return root;
}

}  // namespace

std::vector<point_node> tree_of(additive_feature const& feature, double largest) {
  std::vector<point_node> nodes;
  bool const splits_missing = feature.missing != feature.points.back();
  if (splits_missing) nodes.push_back({false, largest});
  std::size_t const bins = add_bins(nodes, feature, 0, feature.cuts.size());
  if (!splits_missing) return nodes;
  nodes.front().left = bins;
  nodes.front().right = nodes.size();
  nodes.push_back({true, feature.missing});
  return nodes;
}

namespace {

/// Rounds the cuts to float32, as values will be.
void round_cuts(additive_feature& feature, std::string_view format) {
  double before = -std::numeric_limits<double>::infinity();
  for (double& cut : feature.cuts) {
    auto const rounded = static_cast<double>(static_cast<float>(cut));
    if (rounded <= before || std::abs(rounded) >= std::numeric_limits<float>::max())
      throw usage_error(fmt::format(
          "found the cut {} of {}, which float32 does not distinguish from {}, and {} computes in "
          "float32; expected other cuts (rulerank inspect --format card, fit --card), or a format "
          "that computes in double",
          cut, feature.name, std::isinf(before) ? "infinity" : fmt::format("{}", before), format));
    before = cut = rounded;
  }
}

void expect_whole_sums(additive_form const& form, std::string_view format) {
  double largest = 0;
  bool whole = true;
  for (additive_feature const& one : form.features) {
    double most = std::abs(one.missing);
    whole = whole && one.missing == std::floor(one.missing);
    for (double const points : one.points) {
      whole = whole && points == std::floor(points);
      most = std::max(most, std::abs(points));
    }
    largest += most;
  }
  if (!whole || largest >= 0x1p24)
    throw usage_error(
        fmt::format("found {}, and {} computes in float32; expected a card, whose points are whole "
                    "and sum to less than 16777216, or a format that computes in double",
                    whole ? fmt::format("scores of up to {}", largest)
                          : std::string("points that are no whole numbers"),
                    format));
}

}  // namespace

void make_single(additive_form& form, std::string_view format) {
  expect_whole_sums(form, format);
  for (additive_feature& one : form.features) round_cuts(one, format);
  form.single = true;
}

}  // namespace rulerank::l2r
