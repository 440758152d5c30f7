#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "datasets/vectors/part.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Reads the files of a vector search: vectors as a search needs them, ids, labels and filters of
// rows.
namespace rulerank::inline v0::knn {

/// Reads vectors for a search: doubles are rounded to the nearest float, as with NumPy and FAISS;
/// 32-bit integers are converted if the float is exact. Throws `error`.
datasets::vectors read_search_vectors(
    context const& ctx, std::string const& path,
    datasets::vectors_format format = datasets::vectors_format::automatic);
/// Reads the rows of one of `parts` even parts of a file.
datasets::vectors_part read_search_rows(
    context const& ctx, std::string const& path, std::size_t part, std::size_t parts,
    datasets::vectors_format format = datasets::vectors_format::automatic);

/// The ids of rows in order; without ids, rows are named by their numbers.
class row_ids {
 public:
  row_ids() = default;
  /// Reads one id per line. Throws `error` naming an empty line, and for a number of ids other than
  /// `expected`; `what` names rows or queries in the message. An empty path: no ids.
  row_ids(context const& ctx, std::string const& path, std::size_t expected, std::string_view what);

  bool empty() const noexcept { return bytes_.empty(); }
  /// Returns the name of a row.
  std::string of(std::size_t row) const {
    return empty() ? std::to_string(row) : std::string(at(row));
  }
  /// Returns the ids as an index stores them. Throws `error` naming the line of an id that is not a
  /// 64-bit integer.
  std::vector<std::int64_t> numbers(std::string const& path) const;

 private:
  std::string_view at(std::size_t row) const {
    return std::string_view(bytes_).substr(begin_[row], begin_[row + 1] - begin_[row]);
  }
  std::string bytes_;
  std::vector<std::size_t> begin_{0};
};

/// Reads labels, one for each of `expected` rows or queries (`what`); none for an empty path.
/// Throws `error`.
std::vector<std::string> read_labels(context const& ctx, std::string const& path,
                                     std::size_t expected, std::string_view what);

}  // namespace rulerank::knn
