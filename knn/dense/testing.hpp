#pragma once
// Vectors and expectations for the tests of this folder.

#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "knn/neighbours.hpp"
#include "knn/similarity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::testing_tools {

using datasets::element;
using datasets::vectors;

inline constexpr similarity all_metrics[] = {similarity::l2, similarity::inner_product,
                                             similarity::cosine};
inline constexpr element all_types[] = {element::float32, element::float16, element::bfloat16,
                                        element::int8, element::uint8};

/// Rounds values to another type.
inline vectors as(element type, std::vector<float> const& values, std::size_t dimensions) {
  auto const make = [&]<class T>(T) {
    std::vector<T> typed;
    for (float const value : values) {
      if constexpr (std::is_integral_v<T>)
        typed.push_back(
            static_cast<T>(std::clamp(std::round(value), float{std::numeric_limits<T>::min()},
                                      float{std::numeric_limits<T>::max()})));
      else
        typed.push_back(static_cast<T>(value));
    }
    return vectors(std::move(typed), dimensions);
  };
  switch (type) {
    case element::float16:
      return make(datasets::float16());
    case element::bfloat16:
      return make(datasets::bfloat16());
    case element::int8:
      return make(std::int8_t());
    case element::uint8:
      return make(std::uint8_t());
    default:
      return make(float());
  }
}

inline std::vector<float> drawn(std::size_t count, std::uint32_t seed, float mean = 0,
                                float deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(mean, deviation);
  std::vector<float> values(count);
  for (float& one : values) one = value(random);
  return values;
}
/// Uniform in [0, largest): in many dimensions, all rows are at similar distances.
inline std::vector<float> drawn_uniform(std::size_t count, std::uint32_t seed, float largest = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(0, largest);
  std::vector<float> values(count);
  for (float& one : values) one = value(random);
  return values;
}
/// Few distinct numbers: many rows are equally near.
inline std::vector<float> drawn_small(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& one : values) one = static_cast<float>(random() % 3);
  return values;
}

inline context on_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

inline void expect_same(neighbours const& found, neighbours const& expected,
                        std::string const& what) {
  ASSERT_EQ(found.queries, expected.queries) << what;
  ASSERT_EQ(found.k, expected.k) << what;
  EXPECT_EQ(found.order, expected.order) << what;
  for (std::size_t i = 0; i < expected.id.size(); ++i) {
    ASSERT_EQ(found.id[i], expected.id[i])
        << what << ": query " << i / found.k << ", neighbour " << i % found.k;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(found.value[i]),
              std::bit_cast<std::uint64_t>(expected.value[i]))
        << what << ": query " << i / found.k << ", neighbour " << i % found.k << ", "
        << found.value[i] << " and " << expected.value[i];
  }
}

/// Multiplies each row by a factor.
inline std::vector<float> scaled(std::vector<float> values, std::size_t dimensions,
                                 std::vector<float> const& factors) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] *= factors[i / dimensions % factors.size()];
  return values;
}

/// Rows that are difficult because of rounding, the range of floats or equal values, with names.
inline std::vector<std::pair<std::string, std::vector<float>>> hard_numbers(std::size_t count,
                                                                            std::size_t n) {
  float const denormal = std::numeric_limits<float>::denorm_min();
  float const largest = std::numeric_limits<float>::max();
  std::vector<float> clusters = drawn(count * n, 7);
  for (std::size_t i = 0; i < clusters.size(); ++i) clusters[i] += i / n % 2 == 0 ? 1e6F : -1e6F;
  std::vector<float> ends(count * n);
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = i * 7 % 3 == 0 ? largest : -largest;
  return {
      {"far from the origin", drawn(count * n, 8, 1e6F, 1)},
      {"two far clusters", clusters},
      {"zeros", std::vector<float>(count * n)},
      {"equal rows", std::vector<float>(count * n, 0.1F)},
      {"huge", scaled(drawn(count * n, 9), n, {1e30F})},
      {"tiny", scaled(drawn(count * n, 10), n, {1e-30F})},
      {"below the normal range", scaled(drawn(count * n, 11), n, {100 * denormal})},
      {"mixed",
       scaled(drawn(count * n, 12), n, {1, 1e30F, 1e-30F, 1e18F, 0, 1e-44F, 1e17F, -1, 1e-19F})},
      {"some zero rows", scaled(drawn(count * n, 13), n, {1, 0, 1, 1})},
      {"the ends of the range", ends},
  };
}

inline std::vector<std::uint64_t> drawn_filter(std::size_t words, std::uint32_t seed, int rarity) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> filter(words, ~std::uint64_t{0});
  for (std::uint64_t& word : filter)
    for (int i = 0; i < rarity; ++i) word &= random();
  return filter;
}

inline vectors read_images(std::string const& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(16);
  std::vector<std::uint8_t> values(count * 784);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size()));
  EXPECT_TRUE(file.good()) << path;
  return vectors(std::move(values), 784);
}

}  // namespace rulerank::knn::testing_tools
