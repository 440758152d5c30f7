#pragma once
// From a collection to the bytes of its index.

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
  bool fields = false;  ///< count the terms of the fields too
  /// Counts that are kept in memory, of 16 bytes each; more of them go to the disk.
  std::size_t counts_in_memory = std::size_t{16} << 20;
  /// Has the other parts of the collection; null: there is one.
  process_group const* group = nullptr;
};

struct built_index {
  text_index_timings timings;
  std::vector<field_counts> fields;  ///< as `text_index::build_with_fields` says
  std::vector<std::uint32_t> sums;   ///< likewise
};

/// Reads a collection, or a process's part of it, and writes its index into the bytes that
/// `memory(size)` returns, zeros.
built_index build_index(context const& ctx, collection_source const& collection,
                        text_index_options const& options, index_build_settings const& settings,
                        std::function<std::span<std::byte>(std::size_t)> const& memory);

}  // namespace rulerank::knn
