#pragma once
// Reference implementation for tests and benches: cuts by their definition
// (docs/reference/definitions.md, Items); every candidate counts the documents again.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace rulerank::inline v0::datasets::reference {

inline double tube_log_likelihood(double n, double total, double width) {
  return n == 0 ? 0 : n * std::log(n / (total * width));
}

/// `values` without NaN, in a range far from the limits of double's exponent.
inline std::vector<double> tube_cuts(std::size_t bins, std::vector<double> const& values) {
  std::vector<double> distinct = values;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() < 2) return {};
  double const range = distinct.back() - distinct.front();
  double gap = range;
  for (std::size_t i = 1; i < distinct.size(); ++i)
    gap = std::min(gap, distinct[i] - distinct[i - 1]);
  double const e = std::min(std::max(gap / 2, 1e-7 * range), 1e-4 * range);
  double const total = static_cast<double>(values.size());

  auto const count = [&](double from, double to) {
    return static_cast<double>(
        std::count_if(values.begin(), values.end(), [&](double x) { return from <= x && x < to; }));
  };
  struct best_cut {
    double gain = 0, cut = 0;
  };
  auto const find = [&](double from, double to) {
    best_cut best;
    double const whole = tube_log_likelihood(count(from, to), total, to - from);
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      double const v = distinct[i];
      if (!(from <= v && v < to)) continue;
      double low = v - e, high = v + e;
      if (i > 0) low = std::max(low, (distinct[i - 1] + v) / 2);
      if (i + 1 < distinct.size()) high = std::min(high, (v + distinct[i + 1]) / 2);
      for (double const cut : {low, high}) {
        if (!(from < cut && cut < to)) continue;
        double const gain = tube_log_likelihood(count(from, cut), total, cut - from) +
                            tube_log_likelihood(count(cut, to), total, to - cut) - whole;
        if (gain > best.gain + 1e-9) best = {gain, cut};
      }
    }
    return best;
  };

  std::vector<double> edges{distinct.front() - e, distinct.back() + e};
  while (edges.size() - 1 < bins) {
    best_cut chosen;
    double documents = 0;
    for (std::size_t b = 0; b + 1 < edges.size(); ++b) {  // ascending: the smaller cut is kept
      best_cut const found = find(edges[b], edges[b + 1]);
      double const here = count(edges[b], edges[b + 1]);
      if (found.gain <= 1e-9) continue;
      if (found.gain > chosen.gain || (found.gain == chosen.gain && here > documents)) {
        chosen = found;
        documents = here;
      }
    }
    if (chosen.gain == 0) break;
    edges.insert(std::upper_bound(edges.begin(), edges.end(), chosen.cut), chosen.cut);
  }
  return {edges.begin() + 1, edges.end() - 1};
}

inline std::vector<double> width_cuts(int bins, std::vector<double> const& values) {
  auto const [lo, hi] = std::minmax_element(values.begin(), values.end());
  std::vector<double> cuts;
  if (*lo < *hi)
    for (int i = 1; i < bins; ++i) cuts.push_back(*lo + ((*hi - *lo) * i) / bins);
  return cuts;
}

inline std::vector<double> frequency_cuts(std::size_t bins, std::vector<double> v) {
  std::sort(v.begin(), v.end());
  std::vector<double> cuts;
  for (std::size_t i = 1; i < bins; ++i) {
    double const cut = v[v.size() * i / bins];
    if (cut > v[0] && (cuts.empty() || cut > cuts.back())) cuts.push_back(cut);
  }
  return cuts;
}

}  // namespace rulerank::datasets::reference
