#pragma once
// Many lines of SVMlight text in one go: what a thread does with its piece of a file.

#include "datasets/dataset.hpp"
#include "datasets/svmlight_line.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::datasets {

/// A line of a piece of text, from 0, and a byte of the line, from 1.
struct line_place {
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

/// Documents one after the other with the same qid (or all without one).
struct qid_run {
  std::optional<std::string_view> qid;
  std::size_t begin = 0;  ///< first document
  line_place place;       ///< of its qid, or where it would have to stand
};

/// What a piece of text holds.
struct parsed_lines {
  std::vector<std::int32_t> labels;
  std::vector<std::size_t> row_end;  ///< of each document, in `entries`
  entry_list entries;
  std::vector<std::string_view> lines;
  std::vector<std::string_view> comments;   ///< as a `dataset` has them
  std::vector<std::string_view> ids;        ///< likewise
  std::vector<std::uint64_t> line_numbers;  ///< from 0
  std::vector<qid_run> runs;  ///< may end with one that has no document: of the line at fault
  std::uint64_t line_count = 0;
  struct fault_place {
    line_place place;
    std::string found_and_expected;
  };
  std::optional<fault_place> fault;  ///< the first one; nothing after its line is read

  void clear();
};

/// Reads a piece of text whose ends are line ends or those of the text; replaces what `out` holds.
void parse_lines(std::string_view text, line_rules const& rules, parsed_lines& out);

}  // namespace rulerank::datasets
