#pragma once

#include "datasets/text/document_lines.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Returns whether a file's first nonempty line begins one of TREC's documents or topics.
bool begins_trec(std::string_view line);

/// The elements that are read as text instead of the usual ones, and those that were found.
struct trec_fields {
  std::vector<std::string> names;  // empty: the usual ones
  std::set<std::string> found{};   // in capitals; only if there are names

  /// Throws `error` for a name that no document or topic of the file or folder has.
  void expect_found(std::string const& path) const;
};

/// Reads the documents and topics from the current line on, as in `read_documents`, and returns
/// their number. Throws `error` for text between them, an unterminated one, one without an id, and
/// a topic without a text.
std::size_t read_trec(document_lines& lines, trec_fields& fields);

}  // namespace rulerank::datasets
