#pragma once
// Builds the posting lists and norms of an index.

#include "core/context.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstdint>
#include <span>

namespace rulerank::inline v0::knn {

/// The destination of `fill_lists`: the parts of an index besides the rows.
struct posting_list_arrays {
  std::span<double> norms;              ///< [documents]
  std::span<std::uint64_t> list_begin;  ///< [terms + 1]
  std::span<std::uint32_t> list_document;
  std::span<double> list_weight;
};
/// Fills the posting lists and norms of rows.
void fill_lists(context const& ctx, sparse_rows const& rows, posting_list_arrays const& to);

/// Returns the norm of a row as in `sparse_index::norms`.
double norm_of(sparse_row const& row);

}  // namespace rulerank::knn
