#include "knn/metric/gpu_layout.hpp"

#include "core/error.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/index_state.hpp"
#include "knn/unicode.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <unicode/utf8.h>

namespace rulerank::inline v0::knn {

namespace {

/// The letters of a word, as a `word_space` has them.
std::vector<std::uint32_t> letters_of(std::string const& word, letters unit, std::string& buffer) {
  std::vector<std::uint32_t> found;
  if (unit == letters::bytes) {
    for (char const c : word) found.push_back(static_cast<unsigned char>(c));
    return found;
  }
  std::string_view const text = well_formed(word, buffer);
  for (std::size_t i = 0; i < text.size();) {
    UChar32 point = 0;
    U8_NEXT_UNSAFE(text.data(), i, point);
    found.push_back(static_cast<std::uint32_t>(point));
  }
  return found;
}

/// Numbers the letters of a word by the alphabet; those that it lacks stand behind it.
void number(std::vector<std::uint32_t> const& alphabet, std::vector<std::uint32_t>& word) {
  for (std::uint32_t& letter : word) {
    auto const at = std::lower_bound(alphabet.begin(), alphabet.end(), letter);
    letter = static_cast<std::uint32_t>(
        (at == alphabet.end() || *at != letter ? alphabet.end() : at) - alphabet.begin());
  }
}

/// What an index was written as; `ids` come in the order of places.
void read_structure(metric_index const& index, gpu_layout& layout) {
  structure_arrays arrays;
  metric_index_access::of(index).structure->save(arrays);
  std::size_t const objects = index.space().size();
  structure_reader from(arrays.numbers, arrays.distances, objects);
  if (index.type() == metric_index_type::lc) {
    std::size_t const clusters = from.number();
    std::vector<std::uint32_t> others;
    for (std::size_t c = 0; c < clusters; ++c) {
      layout.ids.push_back(from.object());
      layout.radius.push_back(from.distance());
      for (std::uint32_t const object : from.objects()) {
        others.push_back(object);
        layout.cluster_of.push_back(static_cast<std::uint32_t>(c));
      }
    }
    layout.ids.insert(layout.ids.end(), others.begin(), others.end());
    layout.objects = layout.places();
    return;
  }
  layout.ids = from.objects();
  layout.objects = layout.places();
  if (index.type() == metric_index_type::brute) {
    std::sort(layout.ids.begin(), layout.ids.end());
    return;
  }
  auto const pivots = from.pivots();
  layout.pivots = static_cast<std::uint32_t>(pivots.size());
  layout.ids.insert(layout.ids.end(), pivots.begin(), pivots.end());
  layout.table = from.distances(std::size_t{layout.objects} * layout.pivots);
  if (layout.engine == metric_engine::sss_pivots) return;
  std::vector<double> by_pivot(layout.table.size());
  for (std::size_t i = 0; i < layout.objects; ++i)
    for (std::size_t p = 0; p < layout.pivots; ++p)
      by_pivot[p * layout.objects + i] = layout.table[i * layout.pivots + p];
  layout.table.swap(by_pivot);
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

void lay_out_words(word_space const& space, gpu_layout& layout) {
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
  if (layout.engine == metric_engine::pairs) {
    // Neighbouring threads have words of one length, and letters in common.
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
    throw usage_error("queries of more than 2^31 letters together are too many for a GPU");
  queries.letters.insert(queries.letters.end(), word.begin(), word.end());
  queries.begin.push_back(static_cast<std::uint32_t>(queries.letters.size()));
  ++queries.count;
}

}  // namespace

gpu_layout lay_out(metric_index const& index, metric_engine engine) {
  gpu_layout layout;
  layout.engine = engine;
  layout.rule = metric_index_access::of(index).rule;
  if (index_type_of(engine) != index.type())
    throw usage_error(fmt::format("found an index of type {}, engine {} searches one of type {}",
                                  name_of(index.type()), name_of(engine),
                                  name_of(index_type_of(engine))));
  auto const* const vectors = dynamic_cast<vector_space const*>(&index.space());
  auto const* const words = dynamic_cast<word_space const*>(&index.space());
  if (vectors == nullptr && words == nullptr)
    throw usage_error("GPUs search vectors and words, not objects of another type");
  if (vectors != nullptr && vectors->which() == metric_distance::angular)
    throw usage_error("metric angular is searched on the CPU, expected l1, l2, linf or edit");
  read_structure(index, layout);
  constexpr std::uint32_t most = std::uint32_t{1} << 31;
  if (layout.places() >= most)
    throw usage_error(
        fmt::format("found {} objects, GPUs search less than {}", layout.places(), most));
  if (vectors != nullptr)
    lay_out_vectors(*vectors, layout);
  else
    lay_out_words(*words, layout);
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
  // The checks and the conversion of a space.
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

std::vector<std::uint32_t> training_places(std::uint32_t objects) {
  constexpr std::uint32_t share = 100;
  constexpr std::uint32_t most = 1000;
  std::uint32_t const count = std::min({objects, std::max(objects / share, 1U), most});
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < count; ++i)
    places.push_back(static_cast<std::uint32_t>(std::uint64_t{i} * objects / count));
  return places;
}

growing_radius radius_from(std::vector<double> of_kth) {
  if (of_kth.empty()) return {};
  std::sort(of_kth.begin(), of_kth.end());
  // The document does not say how; with three of four queries done at first, and the others in the
  // same steps, the second launch has few rounds.
  double const first = of_kth[(of_kth.size() - 1) * 3 / 4];
  double const step = std::max((of_kth.back() - first) / 4, first / 8);
  return {first, step};
}

}  // namespace rulerank::knn
