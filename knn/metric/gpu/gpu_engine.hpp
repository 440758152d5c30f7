#pragma once

#include "core/context.hpp"
#include "core/engine_registry.hpp"
#include "knn/candidate.hpp"
#include "knn/metric/gpu/gpu_layout.hpp"
#include "knn/metric/gpu_search.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace rulerank::inline v0::knn {

/// What queries are asked on devices.
struct gpu_request {
  std::size_t k = 0;  ///< 0: all within the radius; else at most as many as there are objects
  double radius = 0;
};

using gpu_candidates = std::vector<std::vector<candidate<double>>>;

/// An engine on the GPUs that it was made for. Several threads may call its functions at once.
class metric_gpu_searcher {
 public:
  virtual ~metric_gpu_searcher() = default;
  /// What it searches: queries are laid out for it.
  virtual gpu_layout const& layout() const = 0;
  /// The k nearest, which may be more than there are objects, as `metric_index::search` gives them:
  /// of an engine that writes them right into an answer. Such a one is asked to `search` for ranges
  /// alone. Throws `usage_error` as `metric_index::search` does.
  virtual std::optional<neighbours> nearest(context const& /*ctx*/, gpu_queries const& /*queries*/,
                                            std::size_t /*k*/, metric_gpu_work& /*work*/) const {
    return std::nullopt;
  }
  /// found[q]: what query q finds, in any order.
  virtual void search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
                      gpu_candidates& found, metric_gpu_work& work) const = 0;
};

/// What an engine is made of: an index for which `expect_searched` returns, and a context with
/// devices. The engine keeps nothing of the index.
struct gpu_build {
  context const& ctx;
  metric_index const& index;
  metric_engine engine;
};

/// The type of index that an engine reads, and the function that makes the engine.
struct metric_gpu_maker {
  metric_index_type reads = metric_index_type::automatic;
  std::unique_ptr<metric_gpu_searcher> (*make)(gpu_build const& from) = nullptr;
};
/// All engines of the module.
engine_registry<metric_engine, metric_gpu_maker>& registered_metric_engines();

/// Throws `usage_error` for an index of another type than an engine reads, and for a space that
/// GPUs do not search.
void expect_searched(metric_index const& index, metric_engine engine, metric_index_type reads);

std::unique_ptr<metric_gpu_searcher> make_pairs_on_gpus(gpu_build const& from);

}  // namespace rulerank::knn
