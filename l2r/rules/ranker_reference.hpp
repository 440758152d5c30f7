#pragma once
// Slow, obviously correct code straight from docs/reference/definitions.md, Ranking; for tests and
// benchmarks.

#include "l2r/rules/options.hpp"
#include "rules/rules_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace rulerank::inline v0::l2r::reference {

using rules::reference::document;

inline std::int32_t max_label(std::vector<document> const& training) {
  std::int32_t c = 0;
  for (document const& d : training) c = std::max(c, d.label);
  return c;
}

inline double mean_label(std::vector<document> const& training) {
  std::int64_t sum = 0;
  for (document const& d : training) sum += d.label;
  return static_cast<double>(sum) / static_cast<double>(training.size());
}

/// prior_r for each label 0..c.
inline std::vector<double> priors(std::vector<document> const& training) {
  std::vector<double> share(static_cast<std::size_t>(max_label(training)) + 1);
  for (document const& d : training) share[static_cast<std::size_t>(d.label)] += 1;
  for (double& s : share) s /= static_cast<double>(training.size());
  return share;
}

inline std::uint32_t sum_of(std::vector<std::uint32_t> const& counts) {
  std::uint32_t n = 0;
  for (std::uint32_t sigma : counts) n += sigma;
  return n;
}

/// phi in doubles, from the definition of S_r: no fixed point.
inline double plain_score(std::vector<document> const& training,
                          std::vector<rules::item> const& items, scoring_options const& options) {
  std::vector<double> const prior = priors(training);
  std::int32_t const c = max_label(training);
  std::vector<double> s(prior.size());
  rules::reference::for_each_itemset(items, options.rule_size - 1, [&](auto const& x) {
    auto const counts = rules::reference::supports(training, x, c);
    std::uint32_t const n = sum_of(counts);
    for (std::size_t r = 0; r < counts.size(); ++r)
      if (n > 0 && rules::reference::valid(counts[r], n, options.thresholds))
        s[r] += std::pow(n, options.support_weight) * (counts[r] + options.smoothing * prior[r]) /
                (n + options.smoothing);
  });
  double num = 0;
  double den = 0;
  for (std::size_t r = 0; r < s.size(); ++r) {
    num += static_cast<double>(r) * s[r];
    den += s[r];
  }
  return den == 0 ? mean_label(training) : num / den;
}

__extension__ using wide = unsigned __int128;

/// The inputs of the fixed point: I, c, n_max, by brute force.
struct fixed_point {
  int shift = 0;
  bool is_wide = false;

  fixed_point(std::vector<document> const& training, std::size_t features,
              scoring_options const& options, bool force_wide) {
    wide itemsets = 0;
    wide combinations = 1;
    for (std::size_t k = 1; k < options.rule_size && k <= features; ++k) {
      combinations = combinations * (features - k + 1) / k;
      itemsets += combinations;
    }
    std::vector<std::uint32_t> support;
    for (document const& d : training)
      for (rules::item x : d.items) {
        support.resize(std::max<std::size_t>(support.size(), x + std::size_t{1}));
        ++support[x];
      }
    std::uint32_t max_n = 1;
    for (std::uint32_t n : support) max_n = std::max(max_n, n);
    wide const terms =
        std::max<wide>(itemsets, 1) * static_cast<wide>(std::max(max_label(training), 1));
    int bits = 0;
    while ((wide{1} << bits) < terms) ++bits;
    double const w = options.support_weight;
    if (w > 0) bits += static_cast<int>(std::ceil(w * std::log2(static_cast<double>(max_n))));
    double worst = 0;
    for (std::uint32_t n : {std::uint32_t{1}, max_n})
      worst = std::max(worst, (n + options.smoothing) / std::pow(static_cast<double>(n), w));
    shift = 62 - bits;
    is_wide = force_wide || shift < 0 || std::ldexp(worst, -shift) > 1e-6;
    if (!is_wide) return;
    shift = 126 - bits;
    if (w == 0 && options.smoothing == 0) shift = std::min(shift, 64);
  }
};

/// phi by the sums of "One score", in 128 bits throughout (64-bit engines must not overflow).
inline double score(std::vector<document> const& training, std::size_t features,
                    std::vector<rules::item> const& items, scoring_options const& options,
                    bool force_wide = false) {
  fixed_point const fixed(training, features, options, force_wide);
  std::vector<double> const prior = priors(training);
  std::int32_t const c = max_label(training);
  bool const plain = options.support_weight == 0 && options.smoothing == 0;
  auto rounded = [&](long double x) {
    return static_cast<wide>(std::floor(std::ldexp(x, fixed.shift) + 0.5L));
  };
  wide num = 0;
  wide den = 0;
  rules::reference::for_each_itemset(items, options.rule_size - 1, [&](auto const& x) {
    auto const counts = rules::reference::supports(training, x, c);
    std::uint32_t const n = sum_of(counts);
    if (n == 0) return;
    wide const one = wide{1} << fixed.shift;
    long double const weight =
        std::pow(static_cast<long double>(n), static_cast<long double>(options.support_weight));
    long double const share = weight / (static_cast<long double>(n) + options.smoothing);
    wide const factor = plain ? (one + n / 2) / n : rounded(share);
    wide valid = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (!rules::reference::valid(counts[r], n, options.thresholds)) continue;
      valid += counts[r];
      num += factor * r * counts[r];
      if (options.smoothing != 0) {
        wide const more = rounded(share * options.smoothing * prior[r]);
        num += more * r;
        den += more;
      }
    }
    if (options.smoothing == 0 && valid == n)
      den += plain ? one : rounded(weight);
    else
      den += factor * valid;
  });
  return den == 0 ? mean_label(training) : static_cast<double>(num) / static_cast<double>(den);
}

}  // namespace rulerank::l2r::reference
