#pragma once
// Converts fields to documents: the work of one thread on its chunk of a text.

#include "datasets/dataset.hpp"
#include "datasets/svmlight/faults.hpp"
#include "datasets/svmlight/fields.hpp"
#include "datasets/svmlight/names.hpp"
#include "datasets/svmlight/queries.hpp"
#include "datasets/svmlight/values.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// The first of consecutive empty lines.
struct blank_line {
  std::size_t documents = 0;  ///< documents of the chunk before it
  std::uint64_t line = 0;     ///< from 0
};

/// The content of a chunk of text.
struct parsed_documents {
  std::vector<std::int32_t> labels;
  std::vector<double> label_values;  ///< as written, if fractional labels are read
  std::vector<std::size_t> row_end;  ///< of each document, in `entries`
  entry_list entries;
  std::vector<std::string_view> lines;
  std::vector<std::string_view> comments;   ///< as in `dataset`
  std::vector<std::string_view> ids;        ///< as in `dataset`
  std::vector<std::uint64_t> line_numbers;  ///< from 0
  /// A run ends where the qid changes and at an empty line. The last run may have no document, but
  /// the qid of the faulty line.
  std::vector<qid_run> runs;
  std::vector<blank_line> blanks;
  std::list<std::string> made;  ///< ids that are not literal parts of the text
  std::string_view text_id;     ///< the first qid converted from a text; refers to `made`
  chunk_names names;            ///< their numbers are used in `entries`, if features have names
  line_place first_feature;     ///< of the chunk, if it has one
  std::vector<std::uint32_t> numbers;  ///< the numbers of `names` in the whole text
  std::uint64_t line_count = 0;
  std::optional<text_fault> fault;  ///< the first fault; later lines are not read

  void clear();
  /// Appends a document whose entries follow the existing ones.
  void add(document_label const& label, std::size_t entry_end, std::string_view line,
           std::string_view comment, std::string_view id, line_rules const& rules);
  /// Returns whether the next document, with this qid, begins a run.
  bool begins_run(std::optional<std::string_view> qid) const;
  /// Records the qid of the next document.
  void note_run(std::optional<std::string_view> qid, line_place place);
  /// Records an empty line.
  void note_blank();
  /// Makes the chunk's first feature its fault if the features `before` have the other form.
  void expect_form(feature_form before);
};

/// Clears `fractional_labels` if all labels are integers.
void drop_integral_labels(dataset& data);

/// Reads a chunk of text that begins and ends at line ends or with the text; replaces the content
/// of `out`.
void parse_documents(std::string_view text, line_rules const& rules, parsed_documents& out);

}  // namespace rulerank::datasets
