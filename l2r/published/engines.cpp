#include "l2r/published/engines.hpp"

#include "l2r/rules/engine.hpp"

namespace rulerank::inline v0::l2r {

std::unique_ptr<scoring_engine> make_lrar(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_plrar(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_profl_t(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_profl(context const& ctx, prepared_training const& training);

void add_published_engines() {
  registered_engines().add({
    {{engine::lrar, "lrar", "serial, with a cache of supports", "Freitas 2017, Algorithm 5",
      runs_on::cpu, runs_on::nowhere},
     {make_lrar, true}},
#if RULERANK_HAS_CUDA
        {{engine::plrar, "plrar", "a document a thread, no cache", "Freitas 2017, Algorithm 6",
          runs_on::gpus, runs_on::nowhere},
         {make_plrar, true}},
        {{engine::profl_t, "profl-t", "a document a thread, with a cache of itemsets",
          "Freitas 2017, section 4.3.6", runs_on::gpus, runs_on::nowhere},
         {make_profl_t, true}},
        {{engine::profl, "profl", "a document a block, with a cache of itemsets on each GPU",
          "Freitas 2017, Algorithms 16 and 17", runs_on::gpus, runs_on::nowhere},
         {make_profl, true}},
#endif
  });
}

}  // namespace rulerank::l2r
