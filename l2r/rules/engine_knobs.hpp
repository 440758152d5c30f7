#pragma once

#include "l2r/rules/ranker.hpp"

#include <cstddef>

namespace rulerank::inline v0::l2r {

/// What only tests and benchmarks set, to reach code that their inputs would not reach.
struct engine_knobs {
  /// tensor scores so many documents or more of a call together, item by item.
  std::size_t shared_from = 1500;
  /// Memory of each GPU that batches of documents may take; 0: what is free, less a reserve.
  std::size_t device_bytes = 0;
  /// 128-bit sums (in `project` also 32-bit rows) even where less suffices.
  bool wide_sums = false;
  /// project takes a thread for each so much of its work, about; 0: all threads for any work.
  std::size_t microseconds_a_thread = 2000;
};

/// The setting of engines with a cache of itemsets: the memory of it, on each GPU or on the CPU.
inline constexpr char const* cache_bytes_setting = "cache_bytes";
inline constexpr std::size_t default_cache_bytes = std::size_t{4} << 30;

struct prepared_training;

/// For this module's own code, tests and benchmarks.
struct ranker_access {
  static ranker with(context const& ctx, datasets::binned_dataset const& training,
                     ranker_options const& options, engine_knobs const& knobs);
  static prepared_training const& prepared(ranker const& of) noexcept;
};

}  // namespace rulerank::l2r
