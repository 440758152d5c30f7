#pragma once

#include "datasets/text/document_lines.hpp"

#include <cstddef>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// Returns whether a file's first nonempty line begins one of TREC's documents or topics.
bool begins_trec(std::string_view line);

/// Reads the documents and topics from the current line on, as in `read_documents`, and returns
/// their number. Throws `error` for text between them, an unterminated one, one without an id, and
/// a topic without a text.
std::size_t read_trec(document_lines& lines);

}  // namespace rulerank::datasets
