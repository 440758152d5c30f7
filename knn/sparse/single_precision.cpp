#include "knn/sparse/single_precision.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr double least_norm = 1e-15;
constexpr double largest_norm = 1e15;
constexpr std::size_t documents_together = 4096;

}  // namespace

void check_single_precision(std::span<double const> norms, std::string_view what) {
  for (std::size_t i = 0; i < norms.size(); ++i)
    if (norms[i] != 0 && !(norms[i] >= least_norm && norms[i] <= largest_norm))
      throw usage_error(
          fmt::format("{}, row {}: found a norm of {}, expected 0 or {} to {} for an engine in "
                      "single precision",
                      what, i, norms[i], least_norm, largest_norm));
}

std::vector<term_document> term_documents(context const& ctx, sparse_index const& index) {
  std::vector<term_document> pairs(index.postings());
  sparse_rows const rows = index.documents();
  parallel_for(ctx, rows.size(), documents_together, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d)
      for (std::uint64_t i = rows.begin[d]; i < rows.begin[d + 1]; ++i)
        pairs[i] = {rows.term[i], static_cast<std::uint32_t>(d),
                    static_cast<float>(rows.weight[i])};
  });
  return pairs;
}

std::vector<term_weight> term_weights(context const& ctx, sparse_index const& index) {
  std::vector<term_weight> all(index.postings());
  sparse_rows const rows = index.documents();
  parallel_for(ctx, all.size(), std::size_t{1} << 20, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i)
      all[i] = {rows.term[i], static_cast<float>(rows.weight[i])};
  });
  return all;
}

}  // namespace rulerank::knn
