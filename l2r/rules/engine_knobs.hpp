#pragma once

#include "l2r/rules/ranker.hpp"

#include <cstddef>

namespace rulerank::inline v0::l2r {

/// Settings for tests and benchmarks, to reach code paths that their inputs would not reach.
struct engine_knobs {
  /// tensor: from this many documents per call on, scores them together, item by item.
  std::size_t shared_from = 1500;
  /// Bytes of each GPU for batches of documents; 0: the free memory minus a reserve.
  std::size_t device_bytes = 0;
  /// Use 128-bit sums (in `project` also 32-bit rows) even if narrower ones suffice.
  bool wide_sums = false;
  /// project: approximate microseconds of work per thread; 0: all threads for any work.
  std::size_t microseconds_a_thread = 2000;
  /// Any engine: scores one call at a time, and joins those that wait.
  bool join_calls = false;
};

/// The setting of engines with a cache of itemsets: its bytes, per GPU or on the CPU.
inline constexpr char const* cache_bytes_setting = "cache_bytes";
inline constexpr std::size_t default_cache_bytes = std::size_t{4} << 30;

struct prepared_training;

/// Access for this module's code, tests and benchmarks.
struct ranker_access {
  static ranker with(context const& ctx, datasets::binned_dataset const& training,
                     ranker_options const& options, engine_knobs const& knobs);
  static prepared_training const& prepared(ranker const& of) noexcept;
};

}  // namespace rulerank::l2r
