#pragma once
// From records to documents: what a thread does with its chunk of delimited text.

#include "datasets/delimited/layout.hpp"
#include "datasets/svmlight/documents.hpp"

#include <cstddef>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// Where byte `offset` of a text stands, the lines from 0.
line_place place_in(std::string_view text, std::size_t offset);

/// Reads a chunk of text whose ends are those of records or of the text; replaces what `out` holds.
void parse_records(std::string_view text, delimited_layout const& layout, line_rules const& rules,
                   parsed_documents& out);

}  // namespace rulerank::datasets
