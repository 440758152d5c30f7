#include "knn/classification.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

voting voting_from(std::string_view name) {
  constexpr named_values<voting, 2> votes{
      {{"majority", voting::majority}, {"similarity", voting::similarity}}};
  return value_named<voting>(votes, name, "found votes", name_list::alternatives);
}

std::vector<std::uint32_t> classify(neighbours const& found,
                                    std::span<std::uint32_t const> class_of, voting how) {
  std::uint32_t classes = 0;
  for (std::uint32_t const c : class_of)
    if (c != no_class) classes = std::max(classes, c + 1);
  bool const distances = found.order == value_order::smaller_is_nearer;
  std::vector<std::uint32_t> winners(found.queries);
  std::vector<double> votes(classes);
  for (std::size_t q = 0; q < found.queries; ++q) {
    auto const ids = found.ids_of(q);
    auto const values = found.values_of(q);
    auto const class_at = [&](std::size_t i) {
      return ids[i] == no_neighbour ? no_class : class_of[ids[i]];
    };
    std::fill(votes.begin(), votes.end(), 0);
    for (std::size_t i = 0; i < found.k; ++i) {
      std::uint32_t const c = class_at(i);
      if (c == no_class) continue;
      double const weight = distances ? 1 / (1 + values[i]) : values[i];
      votes[c] += how == voting::majority ? 1 : weight;
    }
    // Visits the nearest first, so that the first class with the most votes is that of the nearest
    // neighbour.
    std::uint32_t best = no_class;
    for (std::size_t i = 0; i < found.k; ++i)
      if (std::uint32_t const c = class_at(i);
          c != no_class && (best == no_class || votes[c] > votes[best]))
        best = c;
    winners[q] = best;
  }
  return winners;
}

classification_quality quality_of(std::span<std::uint32_t const> truth,
                                  std::span<std::uint32_t const> given) {
  if (truth.size() != given.size())
    throw usage_error(fmt::format("found {}, expected {}",
                                  counted(given.size(), "class", "classes"), truth.size()));
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
