#include "knn/metric/published/engines.hpp"

#include "knn/metric/gpu/gpu_engine.hpp"
#include "knn/metric/published/block_layout.hpp"

namespace rulerank::inline v0::knn {

std::unique_ptr<metric_gpu_searcher> make_blocks_on_gpus(gpu_build const& from);
std::unique_ptr<metric_gpu_searcher> make_sort_on_gpus(gpu_build const& from);

void add_published_metric_engines() {
  using enum metric_engine;
  registered_metric_engines().add({
#if RULERANK_HAS_CUDA
    {{brute_sort, "brute-sort",
      "compares all objects, a block a query; the k nearest by sorting all distances",
      "Barrientos 2011, Algorithm 11 and section 4.2.1.1", runs_on::gpus, runs_on::nowhere},
     {type_read_by(brute_sort), make_sort_on_gpus}},
        {{lc_growing, "lc-growing",
          "List of Clusters, a block a query; the k nearest by a radius that grows",
          "Barrientos 2011, Algorithms 12, 14 and 15", runs_on::gpus, runs_on::nowhere},
         {type_read_by(lc_growing), make_blocks_on_gpus}},
        {{lc_shrinking, "lc-shrinking", "as lc-growing, the k nearest by a radius that shrinks",
          "Barrientos 2011, section 4.2.2", runs_on::gpus, runs_on::nowhere},
         {type_read_by(lc_shrinking), make_blocks_on_gpus}},
        {{sss_objects, "sss-objects",
          "SSS-Index, a block a query, objects distributed over its threads",
          "Barrientos 2011, Algorithms 13, 14 and 16", runs_on::gpus, runs_on::nowhere},
         {type_read_by(sss_objects), make_blocks_on_gpus}},
        {{sss_pivots, "sss-pivots", "as sss-objects, pivots distributed over the threads",
          "Barrientos 2011, section 4.1.3", runs_on::gpus, runs_on::nowhere},
         {type_read_by(sss_pivots), make_blocks_on_gpus}},
#endif
  });
}

}  // namespace rulerank::knn
