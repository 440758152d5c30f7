#pragma once

#include "core/even_shares.hpp"
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
/// Reads a part of the vectors of a file: of a plain one no more than that, beside what the format
/// says of all rows. `part_of`: rows [begin, end) of as many as there are. What is right of the
/// other rows is not known. Throws as `read_vectors` does.
vectors_part read_vectors_part(context const& ctx, std::string const& path,
                               std::function<share(std::size_t rows)> const& part_of,
                               vectors_options const& options = {});

}  // namespace rulerank::datasets
