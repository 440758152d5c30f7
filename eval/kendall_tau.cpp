// tau: Kendall's tau-b of the query's scores and labels, in [-1, 1]: (concordant - discordant
// pairs) / sqrt(pairs not tied in score x pairs not tied in label). 0 if all scores or all labels
// are equal. Unjudged documents count as label 0. Independent of tie rule and max-docs: equal
// scores are ties.
#include "eval/measures.hpp"
#include "eval/ranking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace rulerank::inline v0::eval {

namespace {

using pair_of = std::pair<double, double>;

/// Sorts by label, ascending, and returns the number of inversions.
std::uint64_t inversions(std::vector<double>& labels) {
  std::vector<double> merged(labels.size());
  std::uint64_t count = 0;
  for (std::size_t width = 1; width < labels.size(); width *= 2) {
    for (std::size_t begin = 0; begin < labels.size(); begin += 2 * width) {
      std::size_t const middle = std::min(begin + width, labels.size());
      std::size_t const end = std::min(begin + 2 * width, labels.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t out = begin; out < end; ++out) {
        if (left < middle && (right == end || labels[left] <= labels[right])) {
          merged[out] = labels[left++];
        } else {
          count += middle - left;
          merged[out] = labels[right++];
        }
      }
    }
    labels.swap(merged);
  }
  return count;
}

/// The number of pairs of equal elements in a sorted range.
template <class Equal>
std::uint64_t tied_pairs(std::size_t n, Equal&& equal) {
  std::uint64_t pairs = 0;
  std::uint64_t run = 0;
  for (std::size_t i = 1; i < n; ++i) {
    run = equal(i - 1, i) ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

double kendall_tau_of(ranked_query const& query, conventions const&, std::size_t) {
  std::size_t const n = query.size();
  std::vector<pair_of> pairs(n);
  for (std::size_t i = 0; i < n; ++i) pairs[i] = {query.scores[i], std::max(query.labels[i], 0.0)};
  std::sort(pairs.begin(), pairs.end());
  std::vector<double> labels(n);
  for (std::size_t i = 0; i < n; ++i) labels[i] = pairs[i].second;
  std::uint64_t const both =
      tied_pairs(n, [&](std::size_t a, std::size_t b) { return pairs[a] == pairs[b]; });
  std::uint64_t const in_score =
      tied_pairs(n, [&](std::size_t a, std::size_t b) { return pairs[a].first == pairs[b].first; });
  std::uint64_t const discordant = inversions(labels);
  std::uint64_t const in_label =
      tied_pairs(n, [&](std::size_t a, std::size_t b) { return labels[a] == labels[b]; });
  std::uint64_t const all = n < 2 ? 0 : static_cast<std::uint64_t>(n) * (n - 1) / 2;
  if (in_score == all || in_label == all) return 0;
  auto const concordant = static_cast<double>(all - in_score - in_label + both - discordant);
  return (concordant - static_cast<double>(discordant)) /
         (std::sqrt(static_cast<double>(all - in_score)) *
          std::sqrt(static_cast<double>(all - in_label)));
}

constexpr std::array<std::string_view, 3> kendall_tau_aliases{"tau-b", "kendall", "kendall-tau"};

}  // namespace

constinit measure_definition const kendall_tau{
    {"tau", kendall_tau_aliases, measure_kind::cutoff::none,
     "Kendall's tau-b of scores against labels",
     "Kendall, The treatment of ties in ranking problems, Biometrika 33(3), 1945; counted as in "
     "Knight, JASA 61(314), 1966",
     measure_kind::mean::arithmetic, measure_kind::labels::order},
    kendall_tau_of};

}  // namespace rulerank::eval
