#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/engine.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// The content of a dense index file (core/section_file.hpp): rows as in memory, their ids, and the
/// metric.
struct dense_index_content {
  datasets::vectors rows;         ///< may not be finite; not checked yet
  std::vector<std::int64_t> ids;  ///< one per row, or none
  similarity metric = similarity::l2;
};

/// Writes the file, whole or not at all. Throws `output_error`.
void write_dense_index(context const& ctx, std::string const& path, dense_rows const& rows,
                       std::span<std::int64_t const> ids, similarity metric);
/// Throws `error` naming the file unless it equals a written file, byte for byte.
dense_index_content read_dense_index(context const& ctx, std::string const& path);

}  // namespace rulerank::knn
