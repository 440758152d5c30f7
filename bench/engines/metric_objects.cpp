#include "bench/engines/metric_objects.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace rulerank::inline v0::bench {

using std::size_t;

namespace {

/// Inserts, deletes or replaces a letter one to three times; a letter of UTF-8 stays whole.
std::string edited(std::string word, random_engine& chance) {
  auto const is_inside = [&](size_t at) {
    return at < word.size() && (static_cast<unsigned char>(word[at]) & 0xC0u) == 0x80u;
  };
  for (size_t edits = 1 + uniform_below(chance, 3); edits > 0; --edits) {
    size_t at = uniform_below(chance, word.size() + 1);
    while (is_inside(at)) ++at;
    size_t length = at < word.size() ? 1 : 0;
    while (length > 0 && is_inside(at + length)) ++length;
    char const letter = static_cast<char>('a' + uniform_below(chance, 26));
    std::uint64_t const kind = uniform_below(chance, 3);
    if (kind == 0 || length == 0)
      word.insert(at, 1, letter);
    else if (kind == 1)
      word.erase(at, length);
    else
      word.replace(at, length, 1, letter);
  }
  return word;
}

}  // namespace

datasets::vectors read_sisap(std::string const& path) {
  std::ifstream file(path);
  size_t dimensions = 0;
  size_t rows = 0;
  std::string rest;
  if (!(file >> dimensions >> rows) || !std::getline(file, rest))
    throw std::invalid_argument("no vectors in " + path);
  std::vector<float> values(rows * dimensions);
  for (float& value : values) file >> value;
  if (!file) throw std::invalid_argument("vectors cut off in " + path);
  return datasets::vectors(std::move(values), dimensions);
}

drawn_words draw_words(std::vector<std::string> words, size_t objects, size_t queries,
                       size_t seed) {
  random_engine chance(seed);
  shuffle(std::span(words), chance);
  objects = std::min(objects, words.size());
  auto const end = words.begin() + static_cast<std::ptrdiff_t>(objects);
  drawn_words drawn{{words.begin(), end}, {end, words.end()}};
  drawn.queries.resize(std::min(drawn.queries.size(), queries));
  while (drawn.queries.size() < queries)
    drawn.queries.push_back(edited(drawn.database[uniform_below(chance, objects)], chance));
  return drawn;
}

drawn_vectors draw_vectors(std::string const& path, size_t objects, size_t queries, size_t seed) {
  auto const given = read_sisap(path);
  size_t const dimensions = given.dimensions();
  size_t const rows = given.size();
  std::vector<float> values;
  for (size_t i = 0; i < rows; ++i) {
    auto const row = given.row<float>(i);
    values.insert(values.end(), row.begin(), row.end());
  }
  random_engine chance(seed);
  size_t const all = std::max(objects + objects / 4, objects + queries);
  for (size_t i = rows; i < all; ++i) {
    size_t const of[3] = {uniform_below(chance, rows), uniform_below(chance, rows),
                          uniform_below(chance, rows)};
    for (size_t d = 0; d < dimensions; ++d)
      values.push_back(values[of[0] * dimensions + d] +
                       (values[of[1] * dimensions + d] - values[of[2] * dimensions + d]) / 8);
  }
  std::vector<size_t> order(std::max(rows, all));
  std::iota(order.begin(), order.end(), size_t{0});
  shuffle(std::span(order), chance);
  auto const part = [&](size_t begin, size_t count) {
    std::vector<float> some;
    for (size_t i = begin; i < begin + count; ++i)
      some.insert(some.end(), values.begin() + static_cast<std::ptrdiff_t>(order[i] * dimensions),
                  values.begin() + static_cast<std::ptrdiff_t>((order[i] + 1) * dimensions));
    return datasets::vectors(std::move(some), dimensions);
  };
  return {part(0, objects), part(objects, queries)};
}

double radius_of(knn::metric_space const& space, double percent) {
  random_engine chance(1);
  std::vector<double> sample;
  auto const drawn = [&] {
    return static_cast<std::uint32_t>(uniform_below(chance, space.size()));
  };
  for (size_t i = 0; i < 2000; ++i) {
    std::uint32_t const first = drawn();
    auto const origin = space.from(first);
    for (size_t j = 0; j < 1000; ++j)
      if (std::uint32_t const other = drawn(); other != first) sample.push_back(origin->to(other));
  }
  auto const at = sample.begin() + static_cast<std::ptrdiff_t>(
                                       static_cast<double>(sample.size() - 1) * percent / 100);
  std::nth_element(sample.begin(), at, sample.end());
  return *at;
}

}  // namespace rulerank::bench
