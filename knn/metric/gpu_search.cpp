#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "knn/metric/gpu/gpu_engine.hpp"
#include "knn/metric/query_results.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Returns the engine for a requested one and a type of index.
metric_engine chosen(metric_engine asked, metric_index_type type) {
  if (asked != metric_engine::automatic) return asked;
  for (metric_engine_info const& entry : metric_engines())
    if (includes(entry.where, runs_on::gpus) && index_type_of(entry.which) == type)
      return entry.which;
  return metric_engine::pairs;
}

std::size_t candidates_of(gpu_candidates const& lists) {
  std::size_t all = 0;
  for (auto const& list : lists) all += list.size();
  return all;
}

}  // namespace

engine_registry<metric_engine, metric_gpu_maker>& registered_metric_engines() {
  static engine_registry<metric_engine, metric_gpu_maker> engines {
    {{metric_engine::index, "index", "the index's own search", "", runs_on::cpu, runs_on::cpu}, {}},
#if RULERANK_HAS_CUDA
        {{metric_engine::pairs, "pairs",
          "compares all objects: words bit-parallel in registers, a thread a pair; vectors by "
          "dense "
          "search (l2) or a matrix of distances",
          "", runs_on::gpus, runs_on::gpus},
         {metric_index_type::brute, make_pairs_on_gpus}},
#endif
  };
  return engines;
}

std::span<metric_engine_info const> metric_engines() {
  return registered_metric_engines().list();
}
std::string_view name_of(metric_engine engine) {
  return name_of_engine(metric_engines(), engine);
}
metric_engine metric_engine_from(std::string_view name) {
  return engine_named<metric_engine>(metric_engines(), name);
}

metric_index_type index_type_of(metric_engine engine) {
  if (find_engine(metric_engines(), engine) == nullptr) return metric_index_type::automatic;
  return registered_metric_engines().maker_of(engine).reads;
}

bool is_on_gpus(metric_distance which, metric_index_type type) {
  if (which == metric_distance::angular) return false;
  if (type == metric_index_type::automatic || type == metric_index_type::brute) return true;
  return std::any_of(metric_engines().begin(), metric_engines().end(),
                     [&](auto const& entry) { return index_type_of(entry.which) == type; });
}

void expect_searched(metric_index const& index, metric_engine engine, metric_index_type reads) {
  if (reads != index.type())
    throw usage_error(
        fmt::format("found an index of type {}, but engine {} searches an index of type {}",
                    name_of(index.type()), name_of(engine), name_of(reads)));
  auto const* const vectors = dynamic_cast<vector_space const*>(&index.space());
  if (vectors == nullptr && dynamic_cast<word_space const*>(&index.space()) == nullptr)
    throw usage_error("GPUs search vectors and words, not objects of other types");
  if (vectors != nullptr && vectors->which() == metric_distance::angular)
    throw usage_error("GPUs do not search metric angular, expected l1, l2, linf or edit");
}

struct metric_gpu_index::implementation {
  metric_engine which;
  std::unique_ptr<metric_gpu_searcher> engine;

  gpu_layout const& layout() const { return engine->layout(); }

  /// Returns the results of each query, nearest first.
  gpu_candidates search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
                        metric_gpu_work* work) const {
    gpu_candidates found(queries.count);
    metric_gpu_work done;
    if (layout().objects > 0 && queries.count > 0)
      engine->search(ctx, queries, request, found, done);
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
  if (layout().objects > 0 && queries.count > 0)
    if (auto found = engine->nearest(ctx, queries, k, done)) {
      if (work != nullptr) *work += done;
      found->search_s = watch.seconds();
      return *std::move(found);
    }
  return nearest_of_all(queries.count, k, [&](auto const& take) {
    auto lists = search(ctx, queries, {std::min<std::size_t>(k, layout().objects), 0}, work);
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
    throw usage_error("engine index runs on the CPU, expected an engine for GPUs");
  if (entry == nullptr)
    throw device_error("metric search on GPUs needs CUDA, which this build does not have");
  if (ctx.devices.empty())
    throw device_error(
        fmt::format("engine {} needs a GPU, and no CUDA device was found", entry->name));
  metric_gpu_maker const& maker = registered_metric_engines().maker_of(engine);
  expect_searched(index, engine, maker.reads);
  implementation_ =
      std::make_unique<implementation>(implementation{engine, maker.make({ctx, index, engine})});
}
metric_gpu_index::~metric_gpu_index() = default;
metric_gpu_index::metric_gpu_index(metric_gpu_index&&) noexcept = default;

std::size_t metric_gpu_index::size() const noexcept {
  return implementation_->layout().objects;
}
metric_engine metric_gpu_index::engine() const noexcept {
  return implementation_->which;
}

neighbours metric_gpu_index::search(context const& ctx, metric_queries const& queries,
                                    std::size_t k, metric_gpu_work* work) const {
  return implementation_->nearest(ctx, queries_of(ctx, implementation_->layout(), queries), k,
                                  work);
}
rows_in_range metric_gpu_index::search_range(context const& ctx, metric_queries const& queries,
                                             double radius, metric_gpu_work* work) const {
  return implementation_->within(ctx, queries_of(ctx, implementation_->layout(), queries), radius,
                                 work);
}

}  // namespace rulerank::knn
