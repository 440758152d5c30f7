#include "knn/dense/published/published_cuda.cuh"

// PPB, "um ponto por bloco" (Cordeiro, Meyer and Zola 2023): one launch with one query per block.
// Each block compares all rows, so no results need merging.
namespace rulerank::inline v0::knn {

namespace {

class ppb final : public published_engine {
 public:
  ppb(context const& ctx, dense_rows const& rows, dense_index_options const& options)
      : published_engine(ctx, rows, options.metric, "ppb"), kernels_(devices()) {
    for_each_device(devices(), [&](std::size_t i) { kernels_.make(i, metric()); });
  }

 private:
  void search_on_device(context const& ctx, task const& of, published_memory& memory,
                        dense_search_work& work) const override {
    knn_kernel const& kernel = kernels_[of.device];
    expect_at_most(of.k, kernel.most_neighbours(), "which a block's shared memory holds");
    ctx.check_stop();
    memory.nearest.reserve(of.queries.count * of.k);
    memory.begin.record(memory.on);
    kernel.search_queries(of.queries, of.rows, of.k, of.queries.count, 1, memory.nearest.data(),
                          memory.on);
    memory.end.record(memory.on);
    download_lists(memory.nearest, of.queries.count, of.k, memory);
    work.counts["kernel_ns"] += nanoseconds(memory.end.seconds_since(memory.begin));
    give_lists(ctx, memory.host.data(), of.k, of.found);
  }

  per_device<knn_kernel> kernels_;
};

}  // namespace

std::unique_ptr<dense_search_engine> make_ppb(context const& ctx, dense_rows const& rows,
                                              dense_index_options const& options) {
  return std::make_unique<ppb>(ctx, rows, options);
}

}  // namespace rulerank::knn
