#include "knn/metric/published/block_layout.hpp"

#include "knn/metric/indexes/index_state.hpp"
#include "knn/metric/indexes/structure.hpp"

#include <algorithm>

namespace rulerank::inline v0::knn {

namespace {

/// Centres precede the other objects.
void read_clusters(structure_reader& from, block_layout& layout) {
  std::size_t const clusters = from.number();
  std::vector<std::uint32_t> others;
  for (std::size_t c = 0; c < clusters; ++c) {
    layout.ids.push_back(from.object());
    layout.radius.push_back(from.distance());
    for (std::uint32_t const object : from.objects()) {
      others.push_back(object);
      layout.cluster_of.push_back(static_cast<std::uint32_t>(c));
    }
  }
  layout.ids.insert(layout.ids.end(), others.begin(), others.end());
  layout.objects = layout.places();
}

/// Pivots are repeated after the objects.
void read_pivots(structure_reader& from, block_layout& layout) {
  layout.ids = from.objects();
  layout.objects = layout.places();
  auto const pivots = from.pivots();
  layout.pivots = static_cast<std::uint32_t>(pivots.size());
  layout.ids.insert(layout.ids.end(), pivots.begin(), pivots.end());
  layout.table = from.distances(std::size_t{layout.objects} * layout.pivots);
  if (layout.engine == metric_engine::sss_pivots) return;
  std::vector<double> by_pivot(layout.table.size());
  for (std::size_t i = 0; i < layout.objects; ++i)
    for (std::size_t p = 0; p < layout.pivots; ++p)
      by_pivot[p * layout.objects + i] = layout.table[i * layout.pivots + p];
  layout.table.swap(by_pivot);
}

}  // namespace

metric_index_type type_read_by(metric_engine engine) {
  switch (engine) {
    case metric_engine::lc_growing:
    case metric_engine::lc_shrinking:
      return metric_index_type::lc;
    case metric_engine::sss_objects:
    case metric_engine::sss_pivots:
      return metric_index_type::sss;
    default:
      return metric_index_type::brute;
  }
}

block_layout lay_out_blocks(metric_index const& index, metric_engine engine) {
  block_layout layout;
  layout.engine = engine;
  layout.rule = metric_index_access::of(index).rule;
  if (type_read_by(engine) == metric_index_type::brute) {
    static_cast<gpu_layout&>(layout) = lay_out_all(index, word_places::as_given);
    return layout;
  }
  structure_arrays arrays;
  metric_index_access::of(index).structure->save(arrays);
  structure_reader from(arrays.numbers, arrays.distances, index.space().size());
  if (type_read_by(engine) == metric_index_type::lc)
    read_clusters(from, layout);
  else
    read_pivots(from, layout);
  lay_out_objects(index.space(), word_places::as_given, layout);
  return layout;
}

std::vector<std::uint32_t> training_places(std::uint32_t objects) {
  constexpr std::uint32_t share = 100;
  constexpr std::uint32_t most = 1000;
  std::uint32_t const count = std::min({objects, std::max(objects / share, 1U), most});
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < count; ++i)
    places.push_back(static_cast<std::uint32_t>(std::uint64_t{i} * objects / count));
  return places;
}

growing_radius radius_from(std::vector<double> of_kth) {
  if (of_kth.empty()) return {};
  std::sort(of_kth.begin(), of_kth.end());
  // The document leaves this open. If three quarters of the queries succeed with the first radius,
  // and the others with a few equal steps, the second launch has few rounds.
  double const first = of_kth[(of_kth.size() - 1) * 3 / 4];
  double const step = std::max((of_kth.back() - first) / 4, first / 8);
  return {first, step};
}

block_job job_of(block_layout const& layout, gpu_request const& request,
                 growing_radius const& radius, std::uint32_t attempt) {
  block_job job;
  job.k = static_cast<std::uint32_t>(request.k);
  job.radius = request.k > 0 ? radius.first : request.radius;
  job.step = radius.step;
  job.shrinks = request.k > 0 && layout.engine == metric_engine::lc_shrinking;
  if (request.k == 0 || attempt == 0) return job;
  job.first_round = 1;
  job.end_round = rounds_that_grow + 1;
  return job;
}

void count_pending(gpu_request const& request, launch_result const& done, metric_gpu_work& work) {
  auto const pending = std::count(done.count.begin(), done.count.end(), is_pending);
  if (request.k > 0 && pending > 0) work.counts["pending"] += static_cast<std::uint64_t>(pending);
}

}  // namespace rulerank::knn
