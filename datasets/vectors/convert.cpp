#include "core/error.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/vectors.hpp"
#include "datasets/vectors/first_fault.hpp"
#include "datasets/vectors/memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

/// Converts a double to 16 bits: sign, exponent from `smallest` on, and `fraction` bits of
/// fraction, rounded to nearest, ties to even. A carry out of the fraction increments the exponent
/// and, beyond the largest value, gives infinity.
template <int fraction, int smallest>
std::uint16_t rounded_bits(double value) {
  constexpr int double_fraction = 52;
  constexpr int dropped = double_fraction - fraction;
  constexpr std::uint64_t infinity = 0x7fffU >> fraction << fraction;
  std::uint64_t const all = bits_of(value);
  auto const sign = static_cast<std::uint16_t>(all >> 48 & 0x8000U);
  double const magnitude = std::fabs(value);
  std::uint64_t bits = 0;
  if (std::isnan(value)) {
    bits = infinity | 1U << (fraction - 1);
  } else if (magnitude < std::ldexp(1.0, smallest)) {
    // Adding a number whose last bit has the weight of the result's last bit rounds the sum.
    double const rounder = std::ldexp(1.0, smallest - fraction + double_fraction);
    bits = bits_of(magnitude + rounder) - bits_of(rounder);
  } else {
    std::uint64_t const exponent_from = static_cast<std::uint64_t>(1022 + smallest)
                                        << double_fraction;
    std::uint64_t const moved = bits_of(magnitude) - exponent_from;
    std::uint64_t const odd = moved >> dropped & 1U;
    bits = std::min((moved + (std::uint64_t{1} << (dropped - 1)) - 1 + odd) >> dropped, infinity);
  }
  return static_cast<std::uint16_t>(sign | bits);
}

double as_double(float16 value) {
  return static_cast<float>(value);
}
double as_double(bfloat16 value) {
  return static_cast<float>(value);
}
template <class T>
double as_double(T value) {
  return static_cast<double>(value);
}

constexpr std::size_t values_at_once = 1 << 16;

[[noreturn]] void refuse_value(vectors const& values, std::size_t place, double value,
                               std::string_view expected) {
  std::size_t const row = values.first_row() + place / values.dimensions() + 1;
  std::size_t const column = place % values.dimensions() + 1;
  std::string const found = std::isnan(value) ? "NaN" : fmt::format("{}", value);
  throw error({values.name(), row, column},
              fmt::format("found {} in row {}, column {} (both from 1), expected {}", found, row,
                          column, expected));
}

double value_at(vectors const& values, std::size_t place) {
  return values.visit([&](auto all) { return as_double(all[place]); });
}

template <class T>
bool is_finite(T value) {
  return std::isfinite(value);
}
bool is_finite(float16 value) {
  return (value.bits & 0x7c00U) != 0x7c00U;
}
bool is_finite(bfloat16 value) {
  return (value.bits & 0x7f80U) != 0x7f80U;
}
bool is_finite(double value) {
  return std::fabs(value) <= largest_value;
}

/// Rounds a number to the nearest value of `To`; returns whether that is allowed.
template <class To>
bool convert_value(double from, rounding how, To& to) {
  if constexpr (std::is_integral_v<To>) {
    using limits = std::numeric_limits<To>;
    if (!(from >= limits::min() && from <= limits::max())) return false;
    to = static_cast<To>(from);
    return static_cast<double>(to) == from;
  } else {
    to = static_cast<To>(from);
    return how == rounding::exact ? as_double(to) == from : is_finite(to);
  }
}

template <class To>
vectors converted_values(context const& ctx, vectors const& values, rounding how) {
  std::size_t const n = values.size() * values.dimensions();
  auto const kept = aligned_bytes(n * sizeof(To));
  auto* const to = reinterpret_cast<To*>(kept.get());
  std::size_t const bad = values.visit([&](auto from) {
    return first_fault(ctx, n, values_at_once, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (!convert_value(as_double(from[i]), how, to[i])) return i;
      return end;
    });
  });
  if (bad < n) {
    bool const inside = how == rounding::exact || std::is_integral_v<To>;
    refuse_value(values, bad, value_at(values, bad),
                 fmt::format("a value {} {}", inside ? "of type" : "within the range of",
                             name_of(element_of<To>())));
  }
  return {element_of<To>(), to, values.size(), values.dimensions(), kept, values.name()};
}

}  // namespace

float16::float16(double value) : bits(rounded_bits<10, -14>(value)) {}
bfloat16::bfloat16(double value) : bits(rounded_bits<7, -126>(value)) {}

void expect_finite(context const& ctx, vectors const& values) {
  if (values.finite_) return;
  std::size_t const n = values.size() * values.dimensions();
  std::size_t const bad = values.visit([&](auto all) {
    using value_type = typename decltype(all)::value_type;
    if constexpr (std::is_integral_v<value_type>) {
      return n;
    } else {
      return first_fault(ctx, n, values_at_once, [&](std::size_t begin, std::size_t end) {
        bool good = true;
        for (std::size_t i = begin; i < end; ++i) good &= is_finite(all[i]);
        if (good) return end;
        while (is_finite(all[begin])) ++begin;
        return begin;
      });
    }
  });
  if (bad == n) return;
  double const value = value_at(values, bad);
  refuse_value(values, bad, value,
               std::isfinite(value) ? fmt::format("a value of at most {}", largest_value)
                                    : "a finite number");
}

namespace {

vectors converted_to(element to, context const& ctx, vectors const& values, rounding how) {
  switch (to) {
    case element::float16:
      return converted_values<float16>(ctx, values, how);
    case element::bfloat16:
      return converted_values<bfloat16>(ctx, values, how);
    case element::int8:
      return converted_values<std::int8_t>(ctx, values, how);
    case element::uint8:
      return converted_values<std::uint8_t>(ctx, values, how);
    case element::int32:
      return converted_values<std::int32_t>(ctx, values, how);
    case element::float64:
      return converted_values<double>(ctx, values, how);
    default:
      return converted_values<float>(ctx, values, how);
  }
}

}  // namespace

vectors converted(context const& ctx, vectors const& values, element to, rounding how) {
  if (values.type() == to || values.dimensions() == 0) return values;
  vectors made = converted_to(to, ctx, values, how);
  made.finite_ = values.finite_ || how == rounding::nearest;  // `nearest` rejects infinity
  return made;
}

}  // namespace rulerank::datasets
