#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/engine.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// What the file of a dense index holds (core/section_file.hpp): rows as they are in memory,
/// labels of them, and what makes them near.
struct dense_index_content {
  datasets::vectors rows;         ///< not yet known to be finite
  std::vector<std::int64_t> ids;  ///< one a row, or none
  similarity metric = similarity::l2;
};

/// Writes the file whole or not at all. Throws `output_error`.
void write_dense_index(context const& ctx, std::string const& path, dense_rows const& rows,
                       std::span<std::int64_t const> ids, similarity metric);
/// Throws `error` naming the file where it is not one that was written, byte for byte.
dense_index_content read_dense_index(context const& ctx, std::string const& path);

}  // namespace rulerank::knn
