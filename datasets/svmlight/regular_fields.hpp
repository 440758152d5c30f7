#pragma once
// Fast reading of regular lines, which nearly all files consist of.

#include "datasets/dataset.hpp"
#include "datasets/svmlight/fields.hpp"

namespace rulerank::inline v0::datasets {

/// Tries to read the line at `at`; `end` is the end of the text. Returns the beginning of the next
/// line, or null for a line that is not regular, including all faulty lines and lines that end
/// within 64 bytes of `end`; `read_line` must read such a line.
///
/// On success, `is_document` says whether there is a document. `document` then has its label, qid,
/// line length (without line end) and comment. Its entries, features ascending, are at `entries`,
/// which must have space for a quarter of the line's bytes; `entries` is advanced past them.
struct regular_document {
  std::int32_t label;
  bool has_qid;
  std::string_view qid;
  std::size_t qid_offset;
  std::size_t
      features_offset;  ///< of the first feature, or of the text that follows if there is none
  std::size_t length;
  std::size_t comment_offset;  ///< after the `#`, or `length`
  bool is_document;
};
char const* read_regular_line(char const* at, char const* end, line_rules const& rules,
                              regular_document& document, feature_value*& entries);

}  // namespace rulerank::datasets
