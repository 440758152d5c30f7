#include "knn/dense/flat_stream_cuda.cuh"

#include <algorithm>
#include <future>
#include <vector>

namespace rulerank::inline v0::knn {

void flat_stream::run(context const& ctx, dense_rows const& rows, std::span<index_range const> of,
                      std::function<void(flat_part const&)> const& search) {
  std::vector<index_range> pieces;
  for (index_range const& some : of)
    for (std::size_t begin = some.begin; begin < some.end; begin += piece_)
      pieces.push_back({begin, std::min(begin + piece_, some.end)});
  if (pieces.empty()) return;
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  auto const load = [&, device](std::size_t i) {
    current_device const guard(device);
    slots_[i % 2].load(ctx, rows, pieces[i], upload_);
  };
  // The destructor waits for a pending copy, also when an exception leaves.
  std::future<void> next = std::async(std::launch::async, load, std::size_t{0});
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    next.get();
    if (i + 1 < pieces.size()) next = std::async(std::launch::async, load, i + 1);
    search(slots_[i % 2]);
  }
}

}  // namespace rulerank::knn
