#pragma once
// Splits a line into its fields: accepts every valid form and locates every fault.

#include "datasets/dataset.hpp"
#include "datasets/svmlight/names.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// The permitted contents of a line.
struct line_rules {
  bool zero_based = false;
  std::optional<std::int32_t> unlabelled;
  /// Faults suggest the option `unlabelled`, which the caller has.
  bool suggest_unlabelled = false;
  bool options_are_arguments = false;  ///< see `svmlight_options`
  bool fractional_labels = false;      ///< allow all nonnegative numbers, not only integers
  bool optional_labels = false;        ///< allow documents without a label: they are `unlabelled`
  bool any_label = false;              ///< allow every finite number: it names a class
  bool missing_values = true;          ///< accept `NULL` and `nan` as values
  double largest = std::numeric_limits<double>::max();  ///< largest magnitude of a value
  chunk_names* names = nullptr;  ///< names of features; null: only numbers are allowed
};

/// A fault of a line, with its offset in bytes.
struct line_fault {
  std::size_t offset = 0;
  std::string found_and_expected;
};

/// The document of a line.
struct line_document {
  std::int32_t label = 0;
  double label_value = 0;  ///< the label as written
  std::optional<std::string_view> qid;
  std::size_t qid_offset = 0;       ///< where the qid is, or is expected
  std::size_t features_offset = 0;  ///< offset of the first feature, or npos
  entry_list entries;               ///< features ascending, names by their number in the chunk
  std::size_t comment_offset = 0;   ///< after the `#`, or the line's length
};

/// Reads a line without its line end. Returns false if it is empty or only a comment. Throws the
/// first `line_fault` of the line; `out` then holds the fields before it (label, qid).
bool read_line(std::string_view line, line_rules const& rules, line_document& out);

inline constexpr std::uint32_t max_feature = 0x7fffffff;

}  // namespace rulerank::datasets
