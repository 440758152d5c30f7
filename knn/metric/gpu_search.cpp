#include "knn/metric/gpu_search.hpp"

#include "core/engine_registry.hpp"
#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "knn/metric/answers.hpp"
#include "knn/metric/gpu_layout.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

using enum metric_engine;

using metric_gpu_maker = std::unique_ptr<metric_gpu_searcher> (*)(gpu_build const& from);
engine_registry<metric_engine, metric_gpu_maker> const& registered() {
  static engine_registry<metric_engine, metric_gpu_maker> const engines {
    {{index, "index", "the index's own search", "", runs_on::cpu, runs_on::cpu}, nullptr},
#if RULERANK_HAS_CUDA
        {{pairs, "pairs",
          "compares all objects: words bit-parallel in registers, a thread a pair; vectors by "
          "dense "
          "search (l2) or a matrix of distances",
          "", runs_on::gpus, runs_on::gpus},
         make_pairs_on_gpus},
        {{brute, "brute",
          "compares all objects, a block a query; the k nearest by sorting all distances",
          "Barrientos 2011, Algorithm 11 and section 4.2.1.1", runs_on::gpus, runs_on::nowhere},
         make_sort_on_gpus},
        {{lc, "lc", "List of Clusters, a block a query; the k nearest by a radius that grows",
          "Barrientos 2011, Algorithms 12, 14 and 15", runs_on::gpus, runs_on::nowhere},
         make_blocks_on_gpus},
        {{lc_shrinking, "lc-shrinking", "the same, the k nearest by a radius that shrinks",
          "Barrientos 2011, section 4.2.2", runs_on::gpus, runs_on::nowhere},
         make_blocks_on_gpus},
        {{sss, "sss", "SSS-Index, a block a query, objects distributed over its threads",
          "Barrientos 2011, Algorithms 13, 14 and 16", runs_on::gpus, runs_on::nowhere},
         make_blocks_on_gpus},
        {{sss_pivots, "sss-pivots", "the same, pivots distributed over the threads",
          "Barrientos 2011, section 4.1.3", runs_on::gpus, runs_on::nowhere},
         make_blocks_on_gpus},
#endif
  };
  return engines;
}

metric_engine chosen(metric_engine asked, metric_index_type type) {
  if (asked != automatic) return asked;
  if (type == metric_index_type::lc) return lc;
  if (type == metric_index_type::sss) return sss;
  return pairs;
}

std::size_t candidates_of(gpu_candidates const& lists) {
  std::size_t all = 0;
  for (auto const& list : lists) all += list.size();
  return all;
}

}  // namespace

std::span<metric_engine_info const> metric_engines() {
  return registered().list();
}
std::string_view name_of(metric_engine engine) {
  return name_of_engine(metric_engines(), engine);
}
metric_engine metric_engine_from(std::string_view name) {
  return engine_named<metric_engine>(metric_engines(), name);
}

metric_index_type index_type_of(metric_engine engine) {
  switch (engine) {
    case automatic:
    case index:
      return metric_index_type::automatic;
    case lc:
    case lc_shrinking:
      return metric_index_type::lc;
    case sss:
    case sss_pivots:
      return metric_index_type::sss;
    default:
      return metric_index_type::brute;
  }
}

bool is_on_gpus(metric_distance which, metric_index_type type) {
  return which != metric_distance::angular &&
         (type == metric_index_type::automatic || type == metric_index_type::brute ||
          type == metric_index_type::lc || type == metric_index_type::sss);
}

struct metric_gpu_index::implementation {
  gpu_layout layout;
  std::unique_ptr<metric_gpu_searcher> engine;

