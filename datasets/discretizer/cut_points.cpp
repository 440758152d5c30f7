#include "datasets/discretizer/cut_points.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <hwy/contrib/sort/vqsort.h>

namespace rulerank::inline v0::datasets {

namespace {

std::vector<double> width_cuts(int bins, value_counts const& counts) {
  double const lo = counts.values.front(), hi = counts.values.back();
  std::vector<double> cuts;
  for (int i = 1; i < bins; ++i) {
    double const cut = lo + ((hi - lo) * i) / bins;
    // If the range is a few units in the last place, cuts can be equal or separate nothing.
    if (cut > lo && (cuts.empty() || cut > cuts.back())) cuts.push_back(cut);
  }
  return cuts;
}

std::vector<double> frequency_cuts(int bins, value_counts const& counts) {
  std::vector<double> cuts;
  double last = counts.values.front();
  for (int i = 1; i < bins; ++i) {
    std::uint64_t const rank =
        counts.total() * static_cast<std::uint64_t>(i) / static_cast<std::uint64_t>(bins);
    auto const after = std::upper_bound(counts.before.begin(), counts.before.end(), rank);
    double const value = counts.values[static_cast<std::size_t>(after - counts.before.begin()) - 1];
    if (value > last) cuts.push_back(last = value);
  }
  return cuts;
}

/// Returns whether two values, low <= high, are equal with 12 significant digits.
bool reads_alike(double low, double high) {
  double const size = std::max(std::abs(low), std::abs(high));
  return high - low <= 1e-11 * size && fmt::format("{:.11e}", low) == fmt::format("{:.11e}", high);
}

/// The counts of runs of values that are equal with 12 digits.
struct readable_counts {
  value_counts smallest;        ///< each run by its smallest value
  std::vector<double> largest;  ///< [runs] largest value
};
readable_counts merge_alike(value_counts const& counts) {
  readable_counts merged;
  for (std::size_t v = 0; v < counts.distinct(); ++v) {
    if (v == 0 || !reads_alike(merged.smallest.values.back(), counts.values[v])) {
      merged.smallest.values.push_back(counts.values[v]);
      merged.smallest.before.push_back(0);
      merged.largest.push_back(0);
    }
    merged.smallest.before.back() = counts.before[v + 1];
    merged.largest.back() = counts.values[v];
  }
  return merged;
}

/// Many features have mostly one value, which gets most of the bins with `frequency`. A cut is the
/// roundest number between two values; values that are equal with 12 digits count as one, because
/// no short number separates them.
std::vector<double> capped_cuts(int bins, value_counts const& all) {
  readable_counts const merged = merge_alike(all);
  value_counts const& counts = merged.smallest;
  std::vector<double> cuts;
  auto const cut_before = [&](std::size_t v) {
    cuts.push_back(roundest_between(merged.largest[v - 1], counts.values[v]));
  };
  if (counts.distinct() <= static_cast<std::size_t>(bins)) {
    for (std::size_t v = 1; v < counts.distinct(); ++v) cut_before(v);
    return cuts;
  }
  auto const parts = static_cast<std::uint64_t>(bins);
  // In units of 1 / bins of a document; a bin contains total() of them.
  std::vector<std::uint64_t> up_to;
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < counts.distinct(); ++v)
    up_to.push_back(sum +=
                    std::min((counts.before[v + 1] - counts.before[v]) * parts, counts.total()));
  std::size_t last = 0;
  for (std::uint64_t i = 1; i < parts; ++i) {
    auto const at =
        std::ranges::lower_bound(up_to, i * sum, {}, [&](std::uint64_t n) { return n * parts; });
    auto const v = static_cast<std::size_t>(at - up_to.begin());
    if (v > last) cut_before(last = v);
  }
  return cuts;
}

std::vector<double> unscaled_cut_points(binning method, int bins, value_counts const& counts) {
  if (method == binning::width) return width_cuts(bins, counts);
  std::vector<double> cuts = grow_tube(counts, static_cast<std::size_t>(bins) - 1).cuts;
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace

double roundest_between(double low, double high) {
  if (low < 0 && high >= 0) return 0;
  auto const divides = [&](double x) { return x > low && x <= high; };
  constexpr double largest_power = 1e22;  // largest exact power of 10
  double power = 1;
  while (power < largest_power && power <= std::max(std::abs(low), std::abs(high))) power *= 10;
  for (; power > 1; power /= 10)
    if (double const x = std::floor(high / power) * power; divides(x)) return x;
  for (; power <= largest_power; power *= 10)
    if (double const x = std::floor(high * power) / power; divides(x)) return x;
  return high;
}

namespace {

/// Sorts by whole numbers with the order of the doubles: Highway 1.0.3 loses values among doubles
/// that are neighbours.
void sort(std::vector<double>& values) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  std::vector<std::uint64_t> keys(values.size());
  std::ranges::transform(values, keys.begin(), [](double value) {
    auto const bits = std::bit_cast<std::uint64_t>(value);
    return (bits & sign) != 0 ? ~bits : bits | sign;
  });
  hwy::Sorter()(keys.data(), keys.size(), hwy::SortAscending());
  std::ranges::transform(keys, values.begin(), [](std::uint64_t key) {
    return std::bit_cast<double>((key & sign) != 0 ? key & ~sign : ~key);
  });
}

}  // namespace

value_counts count_values(std::vector<double> values, std::uint64_t zeros) {
  sort(values);
  value_counts counts;
  auto const add = [&counts](double value, std::uint64_t times) {
    if (times == 0) return;
    if (!counts.values.empty() && counts.values.back() == value) {
      counts.before.back() += times;
    } else {
      counts.values.push_back(value + 0.0);  // -0 + 0 is 0
      counts.before.push_back(counts.before.back() + times);
    }
  };
  std::size_t i = 0;
  for (; i < values.size() && values[i] < 0; ++i) add(values[i], 1);
  add(0.0, zeros);
  for (; i < values.size(); ++i) add(values[i], 1);
  return counts;
}

value_counts merge(value_counts const& a, value_counts const& b) {
  value_counts both;
  std::size_t i = 0, j = 0;
  while (i < a.distinct() || j < b.distinct()) {
    bool const of_a = j == b.distinct() || (i < a.distinct() && a.values[i] <= b.values[j]);
    bool const of_b = i == a.distinct() || (j < b.distinct() && b.values[j] <= a.values[i]);
    both.values.push_back(of_a ? a.values[i] : b.values[j]);
    if (of_a) ++i;
    if (of_b) ++j;
    both.before.push_back(a.before[i] + b.before[j]);
  }
  return both;
}

scaled_counts rescale(value_counts const& counts) {
  constexpr double large = 0x1p960, small = 0x1p-900;
  constexpr int step = 128;
  scaled_counts result;
  if (counts.distinct() < 2) return result;
  double const half_range = counts.values.back() / 2 - counts.values.front() / 2;
  if (half_range >= small && half_range <= large) return result;
  result.exponent = half_range > large ? -step : step;
  value_counts& other = result.counts;
  for (std::size_t i = 0; i < counts.distinct(); ++i) {
    double const value = std::ldexp(counts.values[i], result.exponent);
    if (!other.values.empty() && other.values.back() == value) {
      other.before.back() = counts.before[i + 1];
    } else {
      other.values.push_back(value);
      other.before.push_back(counts.before[i + 1]);
    }
  }
  return result;
}

std::vector<double> cut_points(binning method, int bins, value_counts const& counts) {
  if (bins < 2) throw usage_error(fmt::format("found {} bins, expected at least 2", bins));
  if (counts.distinct() < 2) return {};
  if (method == binning::frequency) return frequency_cuts(bins, counts);
  if (method == binning::capped) return capped_cuts(bins, counts);
  scaled_counts const other = rescale(counts);
  if (other.exponent == 0) return unscaled_cut_points(method, bins, counts);
  std::vector<double> cuts = unscaled_cut_points(method, bins, other.counts);
  for (double& cut : cuts) {
    // Rounded up if bits are lost, so that it still separates the same values.
    double const found = cut;
    cut = std::ldexp(found, -other.exponent);
    if (std::ldexp(cut, other.exponent) < found)
      cut = std::nextafter(cut, std::numeric_limits<double>::infinity());
  }
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

std::vector<double> cut_points(binning method, int bins, std::vector<double> values) {
  return cut_points(method, bins, count_values(std::move(values)));
}

}  // namespace rulerank::datasets
