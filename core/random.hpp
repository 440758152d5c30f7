#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace rulerank::inline v0 {

/// The C++ standard fixes the numbers of this engine, but not those of its distributions. The
/// functions below are therefore our own, and one seed gives the same numbers everywhere. One
/// thread at a time may use an engine.
using random_engine = std::mt19937_64;

/// Uniform in [0, n), n > 0 (Lemire 2019, multiplication with rejection).
inline std::uint64_t uniform_below(random_engine& engine, std::uint64_t n) {
  __extension__ using wide = unsigned __int128;
  std::uint64_t const reject = (0 - n) % n;
  for (;;) {
    wide const product = static_cast<wide>(engine()) * n;
    if (static_cast<std::uint64_t>(product) >= reject)
      return static_cast<std::uint64_t>(product >> 64);
  }
}

/// Uniform in [0, 1), a multiple of 2^-53.
inline double uniform_unit(random_engine& engine) {
  return static_cast<double>(engine() >> 11) * 0x1p-53;
}

/// Fisher–Yates shuffle.
template <class T>
void shuffle(std::span<T> values, random_engine& engine) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[uniform_below(engine, i)]);
}

}  // namespace rulerank
