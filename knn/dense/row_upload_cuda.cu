#include "core/parallel.hpp"
#include "knn/dense/row_upload_cuda.cuh"

#include <algorithm>
#include <cstring>

namespace rulerank::inline v0::knn {

namespace {

/// Bytes of one half: large compared with the cost of starting a copy.
constexpr std::size_t half_bytes = std::size_t{32} << 20;
/// Bytes that a thread copies at once.
constexpr std::size_t thread_bytes = std::size_t{1} << 20;

void copy_rows(dense_rows const& rows, index_range const& of, std::byte* to) {
  for (std::size_t row = of.begin; row < of.end;) {
    std::size_t const count = std::min(rows.together(row), of.end - row);
    std::memcpy(to + (row - of.begin) * rows.row_bytes(), rows.row(row), count * rows.row_bytes());
    row += count;
  }
}

}  // namespace

void row_upload::copy(context const& ctx, dense_rows const& rows, index_range const& of,
                      std::byte* to, stream const& on) {
  std::size_t const row_bytes = rows.row_bytes();
  std::size_t const at_once = std::max<std::size_t>(half_bytes / row_bytes, 1);
  std::size_t const of_thread = std::max<std::size_t>(thread_bytes / row_bytes, 1);
  std::size_t turn = 0;
  for (std::size_t begin = of.begin; begin < of.end; begin += at_once) {
    half& one = halves_[turn++ % halves_.size()];
    std::size_t const count = std::min(at_once, of.end - begin);
    one.copied.wait();
    one.rows.reserve(count * row_bytes);
    parallel_for(ctx, count, of_thread, [&](std::size_t first, std::size_t last, int) {
      copy_rows(rows, {begin + first, begin + last}, one.rows.data() + first * row_bytes);
    });
    check_cuda(cudaMemcpyAsync(to + (begin - of.begin) * row_bytes, one.rows.data(),
                               count * row_bytes, cudaMemcpyHostToDevice, on.get()));
    one.copied.record(on);
  }
  on.synchronize();
}

}  // namespace rulerank::knn
