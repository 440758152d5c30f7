#pragma once

#include "knn/metric/gpu/gpu_engine.hpp"
#include "knn/metric/gpu/gpu_launches.hpp"
#include "knn/metric/gpu/gpu_layout.hpp"
#include "knn/metric/indexes/exclusion.hpp"
#include "knn/metric/published/block_search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

// An index of type brute, lc or sss as arrays for knn/metric/published/block_search.hpp, and the
// launches of its searches. Needs no CUDA: tests search the arrays on the host.
namespace rulerank::inline v0::knn {

/// Returns the type of index that a published engine reads.
metric_index_type type_read_by(metric_engine engine);

struct block_layout : gpu_layout {
  metric_engine engine = metric_engine::brute_sort;
  exclusion rule{{}};
  std::vector<double> radius;             ///< lc: [centres]
  std::vector<std::uint32_t> cluster_of;  ///< lc: [objects - centres]
  std::uint32_t pivots = 0;               ///< sss: in the places after the objects
  std::vector<double> table;              ///< sss: [pivots][objects]; sss_pivots: [objects][pivots]
};
/// Throws as `lay_out_objects`.
block_layout lay_out_blocks(metric_index const& index, metric_engine engine);

/// The arrays of the published indexes, on the host or on a device.
struct placed_tables {
  double const* radius = nullptr;
  std::uint32_t const* cluster_of = nullptr;
  double const* table = nullptr;
};
inline placed_tables tables_of(block_layout const& layout) {
  return {layout.radius.data(), layout.cluster_of.data(), layout.table.data()};
}

/// Calls visit(candidates) with the candidates of the layout's engine.
template <class Visit>
void with_candidates(block_layout const& layout, placed_tables const& at, Visit const& visit) {
  sss_table const table{layout.objects, layout.pivots, at.table};
  auto const centres = static_cast<std::uint32_t>(layout.radius.size());
  switch (layout.engine) {
    case metric_engine::lc_growing:
    case metric_engine::lc_shrinking:
      return visit(lc_candidates{centres, layout.objects - centres, at.radius, at.cluster_of});
    case metric_engine::sss_objects:
      return visit(sss_candidates{table});
    case metric_engine::sss_pivots:
      return visit(sss_pivot_candidates{table});
    default:
      return visit(all_candidates{layout.objects});
  }
}

/// The radii that a search for the k nearest tries. The first contains k objects for most queries.
struct growing_radius {
  double first = 0;
  double step = 0;
};
/// Computes the radii from the distances of the k-th nearest of some objects, in any order.
growing_radius radius_from(std::vector<double> of_kth);
/// Returns the places of the objects that act as training queries: every hundredth.
std::vector<std::uint32_t> training_places(std::uint32_t objects);

/// Returns the job of a launch. The second attempt at the k nearest tries as many radii as each
/// query needs.
block_job job_of(block_layout const& layout, gpu_request const& request,
                 growing_radius const& radius, std::uint32_t attempt);

/// Adds the queries of a launch that need a larger radius to `work.counts`.
void count_pending(gpu_request const& request, launch_result const& done, metric_gpu_work& work);

/// Computes the radii for the k nearest. search(queries, request, radius) returns the lists of a
/// search with these radii. A training query finds itself and k others.
template <class Search>
growing_radius trained_radius(block_layout const& layout, std::size_t k, Search const& search) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  auto const places = training_places(layout.objects);
  std::vector<double> of_kth;
  for (auto const& list : search(queries_at(layout, places),
                                 gpu_request{std::min<std::size_t>(k + 1, layout.objects), 0},
                                 growing_radius{infinite, 0})) {
    double farthest = 0;
    for (auto const& one : list) farthest = std::max(farthest, one.value);
    of_kth.push_back(farthest);
  }
  return radius_from(std::move(of_kth));
}

}  // namespace rulerank::knn
