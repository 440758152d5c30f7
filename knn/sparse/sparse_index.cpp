#include "knn/sparse/sparse_index.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "knn/sparse/posting_lists.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

std::string fault_of(sparse_row const& row, std::uint32_t terms) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row.term[i] >= terms)
      return fmt::format("found term {}, expected less than {}", row.term[i], terms);
    if (i > 0 && row.term[i] <= row.term[i - 1])
      return fmt::format("found term {} after {}, expected ascending terms", row.term[i],
                         row.term[i - 1]);
    if (!std::isfinite(row.weight[i]))
      return fmt::format("the weight of term {} is not finite", row.term[i]);
    if (std::abs(row.weight[i]) > largest_weight)
      return fmt::format("the weight of term {} is {}, expected at most {}", row.term[i],
                         row.weight[i], largest_weight);
  }
  return {};
}

void check(sparse_rows const& rows, std::string_view what) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (std::string const fault = fault_of(rows[r], rows.terms); !fault.empty())
      throw usage_error(fmt::format("{}, row {}: {}", what, r, fault));
}

double norm_of(sparse_row const& row) {
  double sum = 0;
  for (double const w : row.weight) sum += w * w;
  return std::sqrt(sum);
}

void fill_lists(context const& ctx, sparse_rows const& rows, posting_list_arrays const& to) {
  std::size_t const n = rows.size();
  parallel_for(ctx, n, 4096, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d) to.norms[d] = norm_of(rows[d]);
  });
  // Count, scan, fill: each range of documents has its own section of every list.
  std::size_t const shares =
      std::clamp<std::size_t>(rows.term.size() / (std::size_t{rows.terms} + 1), 1,
                              static_cast<std::size_t>(ctx.thread_count()));
  auto const share_begin = [&](std::size_t s) { return n * s / shares; };
  std::vector<std::uint64_t> next(shares * rows.terms);
  parallel_for(ctx, shares, 1, [&](std::size_t s, std::size_t, int) {
    for (std::size_t d = share_begin(s); d < share_begin(s + 1); ++d)
      for (std::uint32_t const t : rows[d].term) ++next[s * rows.terms + t];
  });
  std::uint64_t at = 0;
  for (std::uint32_t t = 0; t < rows.terms; ++t) {
    to.list_begin[t] = at;
    for (std::size_t s = 0; s < shares; ++s) {
      std::uint64_t const count = next[s * rows.terms + t];
      next[s * rows.terms + t] = at;
      at += count;
    }
  }
  to.list_begin[rows.terms] = at;
  parallel_for(ctx, shares, 1, [&](std::size_t s, std::size_t, int) {
    for (std::size_t d = share_begin(s); d < share_begin(s + 1); ++d) {
      sparse_row const row = rows[d];
      for (std::size_t i = 0; i < row.size(); ++i) {
        std::uint64_t const p = next[s * rows.terms + row.term[i]]++;
        to.list_document[p] = static_cast<std::uint32_t>(d);
        to.list_weight[p] = row.weight[i];
      }
    }
  });
}

namespace {

/// All arrays of an index, in memory.
struct index_storage {
  sparse_matrix rows;
  std::vector<double> norms;
  std::vector<std::uint64_t> list_begin;
  std::vector<std::uint32_t> list_document;
  std::vector<double> list_weight;
};

}  // namespace

sparse_index::sparse_index(context const& ctx, sparse_matrix documents) {
  if (documents.size() >= std::numeric_limits<std::uint32_t>::max() - 1)
    throw usage_error("found more documents than 32 bits can number");
  check(documents, "documents");
  auto const own = std::make_shared<index_storage>();
  own->rows = std::move(documents);
  own->norms.resize(own->rows.size());
  own->list_begin.resize(std::size_t{own->rows.terms} + 1);
  own->list_document.resize(own->rows.term.size());
  own->list_weight.resize(own->rows.term.size());
  fill_lists(ctx, own->rows, {own->norms, own->list_begin, own->list_document, own->list_weight});
  *this = sparse_index(
      {own->rows, own->norms, own->list_begin, own->list_document, own->list_weight}, own);
}

sparse_index::sparse_index(sparse_index_parts const& parts, std::shared_ptr<void const> owner)
    : owner_(std::move(owner)), parts_(parts) {}

}  // namespace rulerank::knn
