#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace rulerank {

/// Told now and then how far a stage is (`total` 0: unknown); answers false to stop the work.
/// Called from one thread at a time.
using progress_fn =
    std::function<bool(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

/// What every long computation is given first: where it runs and how it is stopped. The result
/// never depends on `threads` or `devices`.
struct context {
  int threads = 0;           ///< CPU threads; 0: all that the process may use
  std::vector<int> devices;  ///< CUDA device ordinals; empty: the CPU alone
  std::uint64_t seed = 1;    ///< for whatever draws at random
  std::stop_token stop;      ///< requested: the work throws `interrupted` soon
  progress_fn progress;      ///< may be empty

  /// The number of CPU threads to use, at least 1.
  int thread_count() const noexcept;
  /// Throws `interrupted` when a stop was requested.
  void check_stop() const;
  /// Reports progress and throws `interrupted` when told to stop. Not from a parallel region.
  void report(std::string_view stage, std::uint64_t done, std::uint64_t total) const;
};

}  // namespace rulerank
