#pragma once
// Ids and texts of JSON objects and of tables, found by the names of members and columns.

#include "datasets/text/document_lines.hpp"
#include "datasets/text/documents.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// In small letters, without `_`, `-` and blanks: `query-id` and `Query ID` are `queryid`.
std::string plain_name(std::string_view name);
/// Whether `plain_name(name)` is one of these.
bool is_one_of(std::string_view name, std::span<std::string_view const> plain_names);

/// The columns that hold ids of documents in tables of features and of judgments, as `plain_name`
/// returns their names; the first of them that is there comes first.
inline constexpr std::string_view document_id_titles[] = {
    "docid", "docno", "documentid", "corpusid", "pid", "passageid", "productid", "id"};
/// A name of an id: of any item, of a document (`docid`), of a query (`qid`).
bool is_id_name(std::string_view name);
/// A name of an id where there is no other: `number`, `topic`.
bool is_last_id_name(std::string_view name);
/// A name of text: `text`, `contents`, `title`, `query`, ...
bool is_text_name(std::string_view name);
/// Whether a member or column of this name is the id, or text that is read: the one that an option
/// names, or without the option one of the usual names.
bool is_id(std::string_view name, text_options const& options);
bool is_wanted_text(std::string_view name, text_options const& options);

/// A member that may be of the document: its name, and its value as text.
struct document_member {
  std::string name;
  std::string value;
};

/// Makes documents of named values, and remembers which names it left out.
class member_reader {
 public:
  member_reader(document_lines& lines, text_options const& options)
      : lines_(lines), options_(options) {}

  bool is_id(std::string_view name) const { return datasets::is_id(name, options_); }
  bool is_wanted_text(std::string_view name) const {
    return datasets::is_wanted_text(name, options_);
  }
  /// Gives the document of these members, in their order; `line`: of its id. Throws `error` for no
  /// id, for ids that differ, for no text, and for a query beside other text.
  void give(std::vector<document_member>&& members, std::uint64_t line);
  /// Warns of the members with text that were left out, and of names that were asked for in vain.
  void finish() const;

 private:
  std::string expect_id(document_member const& id, std::uint64_t line) const;
  std::string id_of(std::vector<document_member> const& members, std::uint64_t line) const;
  std::vector<text_field> fields_of(std::vector<document_member>& members, std::uint64_t line);

  document_lines& lines_;
  text_options const& options_;
  std::vector<std::string> left_out_;
  std::vector<std::string> found_;  // of those that are asked for
};

/// JSON lines; `of_part`: some lines of a file, which may be without documents.
void read_jsonl(document_lines& lines, text_options const& options, bool of_part);
/// A JSON array of objects, whose first line is read.
void read_json_array(document_lines& lines, text_options const& options);

/// The form of a file, which is no folder, by its first line that is not empty.
text_format format_of_first_line(std::string_view line, text_options const& options);

/// The delimiter of a header that names an id and text, by the usual names or by those of the
/// options; 0 for any other line.
char header_delimiter(std::string_view line, text_options const& options);
/// Whether a line of cells between tabs seems to be a header, not a document: its first cell is a
/// title of ids, its last one of texts.
bool seems_header(std::string_view line);
/// Records below a header, which is the line that is read.
void read_table(document_lines& lines, text_options const& options);

}  // namespace rulerank::datasets
