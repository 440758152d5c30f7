#include "learners/disagreement.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace rulerank::inline v0::learners {

namespace {

std::vector<std::size_t> ascending(std::span<double const> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  return order;
}

/// Counts over the indices 0..n - 1 with fast prefix sums (Fenwick 1994).
class prefix_counts {
 public:
  explicit prefix_counts(std::size_t n) : counts_(n + 1) {}
  void add(std::size_t index) {
    for (std::size_t i = index + 1; i < counts_.size(); i += i & (~i + 1)) ++counts_[i];
  }
  /// The count of indices below `end`.
  std::uint64_t below(std::size_t end) const {
    std::uint64_t sum = 0;
    for (std::size_t i = end; i > 0; i -= i & (~i + 1)) sum += counts_[i];
    return sum;
  }

 private:
  std::vector<std::uint64_t> counts_;
};

/// Adds for each document the number of documents that the two scores order oppositely.
void add_discordant(std::span<double const> first, std::span<double const> second,
                    std::vector<std::uint64_t>& sums) {
  std::size_t const n = first.size();
  std::vector<std::size_t> const by_first = ascending(first), by_second = ascending(second);
  // For each document, the numbers of `second` scores below its own, and not above it.
  std::vector<std::size_t> below(n), through(n);
  for (std::size_t i = 0, j = 0; i < n; i = j) {
    while (j < n && second[by_second[j]] == second[by_second[i]]) ++j;
    for (std::size_t k = i; k < j; ++k) {
      below[by_second[k]] = i;
      through[by_second[k]] = j;
    }
  }
  prefix_counts lower(n);  // documents with lower `first` scores, by index in `second`
  for (std::size_t i = 0, j = 0; i < n; i = j) {
    while (j < n && first[by_first[j]] == first[by_first[i]]) ++j;
    for (std::size_t k = i; k < j; ++k) {
      std::size_t const d = by_first[k];
      sums[d] += i - lower.below(through[d]);  // lower in `first`, higher in `second`
    }
    for (std::size_t k = i; k < j; ++k) lower.add(below[by_first[k]]);
  }
  prefix_counts higher(n);
  for (std::size_t j = n, i = n; j > 0; j = i) {
    while (i > 0 && first[by_first[i - 1]] == first[by_first[j - 1]]) --i;
    for (std::size_t k = i; k < j; ++k) {
      std::size_t const d = by_first[k];
      sums[d] += higher.below(below[d]);  // higher in `first`, lower in `second`
    }
    for (std::size_t k = i; k < j; ++k) higher.add(below[by_first[k]]);
  }
}

}  // namespace

std::vector<std::uint64_t> disagreements(std::span<std::span<double const> const> scores) {
  std::vector<std::uint64_t> sums(scores.empty() ? 0 : scores.front().size());
  for (std::size_t a = 0; a < scores.size(); ++a)
    for (std::size_t b = a + 1; b < scores.size(); ++b) add_discordant(scores[a], scores[b], sums);
  return sums;
}

std::vector<double> margins(std::span<double const> scores) {
  std::vector<double> gaps(scores.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> const order = ascending(scores);
  for (std::size_t i = 1; i < order.size(); ++i) {
    double const gap = scores[order[i]] - scores[order[i - 1]];
    gaps[order[i]] = std::min(gaps[order[i]], gap);
    gaps[order[i - 1]] = std::min(gaps[order[i - 1]], gap);
  }
  return gaps;
}

}  // namespace rulerank::learners
