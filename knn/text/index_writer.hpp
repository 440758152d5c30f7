#pragma once
// Builds the bytes of an index from a collection.

#include "core/process_group.hpp"
#include "knn/text/collection_counts.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

struct index_build_settings {
  bool fields = false;  ///< also count the terms of each field
  /// Counts kept in memory, 16 bytes each; more are written to disk.
  std::size_t counts_in_memory = std::size_t{16} << 20;
  /// The processes with the other parts of the collection; null: there are no other parts.
  process_group const* group = nullptr;
};

struct built_index {
  text_index_timings timings;
  std::vector<field_counts> fields;  ///< as in `text_index::build_with_fields`
  std::vector<std::uint32_t> sums;   ///< as in `text_index::build_with_fields`
};

/// Reads a collection, or a process's part of it, and writes its index into zeroed memory that
/// `memory(size)` returns.
built_index build_index(context const& ctx, collection_source const& collection,
                        text_index_options const& options, index_build_settings const& settings,
                        std::function<std::span<std::byte>(std::size_t)> const& memory);

}  // namespace rulerank::knn
