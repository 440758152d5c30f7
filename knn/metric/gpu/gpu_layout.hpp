#pragma once

#include "core/context.hpp"
#include "knn/metric/gpu/block_objects.hpp"
#include "knn/metric/search.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// The objects of an index as arrays for devices. Needs no CUDA: tests search the arrays on the
// host.
namespace rulerank::inline v0::knn {

/// The searched objects, in places in the order that an engine reads.
struct gpu_layout {
  metric_distance which = metric_distance::l2;
  letters unit = letters::code_points;
  /// The number of searchable objects, which are in the first places. An engine may repeat objects
  /// in later places.
  std::uint32_t objects = 0;
  std::vector<std::uint32_t> ids;  ///< [places] numbers in the index's space

  std::uint32_t dimensions = 0;
  std::vector<float> values;  ///< [dimensions][places]

  std::vector<std::uint32_t> alphabet;  ///< ascending; the number of a letter is its index
  std::uint32_t letters_a_number = 4;
  std::vector<std::uint32_t> numbers;  ///< [numbers of the longest word][places]
  std::vector<std::uint32_t> length;   ///< [places]

  std::uint32_t places() const { return static_cast<std::uint32_t>(ids.size()); }
  bool has_words() const { return which == metric_distance::edit; }
};

/// The order of words in places.
enum class word_places : std::uint8_t {
  as_given,
  /// By length, then by letters.
  by_length,
};

/// Fills in the objects of `layout.ids`, from a `word_space` or a `vector_space`, and their kind.
/// Throws `usage_error` for 2^31 or more places.
void lay_out_objects(metric_space const& space, word_places order, gpu_layout& layout);

/// Lays out the objects of an index of type brute in ascending order, or words by length. Throws as
/// `lay_out_objects`.
gpu_layout lay_out_all(metric_index const& index, word_places order);

/// Queries in the form that devices read.
struct gpu_queries {
  std::size_t count = 0;
  std::vector<float> values;  ///< [count][dimensions]
  /// Numbers of letters; larger numbers for letters that no object has.
  std::vector<std::uint32_t> letters;
  std::vector<std::uint32_t> begin;  ///< [count + 1]

  std::uint32_t length(std::size_t q) const { return begin[q + 1] - begin[q]; }
  std::uint32_t longest() const;
};
/// Throw as `metric_gpu_index::search`.
gpu_queries queries_of(context const& ctx, gpu_layout const& layout,
                       datasets::vectors const& queries);
gpu_queries queries_of(gpu_layout const& layout, std::vector<std::string> const& queries);
gpu_queries queries_of(context const& ctx, gpu_layout const& layout, metric_queries const& queries);
/// Returns the queries with these numbers, in this order.
gpu_queries some_of(gpu_layout const& layout, gpu_queries const& all,
                    std::span<std::uint32_t const> numbers);

/// The addresses of the arrays, on the host or on a device.
struct placed_arrays {
  std::uint32_t const* ids = nullptr;
  float const* values = nullptr;
  std::uint32_t const* numbers = nullptr;
  std::uint32_t const* length = nullptr;
};
inline placed_arrays arrays_of(gpu_layout const& layout) {
  return {layout.ids.data(), layout.values.data(), layout.numbers.data(), layout.length.data()};
}
struct placed_queries {
  float const* values = nullptr;
  std::uint32_t const* letters = nullptr;
  std::uint32_t const* begin = nullptr;
  std::uint32_t longest = 0;
};

/// Calls visit(objects) with the objects and queries in their concrete types.
template <class Visit>
void with_objects(gpu_layout const& layout, placed_arrays const& at, placed_queries const& queries,
                  Visit const& visit) {
  vector_columns const columns{at.values, layout.places(), layout.dimensions};
  if (layout.which == metric_distance::l1) {
    visit(vector_objects<metric_distance::l1>{columns, queries.values});
  } else if (layout.which == metric_distance::l2) {
    visit(vector_objects<metric_distance::l2>{columns, queries.values});
  } else if (layout.which == metric_distance::linf) {
    visit(vector_objects<metric_distance::linf>{columns, queries.values});
  } else {
    std::uint32_t const blocks = edit_blocks(queries.longest);
    visit(word_objects{{at.numbers, at.length, layout.places(), layout.letters_a_number},
                       static_cast<std::uint32_t>(layout.alphabet.size()),
                       queries.letters,
                       queries.begin,
                       blocks < 1 ? 1 : blocks});
  }
}

/// Returns the objects at some places as queries.
gpu_queries queries_at(gpu_layout const& layout, std::span<std::uint32_t const> places);

}  // namespace rulerank::knn
