#pragma once
// Finds ids and texts in JSON objects and tables by the names of members and columns.

#include "datasets/text/document_lines.hpp"
#include "datasets/text/documents.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Returns a name in lower case without `_`, `-` and spaces: `query-id` and `Query ID` become
/// `queryid`.
std::string plain_name(std::string_view name);
/// Returns whether `plain_name(name)` is one of these.
bool is_one_of(std::string_view name, std::span<std::string_view const> plain_names);

/// Titles of columns with ids of documents in tables of features and of judgments, as results of
/// `plain_name`; earlier ones have precedence.
inline constexpr std::string_view document_id_titles[] = {
    "docid", "docno", "documentid", "corpusid", "pid", "passageid", "productid", "id"};
/// Titles of columns with ids of queries in all tables, likewise.
inline constexpr std::string_view query_id_titles[] = {
    "qid", "queryid", "topicid", "querynumber", "queryno", "topicnumber", "topicno"};
/// Whether it names an id: of any item, of a document (`docid`), of a query (`qid`).
bool is_id_name(std::string_view name);
/// Whether it names an id if no other member does: `number`, `topic`.
bool is_last_id_name(std::string_view name);
/// Whether it names a text: `text`, `contents`, `title`, `query`, ...
bool is_text_name(std::string_view name);
/// Whether a member or column with this name is the id, or text to read: the one named by an option
/// or, without the option, one with a common name.
bool is_id(std::string_view name, text_options const& options);
bool is_wanted_text(std::string_view name, text_options const& options);
/// As `is_id`, for a column in the header of a table, where `product_id` and `topic` are ids too.
bool is_table_id(std::string_view name, text_options const& options);

/// A member that may belong to the document: its name, and its value as text.
struct document_member {
  std::string name;
  std::string value;
};

/// Makes documents of named values, and records the skipped names.
class member_reader {
 public:
  member_reader(document_lines& lines, text_options const& options)
      : lines_(lines), options_(options) {}

  bool is_id(std::string_view name) const { return datasets::is_id(name, options_); }
  bool is_wanted_text(std::string_view name) const {
    return datasets::is_wanted_text(name, options_);
  }
  /// Makes the document of these members, in order; `line`: of its id. Throws `error` if there is
  /// no id, for differing ids, if there is no text, and for a query with other text.
  void give(std::vector<document_member>&& members, std::uint64_t line);
  /// Warns of skipped members with text, and of requested names that were not found.
  void finish() const;

 private:
  std::string expect_id(document_member const& id, std::uint64_t line) const;
  std::string id_of(std::vector<document_member> const& members, std::uint64_t line) const;
  std::vector<text_field> fields_of(std::vector<document_member>& members, std::uint64_t line);

  document_lines& lines_;
  text_options const& options_;
  std::vector<std::string> left_out_;
  std::vector<std::string> found_;  // found names among the requested ones
};

/// Reads JSON lines; `of_part`: only a part of the lines of a file, which may contain no documents.
void read_jsonl(document_lines& lines, text_options const& options, bool of_part);
/// Reads a JSON array of objects, whose first line has been read.
void read_json_array(document_lines& lines, text_options const& options);

/// Returns the format of a file, not a folder, by its first nonempty line.
text_format format_of_first_line(std::string_view line, text_options const& options);

/// Returns a cell of a header without quotes and, if it is the first one and no option names
/// columns, without the # that begins a comment.
std::string header_title(std::string_view cell, bool is_first, text_options const& options);
/// Returns the delimiter of a header that names an id and text, by common names or by those in the
/// options; 0 for any other line.
char header_delimiter(std::string_view line, text_options const& options);
/// Returns whether a line of cells between tabs resembles a header rather than a document: its
/// first cell is a certain title of ids, such as `docid`; or the first and the last cell are titles
/// of ids and of texts, such as `doc` and `content`.
bool seems_header(std::string_view line);
/// Reads records after a header, which is the current line.
void read_table(document_lines& lines, text_options const& options);

}  // namespace rulerank::datasets
