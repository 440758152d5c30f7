#include "core/random.hpp"
#include "datasets/discretizer/cut_points.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::uint64_t most_folds = 10;

/// One fold: training and held-out documents, both over all distinct values.
struct fold {
  value_counts train;                   ///< the values of the training documents
  std::vector<std::uint64_t> held_out;  ///< [K + 1] held-out documents with smaller values
};

std::vector<fold> draw_folds(value_counts const& counts, std::uint64_t seed) {
  std::uint64_t const n = counts.total();
  std::uint64_t const folds = std::min(most_folds, n);
  std::vector<std::uint8_t> fold_of(n);
  for (std::uint64_t i = 0; i < n; ++i) fold_of[i] = static_cast<std::uint8_t>(i % folds);
  random_engine engine(seed);
  shuffle(std::span(fold_of), engine);

  std::vector<fold> result(folds);
  std::vector<std::uint64_t> held(folds);
  for (std::size_t v = 0; v < counts.distinct(); ++v) {
    std::fill(held.begin(), held.end(), 0);
    for (std::uint64_t i = counts.before[v]; i < counts.before[v + 1]; ++i) ++held[fold_of[i]];
    std::uint64_t const all = counts.before[v + 1] - counts.before[v];
    for (std::size_t f = 0; f < folds; ++f) {
      if (v == 0) result[f].held_out.push_back(0);
      result[f].held_out.push_back(result[f].held_out.back() + held[f]);
      if (held[f] == all) continue;
      result[f].train.values.push_back(counts.values[v]);
      result[f].train.before.push_back(result[f].train.before.back() + all - held[f]);
    }
  }
  return result;
}

std::uint64_t documents_below(std::vector<double> const& values,
                              std::vector<std::uint64_t> const& before, double cut) {
  auto const at = std::lower_bound(values.begin(), values.end(), cut);
  return before[static_cast<std::size_t>(at - values.begin())];
}

/// Returns the log-likelihood of the held-out documents of a fold, under the bins of [from, to]
/// that `cuts` (ascending) define.
double held_out_log_likelihood(fold const& part, std::vector<double> const& values,
                               std::span<double const> cuts, double from, double to) {
  double const total = static_cast<double>(part.train.total()) + 1;
  double sum = 0;
  double low = from;
  std::uint64_t train_below = 0, held_below = 0;
  for (std::size_t b = 0; b <= cuts.size(); ++b) {
    bool const last = b == cuts.size();
    double const high = last ? to : cuts[b];
    std::uint64_t const train =
        last ? part.train.total() : documents_below(part.train.values, part.train.before, high);
    std::uint64_t const held =
        last ? part.held_out.back() : documents_below(values, part.held_out, high);
    if (held > held_below) {
      double const width = high - low;
      double const share = width / (to - from);
      double const density = (static_cast<double>(train - train_below) + share) / (total * width);
      sum += static_cast<double>(held - held_below) * std::log(density);
    }
    low = high;
    train_below = train;
    held_below = held;
  }
  return sum;
}

}  // namespace

int cross_validated_bins(binning method, value_counts const& feature, std::uint64_t seed) {
  if (feature.distinct() < 2) return 2;
  scaled_counts const other = rescale(feature);
  value_counts const& counts = other.exponent == 0 ? feature : other.counts;
  tube_sequence const whole = grow_tube(counts, 0);

  std::vector<double> score(static_cast<std::size_t>(most_cross_validated_bins) + 1);
  for (fold const& part : draw_folds(counts, seed)) {
    std::vector<double> grown;
    bool const can_grow = part.train.distinct() >= 2;
    if (method == binning::tube && can_grow)
      grown = grow_tube(part.train, most_cross_validated_bins - 1).cuts;
    std::vector<double> cuts;
    for (int bins = 2; bins <= most_cross_validated_bins; ++bins) {
      if (method != binning::tube) {
        cuts = cut_points(method, bins, part.train);
      } else if (std::size_t const made = static_cast<std::size_t>(bins) - 1;
                 made <= grown.size()) {
        double const cut = grown[made - 1];
        cuts.insert(std::upper_bound(cuts.begin(), cuts.end(), cut), cut);
      }
      score[static_cast<std::size_t>(bins)] +=
          held_out_log_likelihood(part, counts.values, cuts, whole.from, whole.to);
    }
  }
  std::size_t best = 2;
  for (std::size_t bins = 3; bins < score.size(); ++bins)
    if (score[bins] > score[best] + 1e-9) best = bins;
  return static_cast<int>(best);
}

}  // namespace rulerank::datasets
