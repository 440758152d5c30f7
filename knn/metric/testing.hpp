#pragma once
// Objects for the tests of this folder, and names of their cases.

#include "core/context.hpp"
#include "core/random.hpp"
#include "datasets/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::knn::testing_tools {

inline context of_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

/// Of three letters, `longest` of them at most.
inline std::vector<std::string> drawn_words(std::size_t count, std::uint64_t seed,
                                            std::size_t longest) {
  random_engine chance(seed);
  std::vector<std::string> words(count);
  for (std::string& word : words) {
    word.resize(uniform_below(chance, longest + 1));
    for (char& letter : word) letter = static_cast<char>('a' + uniform_below(chance, 3));
  }
  return words;
}

/// Clusters, and with `of` values alone many ties.
inline datasets::vectors drawn_vectors(std::size_t rows, std::size_t dimensions, std::uint64_t seed,
                                       int of = 0) {
  random_engine chance(seed);
  std::vector<float> values(rows * dimensions);
  for (std::size_t i = 0; i < rows; ++i) {
    auto const centre = static_cast<double>(uniform_below(chance, 5));
    for (std::size_t d = 0; d < dimensions; ++d)
      values[i * dimensions + d] = static_cast<float>(
          of > 0 ? static_cast<double>(uniform_below(chance, static_cast<std::uint64_t>(of)))
                 : centre * std::sin(static_cast<double>(d) + centre) + uniform_unit(chance) - .5);
  }
  return datasets::vectors(std::move(values), dimensions);
}

/// Of a parameter that `name_of` names, for GoogleTest.
inline constexpr auto name_of_case = [](auto const& test) {
  std::string name(name_of(test.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
};

}  // namespace rulerank::knn::testing_tools
