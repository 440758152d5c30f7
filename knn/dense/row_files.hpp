#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "datasets/vectors/part.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Files of a search among vectors: the vectors as a search takes them; ids, labels and filters of
// rows.
namespace rulerank::inline v0::knn {

/// Vectors as a search takes them: doubles become the nearest floats, as NumPy's and FAISS's users
/// expect, 32-bit integers floats where they are the same. Throws `error`.
datasets::vectors read_search_vectors(
    context const& ctx, std::string const& path,
    datasets::vectors_format format = datasets::vectors_format::automatic);
/// The rows of one of `parts` even parts of a file, likewise.
datasets::vectors_part read_search_rows(
    context const& ctx, std::string const& path, std::size_t part, std::size_t parts,
    datasets::vectors_format format = datasets::vectors_format::automatic);

/// Ids of rows in their order; none: rows are called by their numbers.
class row_ids {
 public:
  row_ids() = default;
  /// Reads one id a line. Throws `error` naming the place of an empty line, and for another number
  /// of ids than `expected`; `what`: rows or queries, for the message. No path: none.
  row_ids(context const& ctx, std::string const& path, std::size_t expected, std::string_view what);

  bool empty() const noexcept { return bytes_.empty(); }
  /// What a row is called.
  std::string of(std::size_t row) const {
    return empty() ? std::to_string(row) : std::string(at(row));
  }
  /// As an index keeps ids. Throws `error` naming the line of one that is no whole number of 64
  /// bits.
  std::vector<std::int64_t> numbers(std::string const& path) const;

 private:
  std::string_view at(std::size_t row) const {
    return std::string_view(bytes_).substr(begin_[row], begin_[row + 1] - begin_[row]);
  }
  std::string bytes_;
  std::vector<std::size_t> begin_{0};
};

/// Labels, one for each of `expected` rows or queries (`what`); none for no path. Throws `error`.
std::vector<std::int32_t> read_labels(context const& ctx, std::string const& path,
                                      std::size_t expected, std::string_view what);

}  // namespace rulerank::knn
