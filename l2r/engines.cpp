#include "l2r/engine.hpp"
#include "l2r/options.hpp"

#include <array>

// The one list of this module's engines. A new engine: its file, its factory in engine.hpp and an
// entry here.
namespace rulerank::l2r {

namespace {

constexpr std::array list {
  engine_description{{engine::project, "project",
                      "bit rows compressed to the documents that hold an itemset's first items, "
                      "shared by the test documents that hold them too",
                      "", runs_on::cpu, runs_on::cpu, make_project},
                     false},
      engine_description{{engine::lrar, "lrar", "serial, with a cache of supports",
                          "Freitas 2017, Algorithm 5", runs_on::cpu, runs_on::nowhere, make_lrar},
                         true},
#if RULERANK_HAS_CUDA
      engine_description{{engine::tensor, "tensor",
                          "bit rows multiplied on the tensor cores; for many documents, what they "
                          "share computed once",
                          "", runs_on::gpus, runs_on::gpus, make_tensor},
                         true},
      engine_description{{engine::plrar, "plrar", "a document a thread, no cache",
                          "Freitas 2017, Algorithm 6", runs_on::gpus, runs_on::nowhere, make_plrar},
                         true},
      engine_description{
          {engine::profl_t, "profl-t", "a document a thread, with a cache of itemsets",
           "Freitas 2017, section 4.3.6", runs_on::gpus, runs_on::nowhere, make_profl_t},
          true},
      engine_description{
          {engine::profl, "profl", "a document a block, with a cache of itemsets on each GPU",
           "Freitas 2017, Algorithms 16 and 17", runs_on::gpus, runs_on::nowhere, make_profl},
          true},
#endif
};

}  // namespace

std::span<engine_description const> engines() {
  return list;
}

std::string_view name_of(engine which) {
  return name_of_engine(list, which);
}

engine engine_from(std::string_view name) {
  return engine_named<engine>(list, name);
}

}  // namespace rulerank::l2r
