#pragma once
// From fields to documents: what a thread does with its chunk of a text.

#include "datasets/dataset.hpp"
#include "datasets/svmlight/faults.hpp"
#include "datasets/svmlight/fields.hpp"
#include "datasets/svmlight/queries.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::datasets {

/// What a chunk of text holds.
struct parsed_documents {
  std::vector<std::int32_t> labels;
  std::vector<std::size_t> row_end;  ///< of each document, in `entries`
  entry_list entries;
  std::vector<std::string_view> lines;
  std::vector<std::string_view> comments;   ///< as a `dataset` has them
  std::vector<std::string_view> ids;        ///< likewise
  std::vector<std::uint64_t> line_numbers;  ///< from 0
  std::vector<qid_run> runs;  ///< may end with one that has no document: of the line at fault
  std::uint64_t line_count = 0;
  std::optional<text_fault> fault;  ///< the first one; nothing after its line is read

  void clear();
};

/// Reads a chunk of text whose ends are line ends or those of the text; replaces what `out` holds.
void parse_documents(std::string_view text, line_rules const& rules, parsed_documents& out);

}  // namespace rulerank::datasets
