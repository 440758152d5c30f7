#include "knn/dense/published/engines.hpp"

#include "knn/dense/engine.hpp"

namespace rulerank::inline v0::knn {

std::unique_ptr<dense_search_engine> make_ppk(context const& ctx, dense_rows const& rows,
                                              dense_index_options const& options);
std::unique_ptr<dense_search_engine> make_ppb(context const& ctx, dense_rows const& rows,
                                              dense_index_options const& options);
std::unique_ptr<dense_search_engine> make_sbq(context const& ctx, dense_rows const& rows,
                                              dense_index_options const& options);
std::unique_ptr<dense_search_engine> make_gs(context const& ctx, dense_rows const& rows,
                                             dense_index_options const& options);
std::unique_ptr<dense_search_engine> make_mpi_knn(context const& ctx, dense_rows const& rows,
                                                  dense_index_options const& options);

void add_published_dense_engines() {
  registered_dense_engines().add({
#if RULERANK_HAS_CUDA
    {{dense_engine::ppk, "ppk", "a launch a query, whose blocks share the rows; single precision",
      "Cordeiro, Meyer and Zola 2023", runs_on::gpus, runs_on::nowhere},
     {make_ppk}},
        {{dense_engine::ppb, "ppb", "a block a query, in one launch; single precision",
          "Cordeiro, Meyer and Zola 2023", runs_on::gpus, runs_on::nowhere},
         {make_ppb}},
        {{dense_engine::sbq, "sbq",
          "SBQ-KNN: blocks have queries to themselves or share the rows, then K-selection; single "
          "precision",
          "Cordeiro 2023, Algorithms 1 to 3", runs_on::gpus, runs_on::nowhere},
         {make_sbq}},
        {{dense_engine::gs, "gs",
          "GS_KNN: distances by cuBLAS, k minima or a bitonic sort by a trial; single precision",
          "Liu, Zheng and Liu 2019, Algorithm 2", runs_on::gpus, runs_on::nowhere},
         {make_gs}},
#endif
#if RULERANK_HAS_MPI
        {{dense_engine::mpi_knn, "mpi-knn",
          "a thread a process; a query has its k nearest so far and the farthest of them; single "
          "precision",
          "Cordeiro 2023, section 3.2", runs_on::cpu, runs_on::nowhere},
         {.make = make_mpi_knn, .has_even_shares = true}},
#endif
  });
}

}  // namespace rulerank::knn
