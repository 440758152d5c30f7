#pragma once

#include "knn/dense/engine.hpp"
#include "knn/neighbours.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// Functions of `gs` for tests and benchmarks.
namespace rulerank::inline v0::knn {

/// How `gs` selects the k nearest distances of a query.
enum class gs_selection : std::uint8_t {
  by_trial,  ///< the faster one in a trial with one query
  minima,    ///< k searches for the minimum; for k up to `most_minima`
  sorting,   ///< a bitonic sort
};

/// With more neighbours, searches for the minimum would keep as many keys as they read.
inline constexpr std::size_t most_minima = 512;

/// Makes the engine `gs` with a fixed selection. A search with `minima` and k above `most_minima`
/// throws `usage_error`.
std::unique_ptr<dense_search_engine> make_gs_selecting(context const& ctx, dense_rows const& rows,
                                                       dense_index_options const& options,
                                                       gs_selection how);

/// Liu, Zheng and Liu 2019, section 3.4: returns the class of each query by the votes of its
/// neighbours, counted with atomic additions on the context's first device. Equals `classify` with
/// `voting::majority`: ties go to the class of the nearer neighbour, which the paper leaves open.
/// `class_of`: of each row, or `no_class`. Throws `usage_error` for more classes than counters fit
/// in shared memory, and `device_error` without a device.
std::vector<std::uint32_t> gs_vote(context const& ctx, neighbours const& found,
                                   std::span<std::uint32_t const> class_of);

}  // namespace rulerank::knn
