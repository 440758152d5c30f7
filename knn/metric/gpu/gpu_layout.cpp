#include "knn/metric/gpu/gpu_layout.hpp"

#include "core/error.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/indexes/index_state.hpp"
#include "knn/unicode.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <unicode/utf8.h>

namespace rulerank::inline v0::knn {

namespace {

/// Returns the letters of a word as in `word_space`.
std::vector<std::uint32_t> letters_of(std::string const& word, letters unit, std::string& buffer) {
  std::vector<std::uint32_t> found;
  if (unit == letters::bytes) {
    for (char const c : word) found.push_back(static_cast<unsigned char>(c));
    return found;
  }
  std::string text;
  compose(well_formed(word, buffer), text);
  for (std::size_t i = 0; i < text.size();) {
    UChar32 point = 0;
    U8_NEXT_UNSAFE(text.data(), i, point);
    found.push_back(static_cast<std::uint32_t>(point));
  }
  return found;
}

/// Replaces the letters of a word by their numbers in the alphabet; other letters get larger
/// numbers.
void number(std::vector<std::uint32_t> const& alphabet, std::vector<std::uint32_t>& word) {
  for (std::uint32_t& letter : word) {
    auto const at = std::lower_bound(alphabet.begin(), alphabet.end(), letter);
    letter = static_cast<std::uint32_t>(
        (at == alphabet.end() || *at != letter ? alphabet.end() : at) - alphabet.begin());
  }
}

void lay_out_vectors(vector_space const& space, gpu_layout& layout) {
  layout.which = space.which();
  layout.dimensions = static_cast<std::uint32_t>(space.rows().dimensions());
  std::size_t const places = layout.places();
  layout.values.resize(places * layout.dimensions);
  for (std::size_t i = 0; i < places; ++i) {
    auto const row = space.rows().row<float>(layout.ids[i]);
    for (std::size_t d = 0; d < layout.dimensions; ++d) layout.values[d * places + i] = row[d];
  }
}

void lay_out_words(word_space const& space, word_places places_of_words, gpu_layout& layout) {
  layout.which = metric_distance::edit;
  layout.unit = space.unit();
  std::string buffer;
  std::vector<std::vector<std::uint32_t>> words;
  for (std::uint32_t const id : layout.ids)
    words.push_back(letters_of(space.words()[id], space.unit(), buffer));
  for (auto const& word : words)
    layout.alphabet.insert(layout.alphabet.end(), word.begin(), word.end());
  std::sort(layout.alphabet.begin(), layout.alphabet.end());
  layout.alphabet.erase(std::unique(layout.alphabet.begin(), layout.alphabet.end()),
                        layout.alphabet.end());
  for (auto& word : words) number(layout.alphabet, word);
  if (places_of_words == word_places::by_length) {
    // Neighbouring threads should have words of equal length with common letters.
    std::vector<std::uint32_t> order(words.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (words[a].size() != words[b].size()) return words[a].size() < words[b].size();
      return words[a] != words[b] ? words[a] < words[b] : layout.ids[a] < layout.ids[b];
    });
    std::vector<std::vector<std::uint32_t>> sorted;
    std::vector<std::uint32_t> ids;
    for (std::uint32_t const i : order) {
      sorted.push_back(std::move(words[i]));
      ids.push_back(layout.ids[i]);
    }
    words.swap(sorted);
    layout.ids.swap(ids);
  }
  layout.letters_a_number = layout.alphabet.size() <= 256 ? 4 : 1;
  std::uint32_t const digits = 32 / layout.letters_a_number;
  std::size_t longest = 0;
  for (auto const& word : words) {
    longest = std::max(longest, word.size());
    layout.length.push_back(static_cast<std::uint32_t>(word.size()));
  }
  std::size_t const places = layout.places();
  std::size_t const rows = (longest + layout.letters_a_number - 1) / layout.letters_a_number;
  layout.numbers.resize(rows * places);
  for (std::size_t i = 0; i < places; ++i)
    for (std::size_t l = 0; l < words[i].size(); ++l)
      layout.numbers[l / layout.letters_a_number * places + i] |=
          words[i][l] << (l % layout.letters_a_number * digits);
}

void add(gpu_queries& queries, std::vector<std::uint32_t> const& word) {
  if (queries.begin.empty()) queries.begin.push_back(0);
  constexpr std::size_t most = std::size_t{1} << 31;
  if (queries.letters.size() + word.size() > most)
    throw usage_error(
        "found queries of more than 2^31 letters together, which a GPU cannot search; search fewer "
        "queries at a time");
  queries.letters.insert(queries.letters.end(), word.begin(), word.end());
  queries.begin.push_back(static_cast<std::uint32_t>(queries.letters.size()));
  ++queries.count;
}

}  // namespace

