#include "knn/sparse/sparse_index.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rulerank::knn {

double norm_of(sparse_row const& row) {
  double sum = 0;
  for (double const w : row.weight) sum += w * w;
  return std::sqrt(sum);
}

sparse_index::sparse_index(context const& ctx, sparse_matrix documents)
    : rows_(std::move(documents)) {
  if (rows_.size() >= std::numeric_limits<std::uint32_t>::max() - 1)
    throw usage_error("more documents than 32 bits number");
  check(rows_, "documents");
  std::size_t const n = rows_.size();
  sparse_rows const rows = rows_;
  norms_.resize(n);
  parallel_for(ctx, n, 4096, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d) norms_[d] = norm_of(rows[d]);
  });
  has_negative_ =
      std::any_of(rows_.weight.begin(), rows_.weight.end(), [](double w) { return w < 0; });

  // Count, scan, fill: each share of the documents has its own places in every list.
  std::size_t const shares = std::clamp<std::size_t>(postings() / (std::size_t{rows_.terms} + 1), 1,
                                                     static_cast<std::size_t>(ctx.thread_count()));
  auto const share_begin = [&](std::size_t s) { return n * s / shares; };
  std::vector<std::uint64_t> next(shares * rows_.terms);
  parallel_for(ctx, shares, 1, [&](std::size_t s, std::size_t, int) {
    for (std::uint64_t i = rows.begin[share_begin(s)]; i < rows.begin[share_begin(s + 1)]; ++i)
      ++next[s * rows_.terms + rows.term[i]];
  });
  list_begin_.resize(std::size_t{rows_.terms} + 1);
  std::uint64_t at = 0;
  for (std::uint32_t t = 0; t < rows_.terms; ++t) {
    list_begin_[t] = at;
    for (std::size_t s = 0; s < shares; ++s) {
      std::uint64_t const count = next[s * rows_.terms + t];
      next[s * rows_.terms + t] = at;
      at += count;
    }
  }
  list_begin_[rows_.terms] = at;
  document_.resize(postings());
  weight_.resize(postings());
  parallel_for(ctx, shares, 1, [&](std::size_t s, std::size_t, int) {
    for (std::size_t d = share_begin(s); d < share_begin(s + 1); ++d)
      for (std::uint64_t i = rows.begin[d]; i < rows.begin[d + 1]; ++i) {
        std::uint64_t const to = next[s * rows_.terms + rows.term[i]]++;
        document_[to] = static_cast<std::uint32_t>(d);
        weight_[to] = rows.weight[i];
      }
  });
}

}  // namespace rulerank::knn
