#pragma once
// Objects for the tests of this folder, and names of their cases.

#include "core/context.hpp"
#include "core/random.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::inline v0::knn::testing_tools {

inline context of_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

/// Random words over `alphabet` letters, at most `longest` letters long; with more than 26, each
/// letter has two bytes of UTF-8.
inline std::vector<std::string> drawn_words(std::size_t count, std::uint64_t seed,
                                            std::size_t longest, std::uint32_t alphabet = 3) {
  random_engine chance(seed);
  std::vector<std::string> words(count);
  for (std::string& word : words)
    for (std::size_t left = uniform_below(chance, longest + 1); left > 0; --left) {
      auto const letter = static_cast<std::uint32_t>(uniform_below(chance, alphabet));
      if (alphabet > 26) word += static_cast<char>(0xc4 + letter / 64);
      word += static_cast<char>(alphabet > 26 ? 0x80 + letter % 64 : 'a' + letter);
    }
  return words;
}

/// Random clusters; with `of` distinct values per dimension, many ties.
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

/// Vectors under l2.
inline std::shared_ptr<vector_space const> space_of(datasets::vectors const& rows) {
  return std::make_shared<vector_space>(context{}, rows, metric_distance::l2);
}

/// Names a parameter by `name_of`, for GoogleTest.
inline constexpr auto name_of_case = [](auto const& test) {
  std::string name(name_of(test.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
};

}  // namespace rulerank::knn::testing_tools
