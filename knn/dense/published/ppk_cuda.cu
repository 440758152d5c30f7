#include "core/parallel.hpp"
#include "knn/dense/published/published_cuda.cuh"
#include "knn/merge_lists.hpp"

// PPK, "um ponto por kernel" (Cordeiro, Meyer and Zola 2023): one launch per query, with as many
// blocks as fill the device, which divide the rows. The paper does not say how the blocks' lists
// are merged (its times are those of the kernels). Here the blocks sort them, and the heap of all
// searches merges them on the CPU, in memory that is allocated once.
namespace rulerank::inline v0::knn {

namespace {

/// Lists of several queries are copied to the host together.
constexpr std::size_t lists_bytes = std::size_t{64} << 20;

class ppk final : public published_engine {
 public:
  ppk(context const& ctx, dense_rows const& rows, dense_index_options const& options)
      : published_engine(ctx, rows, options.metric, "ppk"), kernels_(devices()) {
    for_each_device(devices(), [&](std::size_t i) { kernels_.make(i, metric()); });
  }

 private:
  void search_on_device(context const& ctx, task const& of, published_memory& memory,
                        dense_search_work& work) const override {
    knn_kernel const& kernel = kernels_[of.device];
    expect_at_most(of.k, kernel.most_neighbours(), "which a block's shared memory holds");
    std::uint32_t const blocks = kernel.blocks_for(of.k);
    std::size_t const lists = std::size_t{blocks} * of.k;
    std::size_t const together =
        std::clamp<std::size_t>(lists_bytes / (lists * sizeof(near_key)), 1, of.queries.count);
    memory.lists.reserve(together * lists);
    for (std::size_t first = 0; first < of.queries.count; first += together) {
      std::size_t const count = std::min<std::size_t>(together, of.queries.count - first);
      memory.begin.record(memory.on);
      for (std::size_t q = 0; q < count; ++q) {
        ctx.check_stop();
        kernel.share_rows(of.queries.part(first + q, 1), of.rows, of.k, blocks, true,
                          memory.lists.data() + q * lists, memory.on);
      }
      memory.end.record(memory.on);
      download_lists(memory.lists, count, lists, memory);
      work.counts["kernel_ns"] += nanoseconds(memory.end.seconds_since(memory.begin));
      parallel_for(ctx, count, 8, [&](std::size_t begin, std::size_t end, int) {
        for (std::size_t q = begin; q < end; ++q)
          merge({memory.host.data() + q * lists, lists}, of.k, of.found[first + q]);
      });
    }
  }

  static void merge(std::span<near_key const> lists, std::size_t k,
                    std::vector<dense_candidate>& found) {
    neighbours one;
    one.queries = 1;
    one.k = k;
    one.order = value_order::smaller_is_nearer;
    one.id.resize(k);
    one.value.resize(k);
    merge_lists(lists, k, 0, one);
    found.resize(k);
    for (std::size_t i = 0; i < k; ++i) found[i] = {one.value[i], one.id[i]};
  }

  per_device<knn_kernel> kernels_;
};

}  // namespace

std::unique_ptr<dense_search_engine> make_ppk(context const& ctx, dense_rows const& rows,
                                              dense_index_options const& options) {
  return std::make_unique<ppk>(ctx, rows, options);
}

}  // namespace rulerank::knn
