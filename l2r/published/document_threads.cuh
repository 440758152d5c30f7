#pragma once

#include "core/error.hpp"
#include "l2r/rules/itemset_rows.cuh"
#include "rules/combinadic_math.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// Shared code of the published engines with one thread per document (Freitas 2017, Algorithm 6).
namespace rulerank::inline v0::l2r {

/// Threads per block: two warps, so that the few documents of a query spread over the device.
inline constexpr std::uint32_t document_threads = 64;

inline std::uint32_t document_blocks(std::uint32_t documents) {
  return (documents + document_threads - 1) / document_threads;
}

/// Throws `usage_error` for itemsets that are too large for the published engines on GPUs.
inline void check_itemset_size(std::string_view engine, prepared_training const& training) {
  std::size_t const size = training.table.max_itemset_size();
  if (size > most_items)
    throw usage_error("engine " + std::string(engine) + ": found itemsets of up to " +
                      std::to_string(size) + " items, expected up to " +
                      std::to_string(most_items));
}

/// The rows of one document's items; documents of a launch are interleaved.
struct document_rows {
  std::uint32_t const* first;
  std::size_t stride;
  __device__ std::uint32_t operator[](std::uint32_t i) const { return first[i * stride]; }
};

/// Calls visit(x) for each itemset of `size` of the document's `used` items, 1 <= size <= used,
/// grouped by the latest item. x has the latest item first.
template <class Visit>
__device__ void for_each_itemset(document_rows const& rows, std::uint32_t used, std::uint32_t size,
                                 Visit const& visit) {
  std::uint32_t c[most_items];
  std::uint32_t x[most_items];
  for (std::uint32_t i = 0; i < size; ++i) {
    c[i] = size - 1 - i;
    x[i] = rows[c[i]];
  }
  for (;;) {
    visit(x);
    std::uint32_t i = rules::next_combination(c, size);
    if (c[0] == used) return;
    for (; i < size; ++i) x[i] = rows[c[i]];
  }
}

}  // namespace rulerank::l2r
