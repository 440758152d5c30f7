#pragma once
// Converts records to documents: the work of one thread on its chunk of delimited text.

#include "datasets/delimited/layout.hpp"
#include "datasets/svmlight/documents.hpp"

#include <cstddef>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// Returns the position of byte `offset` in a text, with lines from 0.
line_place place_in(std::string_view text, std::size_t offset);

/// Reads a chunk of text that begins and ends with records or with the text; replaces the content
/// of `out`.
void parse_records(std::string_view text, delimited_layout const& layout, line_rules const& rules,
                   parsed_documents& out);

}  // namespace rulerank::datasets
