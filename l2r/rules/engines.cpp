#include "l2r/rules/engine.hpp"
#include "l2r/rules/options.hpp"

namespace rulerank::inline v0::l2r {

std::unique_ptr<scoring_engine> make_project(context const& ctx,
                                             prepared_training const& training);  // project_cpu.cpp
std::unique_ptr<scoring_engine> make_tensor(context const& ctx,
                                            prepared_training const& training);  // tensor_cuda.cu

engine_registry<engine, engine_maker>& registered_engines() {
  static engine_registry<engine, engine_maker> engines {
    {{engine::project, "project",
      "bit rows compressed to the documents that hold an itemset's first items, shared by the "
      "test documents that hold them too",
      "", runs_on::cpu, runs_on::cpu},
     {make_project, false}},
#if RULERANK_HAS_CUDA
        {{engine::tensor, "tensor",
          "bit rows multiplied on the tensor cores; for many documents, what they share computed "
          "once",
          "", runs_on::gpus, runs_on::gpus},
         {make_tensor, true, true}},
#endif
  };
  return engines;
}

std::span<engine_info const> engines() {
  return registered_engines().list();
}

std::string_view name_of(engine which) {
  return name_of_engine(engines(), which);
}

engine engine_from(std::string_view name) {
  return engine_named<engine>(engines(), name);
}

}  // namespace rulerank::l2r
