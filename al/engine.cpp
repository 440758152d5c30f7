#include "al/engine.hpp"

#include "al/device_delta.hpp"

namespace rulerank::inline v0::al {

namespace {

std::unique_ptr<rule_counter> make_delta_counter(sampling_setup const& setup,
                                                 partition const& part) {
  return make_delta(part, setup.max_items(), setup.valid, setup.memory);
}

#if RULERANK_HAS_CUDA
std::unique_ptr<partition_loops> make_delta_loops(sampling_setup const& setup) {
  return make_delta_on_devices(
      setup.ctx, make_partitions(setup), setup.max_items(), setup.valid,
      setup.fixed_iterations == 0,
      setup.labels_known ? setup.data.labels : std::vector<std::int32_t>{});
}
#endif

sampling_engine delta([[maybe_unused]] bool on_gpus) {
  sampling_engine how{make_delta_counter, threads_share::partitions};
#if RULERANK_HAS_CUDA
  if (on_gpus) how.make_loops_on_gpus = make_delta_loops;
#endif
  return how;
}

#if RULERANK_HAS_CUDA
constexpr runs_on delta_on = runs_on::cpu_and_gpus;
#else
constexpr runs_on delta_on = runs_on::cpu;
#endif

}  // namespace

engine_registry<engine, engine_maker>& registered_engines() {
  static engine_registry<engine, engine_maker> engines{
      {{engine::delta, "delta", "counts only what the chosen document changed", "", delta_on,
        delta_on},
       delta}};
  return engines;
}

std::span<engine_info const> engines() {
  return registered_engines().list();
}

std::string_view name_of(engine e) {
  return name_of_engine(engines(), e);
}

engine engine_from(std::string_view name) {
  return engine_named<engine>(engines(), name);
}

}  // namespace rulerank::al
