#include "knn/sparse/classification.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank::knn {

voting voting_from(std::string_view name) {
  if (name == "majority") return voting::majority;
  if (name == "similarity") return voting::similarity;
  throw usage_error(fmt::format("found votes '{}', expected majority or similarity", name));
}

std::vector<std::uint32_t> classify(neighbours const& found, similarity metric,
                                    std::span<std::uint32_t const> class_of, voting how) {
  std::size_t const queries = found.k == 0 ? 0 : found.document.size() / found.k;
  std::uint32_t classes = 0;
  for (std::uint32_t const c : class_of)
    if (c != no_class) classes = std::max(classes, c + 1);
  std::vector<std::uint32_t> winners(queries);
  std::vector<double> votes(classes);
  for (std::size_t q = 0; q < queries; ++q) {
    std::fill(votes.begin(), votes.end(), 0);
    for (std::size_t i = q * found.k; i < (q + 1) * found.k; ++i) {
      std::uint32_t const c = class_of[found.document[i]];
      if (c == no_class) continue;
      double const near = metric == similarity::l2 ? 1 / (1 + found.score[i]) : found.score[i];
      votes[c] += how == voting::majority ? 1 : near;
    }
    // Nearest first, so that the first class with the most votes is the nearest one's.
    std::uint32_t best = no_class;
    for (std::size_t i = q * found.k; i < (q + 1) * found.k; ++i)
      if (std::uint32_t const c = class_of[found.document[i]];
          c != no_class && (best == no_class || votes[c] > votes[best]))
        best = c;
    winners[q] = best;
  }
  return winners;
}

classification_quality quality_of(std::span<std::uint32_t const> truth,
                                  std::span<std::uint32_t const> given) {
  if (truth.size() != given.size())
    throw usage_error(fmt::format("found {} classes, expected {}", given.size(), truth.size()));
  classification_quality quality;
  std::uint32_t classes = 0;
  for (auto const all : {truth, given})
    for (std::uint32_t const c : all)
      if (c != no_class) classes = std::max(classes, c + 1);
  std::vector<double> right(classes), is(classes), said(classes);
  for (std::size_t q = 0; q < truth.size(); ++q) {
    if (truth[q] == no_class) continue;
    ++quality.queries;
    ++is[truth[q]];
    if (given[q] != no_class) ++said[given[q]];
    if (truth[q] == given[q]) ++right[truth[q]];
  }
  if (quality.queries == 0) return quality;
  double all_right = 0, sum = 0, seen = 0;
  for (std::uint32_t c = 0; c < classes; ++c) {
    all_right += right[c];
    if (is[c] + said[c] == 0) continue;
    ++seen;
    sum += 2 * right[c] / (is[c] + said[c]);
  }
  quality.accuracy = quality.micro_f1 = all_right / static_cast<double>(quality.queries);
  quality.macro_f1 = sum / seen;
  return quality;
}

}  // namespace rulerank::knn
