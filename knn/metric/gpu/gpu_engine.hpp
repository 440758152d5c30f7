#pragma once

#include "core/context.hpp"
#include "core/engine_registry.hpp"
#include "knn/candidate.hpp"
#include "knn/metric/gpu/gpu_layout.hpp"
#include "knn/metric/search.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace rulerank::inline v0::knn {

/// The arguments of a search on devices.
struct gpu_request {
  std::size_t k = 0;  ///< 0: all within the radius; otherwise at most the number of objects
  double radius = 0;
};

using gpu_candidates = std::vector<std::vector<candidate<double>>>;

/// An engine on specific GPUs. Several threads may call its functions at once.
class metric_gpu_searcher {
 public:
  virtual ~metric_gpu_searcher() = default;
  /// The layout of its objects, for which queries are laid out.
  virtual gpu_layout const& layout() const = 0;
  /// Returns the k nearest as `metric_index::search`, k possibly larger than the number of objects,
  /// if the engine writes results directly into `neighbours`. The `search` of this engine then gets
  /// only ranges. Throws `usage_error` as `metric_index::search`.
  virtual std::optional<neighbours> nearest(context const& /*ctx*/, gpu_queries const& /*queries*/,
                                            std::size_t /*k*/, metric_gpu_work& /*work*/) const {
    return std::nullopt;
  }
  /// Sets found[q] to the results of query q, in any order.
  virtual void search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
                      gpu_candidates& found, metric_gpu_work& work) const = 0;
};

/// The source of an engine: an index that `expect_searched` accepts, and a context with devices.
/// The engine keeps no reference to the index.
struct gpu_build {
  context const& ctx;
  metric_index const& index;
  metric_engine engine;
};

/// The type of index that an engine reads, and the engine's factory.
struct metric_gpu_maker {
  metric_index_type reads = metric_index_type::automatic;
  std::unique_ptr<metric_gpu_searcher> (*make)(gpu_build const& from) = nullptr;
};
/// The registry of the module's engines.
engine_registry<metric_engine, metric_gpu_maker>& registered_metric_engines();

/// Throws `usage_error` if the index has another type than the engine reads, or a space that GPUs
/// do not search.
void expect_searched(metric_index const& index, metric_engine engine, metric_index_type reads);

std::unique_ptr<metric_gpu_searcher> make_pairs_on_gpus(gpu_build const& from);

}  // namespace rulerank::knn
