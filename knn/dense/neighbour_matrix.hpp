#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// The neighbours of all queries as matrices of k entries a query, which files of vectors hold: the
/// numbers of rows as int32, and values as float32.
class neighbour_matrix {
 public:
  /// Throws `usage_error` where int32 does not hold the numbers of so many rows. `name`: of the
  /// file, for the message.
  static void expect_rows(std::string const& name, std::size_t rows);

  /// Entries of -1 and 0. Throws `usage_error` where memory does not hold them.
  neighbour_matrix(std::string const& name, std::size_t queries, std::size_t k, bool has_values);

  /// The neighbours of queries from `first` on.
  void take(std::size_t first, neighbours const& found);
  /// The file of the numbers, and with values that of the values, complete but for their commits;
  /// the matrices are empty then. Throws `output_error`.
  std::vector<output_file> files(context const& ctx, std::string const& numbers,
                                 std::string const& values);

 private:
  std::size_t k_;
  std::vector<std::int32_t> rows_;
  std::vector<float> values_;
};

}  // namespace rulerank::knn