  /// Nearest first, of each query.
  gpu_candidates search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
                        metric_gpu_work* work) const {
    gpu_candidates found(queries.count);
    metric_gpu_work done;
    if (layout.objects > 0 && queries.count > 0) engine->search(ctx, queries, request, found, done);
    for_lists(ctx, found.size(), candidates_of(found), [&](std::size_t begin, std::size_t end) {
      for (std::size_t q = begin; q < end; ++q)
        std::sort(found[q].begin(), found[q].end(), nearer<value_order::smaller_is_nearer>{});
    });
    if (work != nullptr) *work += done;
    return found;
  }
  neighbours nearest(context const& ctx, gpu_queries const& queries, std::size_t k,
                     metric_gpu_work* work) const;
  rows_in_range within(context const& ctx, gpu_queries const& queries, double radius,
                       metric_gpu_work* work) const;
};

neighbours metric_gpu_index::implementation::nearest(context const& ctx, gpu_queries const& queries,
                                                     std::size_t k, metric_gpu_work* work) const {
  stopwatch const watch;
  metric_gpu_work done;
  if (layout.objects > 0 && queries.count > 0)
    if (auto found = engine->nearest(ctx, queries, k, done)) {
      if (work != nullptr) *work += done;
      found->search_s = watch.seconds();
      return *std::move(found);
    }
  return nearest_of_all(queries.count, k, [&](auto const& take) {
    auto lists = search(ctx, queries, {std::min<std::size_t>(k, layout.objects), 0}, work);
    for_lists(ctx, lists.size(), candidates_of(lists), [&](std::size_t begin, std::size_t end) {
      for (std::size_t q = begin; q < end; ++q) take(q, lists[q]);
    });
  });
}

rows_in_range metric_gpu_index::implementation::within(context const& ctx,
                                                       gpu_queries const& queries, double radius,
                                                       metric_gpu_work* work) const {
  return within_of_all(ctx, queries.count, radius, [&](auto const& take) {
    auto lists = search(ctx, queries, {0, radius}, work);
    for (std::size_t q = 0; q < lists.size(); ++q) take(q, lists[q]);
  });
}

metric_gpu_index::metric_gpu_index(context const& ctx, metric_index const& index,
                                   metric_gpu_options const& options) {
  auto const engine = chosen(options.engine, index.type());
  auto const* const entry = find_engine(metric_engines(), engine);
  if (engine == metric_engine::index)
    throw usage_error("engine index searches on the CPU, expected one that runs on GPUs");
  if (entry == nullptr)
    throw device_error("this build has no CUDA, and metric search on GPUs needs it");
  if (ctx.devices.empty())
    throw device_error(
        fmt::format("engine {} runs on GPUs, and there is none to run on", entry->name));
  implementation_ = std::make_unique<implementation>();
  implementation_->layout = lay_out(index, engine);
  implementation_->engine = registered().maker_of(engine)({ctx, implementation_->layout});
}
metric_gpu_index::~metric_gpu_index() = default;
metric_gpu_index::metric_gpu_index(metric_gpu_index&&) noexcept = default;

std::size_t metric_gpu_index::size() const noexcept {
  return implementation_->layout.objects;
}
metric_engine metric_gpu_index::engine() const noexcept {
  return implementation_->layout.engine;
}

neighbours metric_gpu_index::search(context const& ctx, datasets::vectors const& queries,
                                    std::size_t k, metric_gpu_work* work) const {
  return implementation_->nearest(ctx, queries_of(ctx, implementation_->layout, queries), k, work);
}
neighbours metric_gpu_index::search(context const& ctx, std::vector<std::string> const& queries,
                                    std::size_t k, metric_gpu_work* work) const {
  return implementation_->nearest(ctx, queries_of(implementation_->layout, queries), k, work);
}
rows_in_range metric_gpu_index::search_range(context const& ctx, datasets::vectors const& queries,
                                             double radius, metric_gpu_work* work) const {
  return implementation_->within(ctx, queries_of(ctx, implementation_->layout, queries), radius,
                                 work);
}
rows_in_range metric_gpu_index::search_range(context const& ctx,
                                             std::vector<std::string> const& queries, double radius,
                                             metric_gpu_work* work) const {
  return implementation_->within(ctx, queries_of(implementation_->layout, queries), radius, work);
}

}  // namespace rulerank::knn
