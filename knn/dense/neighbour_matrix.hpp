#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// The neighbours of all queries as matrices with k entries per query, for files of vectors: row
/// numbers as int32, values as float32.
class neighbour_matrix {
 public:
  /// Whether the name of a file ends with a format of the numbers (.ivecs, .ibin, .npy), and of the
  /// values (.fvecs, .fbin, .npy), in capital or small letters.
  static bool is_name_of_numbers(std::string const& name);
  static bool is_name_of_values(std::string const& name);
  /// Throws `usage_error` if a file of numbers cannot hold those of `rows` rows as int32. `name`:
  /// ends with the file's name; in the message.
  static void expect_rows(std::string const& name, std::size_t rows);

  /// Fills the matrices with -1 and 0. Throws `usage_error` if memory is too small.
  neighbour_matrix(std::string const& name, std::size_t queries, std::size_t k, bool has_values);

  /// Copies the neighbours of queries from `first` on.
  void take(std::size_t first, neighbours const& found);
  /// Returns the file of the numbers and, if there are values, the file of the values, complete
  /// except for the commits. Empties the matrices. Throws `output_error`.
  std::vector<output_file> files(context const& ctx, std::string const& numbers,
                                 std::string const& values);

 private:
  std::size_t k_;
  std::vector<std::int32_t> rows_;
  std::vector<float> values_;
};

}  // namespace rulerank::knn
