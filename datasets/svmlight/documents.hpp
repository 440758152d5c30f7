#pragma once
// From fields to documents: what a thread does with its chunk of a text.

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

/// A blank line, the first of several in a row.
struct blank_line {
  std::size_t documents = 0;  ///< of the chunk, before it
  std::uint64_t line = 0;     ///< from 0
};

/// What a chunk of text holds.
struct parsed_documents {
  std::vector<std::int32_t> labels;
  std::vector<double> label_values;  ///< as they stand, where fractional ones are read
  std::vector<std::size_t> row_end;  ///< of each document, in `entries`
  entry_list entries;
  std::vector<std::string_view> lines;
  std::vector<std::string_view> comments;   ///< as a `dataset` has them
  std::vector<std::string_view> ids;        ///< likewise
  std::vector<std::uint64_t> line_numbers;  ///< from 0
  /// A run ends with its qid and at a blank line; the last may have no document: that of the line
  /// at fault.
  std::vector<qid_run> runs;
  std::vector<blank_line> blanks;
  std::list<std::string> made;         ///< ids that do not stand in the text as they are
  std::string_view text_id;            ///< the first qid that a text became; of `made`
  chunk_names names;                   ///< by whose numbers `entries` go, where features have names
  line_place first_feature;            ///< of the chunk, where it has one
  std::vector<std::uint32_t> numbers;  ///< in the text, of `names`
  std::uint64_t line_count = 0;
  std::optional<text_fault> fault;  ///< the first one; nothing after its line is read

  void clear();
  /// Appends a document whose entries stand behind those before.
  void add(document_label const& label, std::size_t entry_end, std::string_view line,
           std::string_view comment, std::string_view id, line_rules const& rules);
  /// Whether a document of that qid, the next one, is the first of a run.
  bool begins_run(std::optional<std::string_view> qid) const;
  /// Takes note of the qid of the document that comes next.
  void note_run(std::optional<std::string_view> qid, line_place place);
  /// Takes note that the line is blank.
  void note_blank();
  /// Makes the chunk's first feature its fault where the features `before` have the other form.
  void expect_form(feature_form before);
};

/// Clears `fractional_labels` where none of them is fractional.
void drop_integral_labels(dataset& data);

/// Reads a chunk of text whose ends are line ends or those of the text; replaces what `out` holds.
void parse_documents(std::string_view text, line_rules const& rules, parsed_documents& out);

}  // namespace rulerank::datasets
