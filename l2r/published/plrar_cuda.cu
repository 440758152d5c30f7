#include "l2r/published/document_threads.cuh"
#include "l2r/rules/cuda_engine.cuh"

// PLRAR as published (Freitas 2017, Algorithm 6, after De Sousa et al.): one test document per
// thread; every itemset's bitmaps are ANDed and counted from scratch, 32 bits at a time.
namespace rulerank::inline v0::l2r {

namespace {

template <class Sum>
struct arguments {
  document_view documents;
  row_view rows;
  score_view<Sum> table;
  double mean_label;
  std::uint32_t max_items;
  std::uint32_t* lists;  ///< [features][documents] rows of the documents' items
  double* scores;
};

template <class Sum>
__global__ __launch_bounds__(document_threads) void plrar_kernel(arguments<Sum> const a) {
  std::uint32_t const d = blockIdx.x * document_threads + threadIdx.x;
  if (d >= a.documents.documents) return;
  document_rows const list{a.lists + d, a.documents.documents};
  std::uint32_t const used = gather_rows(a.documents, d, a.lists + d, a.documents.documents);
  score_sums<Sum> sums;
  for (std::uint32_t size = 1; size <= a.max_items && size <= used; ++size)
    for_each_itemset(list, used, size, [&](std::uint32_t const* x) {
      std::uint32_t kept[kept_classes];
      auto count = [&](auto const& each) {
        return count_classes<std::uint32_t>(a.rows, row_bits(a.rows, x[0]), x + 1, size - 1,
                                            keep_nothing{}, each);
      };
      std::uint32_t const n =
          count([&](std::uint32_t k, std::uint32_t sigma) { keep_count(kept, k, sigma); });
      sums += sums_of_counts(a.table, n, kept, count);
    });
  a.scores[d] = score_of(sums, a.mean_label);
}

template <class Sum>
class plrar final : public device_scorer {
 public:
  plrar(prepared_training const& training, device_training const& on_device)
      : table_(training.table.view<Sum>()), features_(training.features.size()) {
    check_itemset_size("plrar", training);
    arguments_.rows = on_device.rows();
    arguments_.table = table_.view();
    arguments_.mean_label = training.table.mean_label();
    arguments_.max_items = static_cast<std::uint32_t>(training.table.max_itemset_size());
  }
  std::size_t bytes_per_document() const override { return features_ * sizeof(std::uint32_t); }
  void reserve(std::size_t documents) override { lists_.reserve(features_ * documents); }

  void score(document_view const& documents, double* scores, stream const& on) override {
    arguments<Sum> a = arguments_;
    a.documents = documents;
    a.lists = lists_.data();
    a.scores = scores;
    plrar_kernel<<<document_blocks(documents.documents), document_threads, 0, on.get()>>>(a);
    check_launch();
  }

 private:
  device_score_table<Sum> table_;
  std::size_t features_;
  device_buffer<std::uint32_t> lists_;
  arguments<Sum> arguments_{};
};

}  // namespace

std::unique_ptr<scoring_engine> make_plrar(context const& ctx, prepared_training const& training) {
  return on_devices(ctx.devices, training,
                    [](prepared_training const& prepared,
                       device_training const& on_device) -> std::unique_ptr<device_scorer> {
                      if (prepared.table.is_wide())
                        return std::make_unique<plrar<wide_sum>>(prepared, on_device);
                      return std::make_unique<plrar<std::uint64_t>>(prepared, on_device);
                    });
}

}  // namespace rulerank::l2r
