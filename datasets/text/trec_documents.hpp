#pragma once

#include "datasets/text/document_lines.hpp"

#include <cstddef>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// Whether a file's first line that is not empty is one of TREC's documents or topics.
bool begins_trec(std::string_view line);

/// Reads the documents and topics from the current line on, as `read_documents` says, and returns
/// how many there are. Throws `error` for text between them, one that does not end, one without its
/// id, and a topic without a text.
std::size_t read_trec(document_lines& lines);

}  // namespace rulerank::datasets
