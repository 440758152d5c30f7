#pragma once
// From a line to its fields, with care: every form that is valid, every fault where it stands.

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

/// What a line may hold.
struct line_rules {
  bool zero_based = false;
  std::optional<std::int32_t> unlabelled;
  bool suggest_unlabelled = false;  ///< faults name the option `unlabelled`, which the caller has
  bool fractional_labels = false;   ///< numbers of 0 or more, not integers alone
  bool optional_labels = false;     ///< a document may have none: it is `unlabelled`
  bool any_label = false;           ///< every finite number is one: it names a class
  bool missing_values = true;       ///< `NULL` and `nan` are values
  double largest = std::numeric_limits<double>::max();  ///< value, whatever its sign
  chunk_names* names = nullptr;  ///< of features; null: they have numbers alone
};

/// What is wrong with a line, and where: an offset in bytes from the line's begin.
struct line_fault {
  std::size_t offset = 0;
  std::string found_and_expected;
};

/// The document of a line.
struct line_document {
  std::int32_t label = 0;
  double label_value = 0;  ///< the label as it stands
  std::optional<std::string_view> qid;
  std::size_t qid_offset = 0;       ///< where the qid stands, or would have to
  std::size_t features_offset = 0;  ///< where the first feature stands, or npos
  entry_list entries;               ///< features ascending, names by their number in the chunk
  std::size_t comment_offset = 0;   ///< behind the `#`, or the line's length
};

/// Reads a line without its line end. False: nothing on it, or a comment alone. Throws the first
/// `line_fault` of the line; then `out` holds what stands before it (label, qid).
bool read_line(std::string_view line, line_rules const& rules, line_document& out);

inline constexpr std::uint32_t max_feature = 0x7fffffff;

}  // namespace rulerank::datasets
