#pragma once
// The lines that nearly all files consist of, read fast.

#include "datasets/dataset.hpp"
#include "datasets/svmlight/fields.hpp"

namespace rulerank::inline v0::datasets {

/// Tries to read the line that begins at `at`; `end` is the text's. Returns where the next line
/// begins, or null for a line that is not regular, which includes all that are at fault and those
/// that end within 64 bytes of `end`: `read_line` has to read it.
///
/// On success `is_document` says whether there is a document, whose label, qid, line length
/// (without line end) and comment are in `document`; its entries, features ascending, are at
/// `entries`, which has room for a quarter of the line's bytes, and `entries` is moved behind them.
struct regular_document {
  std::int32_t label;
  bool has_qid;
  std::string_view qid;
  std::size_t qid_offset;
  std::size_t features_offset;  ///< of the first one, or of what follows where there is none
  std::size_t length;
  std::size_t comment_offset;  ///< behind the `#`, or `length`
  bool is_document;
};
char const* read_regular_line(char const* at, char const* end, line_rules const& rules,
                              regular_document& document, feature_value*& entries);

}  // namespace rulerank::datasets
