#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// A term of a document and its count there; for a vector, a column and its value.
struct term_count {
  std::uint32_t term;
  double count;
};

/// Rows of counts, appended and read again in order: in memory while there are few, otherwise in a
/// nameless file in the system's temporary folder.
class count_spill {
 public:
  /// `most_in_memory`: entries.
  explicit count_spill(std::size_t most_in_memory);
  ~count_spill();
  count_spill(count_spill const&) = delete;
  count_spill& operator=(count_spill const&) = delete;

  /// Throws `output_error` on a full disk.
  void append(std::span<term_count const> row);
  /// Calls take(row) for each row. May be called repeatedly.
  void read(std::function<void(std::span<term_count const>)> const& take);
  std::size_t rows() const noexcept { return sizes_.size(); }

 private:
  void write_out();
  std::size_t most_in_memory_;         // entries
  std::vector<std::uint32_t> sizes_;   // entries per row
  std::vector<term_count> in_memory_;  // entries that are not in the file
  int descriptor_ = -1;
  std::uint64_t written_ = 0;  // entries
};

}  // namespace rulerank::knn
