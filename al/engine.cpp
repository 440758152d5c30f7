#include "al/engine.hpp"

#include "al/device_delta.hpp"

#include <algorithm>
#include <array>

namespace rulerank::al {

namespace {

std::unique_ptr<rule_counter> make_recount_counter(sampling_setup const& setup,
                                                   partition const& part) {
  return make_recount(part, setup.max_items(), setup.valid);
}

std::unique_ptr<rule_counter> make_delta_counter(sampling_setup const& setup,
                                                 partition const& part) {
  return make_delta(part, setup.max_items(), setup.valid, setup.memory);
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

std::unique_ptr<partition_loops> make_delta_loops(sampling_setup const& setup) {
  return make_delta_on_devices(
      setup.ctx, make_partitions(setup), setup.max_items(), setup.valid,
      setup.fixed_iterations == 0,
      setup.labels_known ? setup.data.labels : std::vector<std::int32_t>{});
}
#endif

sampling_engine ssarp(bool) {
  return {make_recount_counter, threads_share::nothing};
}

sampling_engine pssarp(bool) {
  return {make_recount_counter, threads_share::documents};
}

sampling_engine delta([[maybe_unused]] bool on_gpus) {
  sampling_engine how{make_delta_counter, threads_share::partitions};
#if RULERANK_HAS_CUDA
  if (on_gpus) how.make_loops_on_gpus = make_delta_loops;
#endif
  return how;
}

#if RULERANK_HAS_CUDA
sampling_engine prss(bool) {
  return {[memory = std::shared_ptr<prss_memory>()](sampling_setup const& setup,
                                                    partition const& part) mutable {
            if (!memory)
              memory = make_prss_memory(setup.ctx.devices, largest_partition(setup), setup.valid);
            return make_prss(memory, part, setup.max_items());
          },
          threads_share::documents, false};
}
constexpr runs_on delta_on = runs_on::cpu_and_gpus;
#else
constexpr runs_on delta_on = runs_on::cpu;
#endif

constexpr std::array engine_list {
  engine_info{engine::ssarp,
              "ssarp",
              "SSARP on one thread: all rules recounted each iteration",
              "Freitas 2017, Algorithms 3 and 4",
              runs_on::cpu,
              runs_on::nowhere,
              ssarp},
      engine_info{engine::pssarp,
                  "pssarp",
                  "SSARP with the documents in parallel (OpenMP)",
                  "Freitas 2017, Algorithms 10 and 11",
                  runs_on::cpu,
                  runs_on::nowhere,
                  pssarp},
      engine_info{
          engine::delta, "delta", "counts only what the chosen document changed", "", delta_on,
          delta_on,      delta},
#if RULERANK_HAS_CUDA
      engine_info{engine::prss,
                  "prss",
                  "SSARP with a document a thread of the GPU",
                  "Freitas 2017, Algorithms 12 to 14",
                  runs_on::gpus,
                  runs_on::nowhere,
                  prss},
#endif
};

}  // namespace

std::span<engine_info const> engines() {
  return engine_list;
}

std::string_view name_of(engine e) {
  return name_of_engine(engine_list, e);
}

engine engine_from(std::string_view name) {
  return engine_named<engine>(engine_list, name);
}

}  // namespace rulerank::al
