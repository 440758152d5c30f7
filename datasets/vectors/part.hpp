#pragma once

#include "core/even_ranges.hpp"
#include "datasets/vectors.hpp"

#include <cstddef>
#include <functional>
#include <string>

// Threads: any thread may call these functions at any time.
namespace rulerank::inline v0::datasets {

/// Some rows of a file.
struct vectors_part {
  vectors rows;
  std::size_t first = 0;    ///< number of the first row in the file
  std::size_t of_file = 0;  ///< number of rows in the file
};
/// Reads some rows of a file of vectors. `part_of` gets the number of rows in the file and returns
/// the range to read. If the file is plain, only the header and these rows are read, and other rows
/// are not checked. Throws as `read_vectors`.
vectors_part read_vectors_part(context const& ctx, std::string const& path,
                               std::function<index_range(std::size_t rows)> const& part_of,
                               vectors_options const& options = {});

}  // namespace rulerank::datasets
