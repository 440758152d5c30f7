#include "al/published/engines.hpp"

#include "al/engine.hpp"
#include "al/published/counters.hpp"

#include <algorithm>

namespace rulerank::inline v0::al {

namespace {

std::unique_ptr<rule_counter> make_recount_counter(sampling_setup const& setup,
                                                   partition const& part) {
  return make_recount(part, setup.max_items(), setup.valid);
}

sampling_engine ssarp(bool) {
  return {make_recount_counter, threads_share::nothing};
}

sampling_engine pssarp(bool) {
  return {make_recount_counter, threads_share::documents};
}

#if RULERANK_HAS_CUDA
prss_shape largest_partition(sampling_setup const& setup) {
  prss_shape largest;
  for (auto const& features : setup.features) {
    std::size_t items = 0;
    for (std::size_t const f : features) items += setup.data.bins(f);
    largest.items = std::max(largest.items, items);
    largest.features = std::max(largest.features, features.size());
  }
  largest.documents = setup.data.documents;
  return largest;
}

sampling_engine prss(bool) {
  return {[memory = std::shared_ptr<prss_memory>()](sampling_setup const& setup,
                                                    partition const& part) mutable {
            if (!memory)
              memory = make_prss_memory(setup.ctx.devices, largest_partition(setup), setup.valid);
            return make_prss(memory, part, setup.max_items());
          },
          threads_share::documents, false};
}
#endif

}  // namespace

void add_published_engines() {
  registered_engines().add({
    {{engine::ssarp, "ssarp", "SSARP on one thread: all rules recounted each iteration",
      "Freitas 2017, Algorithms 3 and 4", runs_on::cpu, runs_on::nowhere},
     ssarp},
        {{engine::pssarp, "pssarp", "SSARP with the documents in parallel (OpenMP)",
          "Freitas 2017, Algorithms 10 and 11", runs_on::cpu, runs_on::nowhere},
         pssarp},
#if RULERANK_HAS_CUDA
        {{engine::prss, "prss", "SSARP with a document a thread of the GPU",
          "Freitas 2017, Algorithms 12 to 14", runs_on::gpus, runs_on::nowhere},
         prss},
#endif
  });
}

}  // namespace rulerank::al
