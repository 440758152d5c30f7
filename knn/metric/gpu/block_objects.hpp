#pragma once

#include "core/host_device.hpp"
#include "knn/metric/edit_distance/edit_math.hpp"
#include "knn/metric/spaces/vector_math.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

// The objects that the threads of a block compare with a query. The code works for any Block, a
// class with
//
//   thread(), threads()       this thread's number, and the number of threads
//   sync()                    a barrier for all threads
//   add(to, more)             atomic addition; returns the previous value
//   lower(to, value)          atomic minimum
//   set_bits(to, bits)        atomic or
//   load(from), store(to, v)  atomic access to a number that other threads change
//
// so a device (knn/metric/gpu/cuda_block.cuh) and, in tests, host threads run the same code.
namespace rulerank::inline v0::knn {

/// The results of each query of a launch.
struct found_lists {
  double* value = nullptr;               ///< [queries][capacity]
  std::uint32_t* id = nullptr;           ///< [queries][capacity]
  std::uint32_t* count = nullptr;        ///< [queries]; above the capacity: the list is incomplete
  std::uint64_t* evaluations = nullptr;  ///< [queries]
  std::uint32_t capacity = 0;
};

/// Returns whether a list has space for all results of its query.
RULERANK_HOST_DEVICE constexpr bool is_whole(std::uint32_t count, std::uint32_t capacity) {
  return count <= capacity;
}

/// The memory of a block for its query, shared by all its threads.
struct query_space {
  std::byte* query = nullptr;     ///< `query_bytes()` of the objects
  std::uint64_t* rows = nullptr;  ///< for words in blocks: [2 * blocks][threads]
};

/// Vectors, and queries for them.
template <metric_distance Which>
struct vector_objects {
  vector_columns columns;
  float const* queries = nullptr;  // [queries][dimensions]

  std::size_t query_bytes() const { return columns.dimensions * sizeof(float); }
  std::size_t row_numbers() const { return 0; }

  /// One thread's view of a query.
  class origin {
   public:
    RULERANK_HOST_DEVICE origin(vector_columns const& columns, float const* query)
        : columns_(columns), query_(query) {}
    RULERANK_HOST_DEVICE void set_bound(double bound) {
      if (bound == bound_) return;
      bound_ = bound;
      limit_ = filter_limit<Which>(bound, columns_.dimensions);
    }
    RULERANK_HOST_DEVICE double measure(std::uint32_t place) const {
      return defined_distance<Which>(query_, columns_, place);
    }
    /// Sets `value` to the distance if it is within the bound.
    RULERANK_HOST_DEVICE bool is_within(std::uint32_t place, double& value) const {
      if (is_filtered<Which>(query_, columns_, place, limit_)) return false;
      value = measure(place);
      return value <= bound_;
    }

   private:
    vector_columns columns_;
    float const* query_;
    double bound_ = -1;
    float limit_ = 0;
  };
  template <class Block>
  RULERANK_HOST_DEVICE origin load(Block const& block, std::size_t q,
                                   query_space const& space) const {
    auto* const query = reinterpret_cast<float*>(space.query);
    for (std::uint32_t d = block.thread(); d < columns.dimensions; d += block.threads())
      query[d] = queries[q * columns.dimensions + d];
    block.sync();
    return origin(columns, query);
  }
};

/// Words, and queries for them.
struct word_objects {
  word_columns columns;
  std::uint32_t alphabet = 0;
  // The letters of all queries; `alphabet` for a letter that no word has.
  std::uint32_t const* letters = nullptr;
  std::uint32_t const* begin = nullptr;  // [queries + 1]
  std::uint32_t blocks = 1;              // for the longest query

  std::size_t query_bytes() const { return std::size_t{blocks} * alphabet * sizeof(std::uint64_t); }
  /// The size of `rows` per thread, in numbers.
  std::size_t row_numbers() const { return blocks > 1 ? 2 * std::size_t{blocks} : 0; }

  class origin {
   public:
    RULERANK_HOST_DEVICE origin(word_objects const& words, std::uint64_t const* where,
                                std::uint32_t length, std::uint64_t* rows, std::size_t stride)
        : words_(words), where_(where), length_(length), rows_(rows), stride_(stride) {}
    RULERANK_HOST_DEVICE void set_bound(double bound) { bound_ = bound; }
    RULERANK_HOST_DEVICE double measure(std::uint32_t place) const {
      return edit_distance_in_blocks(where_, length_, words_.alphabet, words_.columns, place, rows_,
                                     stride_);
    }
    RULERANK_HOST_DEVICE bool is_within(std::uint32_t place, double& value) const {
      if (lengths_apart(length_, words_.columns.length[place]) > bound_) return false;
      value = measure(place);
      return value <= bound_;
    }

   private:
    word_objects const& words_;
    std::uint64_t const* where_;
    std::uint32_t length_;
    std::uint64_t* rows_;
    std::size_t stride_;
    double bound_ = -1;
  };
  template <class Block>
  RULERANK_HOST_DEVICE origin load(Block const& block, std::size_t q,
                                   query_space const& space) const {
    auto* const where = reinterpret_cast<std::uint64_t*>(space.query);
    std::uint32_t const length = begin[q + 1] - begin[q];
    std::uint32_t const masks = edit_blocks(length) * alphabet;
    for (std::uint32_t i = block.thread(); i < masks; i += block.threads()) where[i] = 0;
    block.sync();
    for (std::uint32_t i = block.thread(); i < length; i += block.threads()) {
      std::uint32_t const letter = letters[begin[q] + i];
      if (letter < alphabet)
        block.set_bits(&where[i / rows_of_a_block * alphabet + letter],
                       std::uint64_t{1} << (i % rows_of_a_block));
    }
    block.sync();
    std::uint64_t* const rows = blocks > 1 ? space.rows + block.thread() : nullptr;
    return origin(*this, where, length, rows, block.threads());
  }
};

}  // namespace rulerank::knn