void lay_out_objects(metric_space const& space, word_places order, gpu_layout& layout) {
  constexpr std::uint32_t most = std::uint32_t{1} << 31;
  if (layout.places() >= most)
    throw usage_error(
        fmt::format("found {} objects, expected less than {} on GPUs", layout.places(), most));
  if (auto const* const vectors = dynamic_cast<vector_space const*>(&space))
    lay_out_vectors(*vectors, layout);
  else
    lay_out_words(dynamic_cast<word_space const&>(space), order, layout);
}

gpu_layout lay_out_all(metric_index const& index, word_places order) {
  structure_arrays arrays;
  metric_index_access::of(index).structure->save(arrays);
  gpu_layout layout;
  layout.ids = structure_reader(arrays.numbers, arrays.distances, index.space().size()).objects();
  std::sort(layout.ids.begin(), layout.ids.end());
  layout.objects = layout.places();
  lay_out_objects(index.space(), order, layout);
  return layout;
}

std::uint32_t gpu_queries::longest() const {
  std::uint32_t most = 0;
  for (std::size_t q = 0; q + 1 < begin.size(); ++q) most = std::max(most, length(q));
  return most;
}

gpu_queries queries_of(context const& ctx, gpu_layout const& layout,
                       datasets::vectors const& queries) {
  if (layout.has_words()) throw usage_error("found vectors to search, expected words");
  gpu_queries all;
  all.count = queries.size();
  if (queries.empty()) return all;
  // Uses the checks and the conversion of a space.
  vector_space const checked(ctx, queries, layout.which);
  if (layout.objects > 0 && queries.dimensions() != layout.dimensions)
    throw usage_error(fmt::format("{}: found vectors of {} dimensions, expected {}", queries.name(),
                                  queries.dimensions(), layout.dimensions));
  auto const* const from = reinterpret_cast<float const*>(checked.rows().data());
  all.values.assign(from, from + queries.size() * queries.dimensions());
  return all;
}

gpu_queries queries_of(gpu_layout const& layout, std::vector<std::string> const& queries) {
  if (!layout.has_words()) throw usage_error("found words to search, expected vectors");
  gpu_queries all;
  all.begin.push_back(0);
  std::string buffer;
  for (std::string const& query : queries) {
    auto word = letters_of(query, layout.unit, buffer);
    number(layout.alphabet, word);
    add(all, word);
  }
  return all;
}

gpu_queries queries_of(context const& ctx, gpu_layout const& layout,
                       metric_queries const& queries) {
  std::size_t const count = queries.size();
  if (auto const words = queries.as_words(0, count)) return queries_of(layout, *words);
  if (auto const vectors = queries.as_vectors(0, count)) return queries_of(ctx, layout, *vectors);
  throw usage_error("GPUs search vectors and words, not objects of other types");
}

gpu_queries some_of(gpu_layout const& layout, gpu_queries const& all,
                    std::span<std::uint32_t const> numbers) {
  gpu_queries some;
  for (std::uint32_t const q : numbers) {
    if (layout.has_words()) {
      add(some, {all.letters.begin() + all.begin[q], all.letters.begin() + all.begin[q + 1]});
      continue;
    }
    auto const from =
        all.values.begin() + static_cast<std::ptrdiff_t>(std::size_t{q} * layout.dimensions);
    some.values.insert(some.values.end(), from, from + layout.dimensions);
    ++some.count;
  }
  return some;
}

gpu_queries queries_at(gpu_layout const& layout, std::span<std::uint32_t const> places) {
  gpu_queries some;
  word_columns const words{layout.numbers.data(), layout.length.data(), layout.places(),
                           layout.letters_a_number};
  for (std::uint32_t const place : places) {
    if (layout.has_words()) {
      std::vector<std::uint32_t> word;
      words.for_each_letter(place, [&](std::uint32_t letter) { word.push_back(letter); });
      add(some, word);
      continue;
    }
    for (std::size_t d = 0; d < layout.dimensions; ++d)
      some.values.push_back(layout.values[d * layout.places() + place]);
    ++some.count;
  }
  return some;
}

}  // namespace rulerank::knn
