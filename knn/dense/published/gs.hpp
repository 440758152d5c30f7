#pragma once

#include "knn/dense/engine.hpp"
#include "knn/neighbours.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// What tests and benchmarks ask of `gs` beside a search.
namespace rulerank::inline v0::knn {

/// How `gs` selects the k nearest of a query's distances.
enum class gs_selection : std::uint8_t {
  by_trial,  ///< what a trial with one query finds faster
  minima,    ///< k searches for the minimum; for k up to `most_minima`
  sorting,   ///< a bitonic sort
};

/// With more neighbours, searches for the minimum would leave no fewer keys than they read.
inline constexpr std::size_t most_minima = 512;

/// The engine `gs` with the selection given. Throws `usage_error` in a search with minima and a
/// larger k than `most_minima`.
std::unique_ptr<dense_search_engine> make_gs_selecting(context const& ctx, dense_rows const& rows,
                                                       dense_index_options const& options,
                                                       gs_selection how);

/// Liu, Zheng and Liu 2019, section 3.4: the class of each query by the votes of its neighbours,
/// counted with atomic additions on the context's first device. What `classify` gives for
/// `voting::majority`: of classes with equally many votes that of the nearer neighbour, where the
/// paper leaves it open. `class_of`: of each row, or `no_class`. Throws `usage_error` for more
/// classes than shared memory has counters for; `device_error` without a device.
std::vector<std::uint32_t> gs_vote(context const& ctx, neighbours const& found,
                                   std::span<std::uint32_t const> class_of);

}  // namespace rulerank::knn
