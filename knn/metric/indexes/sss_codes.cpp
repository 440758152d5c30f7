#include "knn/metric/indexes/sss_codes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace rulerank::inline v0::knn {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

template <class T>
void put(std::byte* to, std::size_t at, int code) {
  T const value = static_cast<T>(code);
  std::memcpy(to + at * sizeof(T), &value, sizeof(T));
}

code_range range_of(int low, int high) {
  return {static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(high - low)};
}

}  // namespace

pivot_codes::pivot_codes(std::span<double const> table, std::size_t pivots) : pivots_(pivots) {
  if (pivots == 0) return;
  for (double const distance : table) {
    is_whole_ = is_whole_ && distance < 255 && distance == std::floor(distance);
    if (std::isfinite(distance)) farthest_ = std::max(farthest_, distance);
  }
  if (!is_whole_) {
    int exponent = 0;
    std::frexp(farthest_, &exponent);
    step_ = std::max(std::ldexp(1, exponent - 16), std::numeric_limits<double>::min());
    if (farthest_ >= low_of(last_code())) step_ *= 2;
  }
  std::size_t const objects = table.size() / pivots;
  std::size_t const blocks = (objects + codes_a_block - 1) / codes_a_block;
  codes_.resize(blocks * pivots * codes_a_block * (is_whole_ ? 1 : 2));
  for (std::size_t i = 0; i < objects; ++i)
    for (std::size_t p = 0; p < pivots; ++p) {
      std::size_t const at = (i / codes_a_block * pivots + p) * codes_a_block + i % codes_a_block;
      int const code = code_of(table[i * pivots + p]);
      if (is_whole_)
        put<std::uint8_t>(codes_.data(), at, code);
      else
        put<std::uint16_t>(codes_.data(), at, code);
    }
}

int pivot_codes::code_of(double distance) const {
  return distance < low_of(last_code()) ? static_cast<int>(distance / step_) : last_code();
}

double pivot_codes::high_of(int code) const {
  if (is_whole_) return low_of(code);
  return code == last_code() ? infinite : low_of(code + 1);
}

/// Returns the codes that do not exclude. They are contiguous, because bounds increase on both
/// sides of the query's distance.
code_range pivot_codes::range(exclusion const& rule, double to_pivot, double bound,
                              bool& is_empty) const {
  auto const excludes = [&](int code) {
    return rule.at_least(to_pivot, low_of(code), high_of(code)) > bound;
  };
  int low = code_of(std::max(to_pivot - bound, 0.0));
  while (low > 0 && !excludes(low - 1)) --low;
  while (low <= last_code() && excludes(low)) ++low;
  int high = code_of(to_pivot + bound);
  while (high < last_code() && !excludes(high + 1)) ++high;
  while (high >= low && excludes(high)) --high;
  is_empty = is_empty || low > high;
  return range_of(low, std::max(low, high));
}

/// Returns the codes for which no represented distance excludes: |a - b| is within the table's
/// bound.
code_range pivot_codes::sure_range(double to_pivot, double bound, bool& is_empty) const {
  int low = code_of(std::max(to_pivot - bound, 0.0));
  while (low <= last_code() && to_pivot - low_of(low) > bound) ++low;
  int high = code_of(to_pivot + bound);
  while (high >= low && high_of(high) - to_pivot > bound) --high;
  is_empty = is_empty || low > high;
  return range_of(low, std::max(low, high));
}

std::vector<pivot_codes::object_left> pivot_codes::within(exclusion const& rule,
                                                          std::span<double const> to_pivots,
                                                          double bound, std::size_t first,
                                                          std::size_t last) const {
  std::vector<object_left> left;
  std::vector<code_range> ranges(pivots_), sure_ranges(pivots_);
  bool none = false, none_sure = false;
  for (std::size_t p = 0; p < pivots_; ++p) {
    ranges[p] = range(rule, to_pivots[p], bound, none);
    sure_ranges[p] = sure_range(to_pivots[p], bound, none_sure);
  }
  if (none) return left;
  for (std::size_t begin = first; begin < last; begin += codes_a_block) {
    code_block const codes = block(begin / codes_a_block);
    std::uint64_t some = codes_in_ranges(codes, ranges.data());
    if (last - begin < codes_a_block) some &= (std::uint64_t{1} << (last - begin)) - 1;
    if (some == 0) continue;
    // A code that equals the distance excludes exactly what the table excludes.
    std::uint64_t const sure = is_whole_   ? some
                               : none_sure ? 0
                                           : codes_in_ranges(codes, sure_ranges.data());
    for (; some != 0; some &= some - 1) {
      int const place = std::countr_zero(some);
      left.push_back({static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(place),
                      (sure >> place & 1U) != 0});
    }
  }
  return left;
}

double pivot_codes::bounds::at_most(std::uint16_t some_apart) const {
  if (are_cut) return infinite;
  return (static_cast<double>(some_apart) + (are_whole ? 0 : 1)) * step;
}

pivot_codes::bounds pivot_codes::bounds_of(exclusion const& rule, std::span<double const> to_pivots,
                                           std::size_t first, std::size_t last) const {
  bounds found{.apart = {}, .are_whole = is_whole_, .step = step_};
  std::vector<std::uint16_t> from(pivots_);
  double farthest = 0;
  for (std::size_t p = 0; p < pivots_; ++p) {
    int const code = code_of(to_pivots[p]);
    from[p] = static_cast<std::uint16_t>(code);
    farthest = std::max(farthest, to_pivots[p]);
    found.are_cut = found.are_cut || code == last_code();
    found.are_whole = found.are_whole && low_of(code) == to_pivots[p];
  }
  found.slack = rule.slack(farthest + farthest_);
  std::size_t const blocks = (last - first + codes_a_block - 1) / codes_a_block;
  found.apart.resize(blocks * codes_a_block);
  for (std::size_t b = 0; b < blocks; ++b)
    codes_apart(block(first / codes_a_block + b), from.data(),
                found.apart.data() + b * codes_a_block);
  found.apart.resize(last - first);
  return found;
}

}  // namespace rulerank::knn
