#pragma once

#include "core/even_ranges.hpp"
#include "datasets/vectors.hpp"

#include <cstddef>
#include <functional>
#include <string>

// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::datasets {

/// Rows of a file that has more.
struct vectors_part {
  vectors rows;
  std::size_t first = 0;    ///< the number of the first one in the file
  std::size_t of_file = 0;  ///< how many the file has
};
/// Reads some rows of a file of vectors. `part_of` gets the number of rows in the file and returns
/// the range to read. A plain file is read no further than its header and these rows, and the other
/// rows are not checked. Throws as `read_vectors` does.
vectors_part read_vectors_part(context const& ctx, std::string const& path,
                               std::function<index_range(std::size_t rows)> const& part_of,
                               vectors_options const& options = {});

}  // namespace rulerank::datasets
