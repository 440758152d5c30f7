#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

struct text_field {
  std::string name;  ///< empty where the format has no names
  std::string text;
};

/// The largest value of a vector, whatever its sign: squares and sums of them are doubles still.
inline constexpr double largest_value = 1e150;

/// A document of words, or a vector. Its bytes are UTF-8 or not, unless the text's encoding is
/// named: who makes terms of them says how they are read.
struct text_document {
  std::string id;     ///< not empty, and no other document's
  std::string label;  ///< empty: none
  std::vector<text_field> fields;
  std::vector<feature_value> vector{};  ///< svmlight: columns ascending, values not 0
  std::uint64_t position = 0;           ///< cranfield, svmlight: from 1, whatever the id; else 0
  std::uint64_t line = 0;               ///< of its id, from 1; of a folder's files 0
};

enum class text_format {
  automatic,  ///< folder, if it is one (with a file corpus.jsonl, as BEIR's, an error); else by the
              ///< first line that is not empty: cranfield where it begins a section, jsonl where it
              ///< begins with `{`, json where it begins with `[`, trec where it begins with a tag,
              ///< table where it is a header that names an id and text, tsv otherwise
  tsv,        ///< a line each: id, tab, text
  table,      ///< records between tabs, commas or semicolons below a header
  jsonl,      ///< a JSON object a line
  json,       ///< a JSON array of objects
  folder,     ///< a file each
  cranfield,  ///< SMART's form of collections: `.I 1`, then `.T`, `.A`, `.B`, `.W` and lines of
              ///< text
  trec,       ///< TREC's documents, `<DOC>` to `</DOC>`, in a file or the files of a folder, or its
              ///< topics, `<top>` to `</top>`
  svmlight,   ///< a sparse vector a line: label, column:value, ... # comment
};

/// What an id must be, for those that write it where blanks end it.
enum class id_form {
  any,
  run_column,  ///< as `is_run_column` says
  qid,         ///< that, without `#`: a LETOR line's comment would begin there
};

struct text_options {
  bool labels = false;              ///< tsv: id, tab, label, tab, text
  bool number_by_position = false;  ///< cranfield, svmlight: ids are 1, 2, ... instead of what
                                    ///< stands after .I or in comments
  id_form ids = id_form::any;
  std::vector<std::string> text_fields{};   ///< jsonl, json, table: the members that are text
  std::string id_field{};                   ///< likewise: the member that is the id
  std::vector<std::string> query_fields{};  ///< `text_fields` of queries, see `for_queries`
  /// The encoding of files without a byte order mark, by ICU's name (`windows-1252`, `Shift_JIS`).
  /// Empty: UTF-8. Bytes that are not UTF-8 stay as they are; in JSON they are an error.
  std::string encoding{};
  /// Of a format whose documents are a line each, tsv and jsonl: the lines that are read, of which
  /// some may be without documents. Nothing: all.
  std::optional<line_range> lines{};
  /// Gets what a folder has and no document is, the members that are left out, and the first byte
  /// that is not UTF-8; may be empty.
  std::function<void(std::string const&)> warn{};
};

/// The options for the queries of a collection that is read with these.
inline text_options for_queries(text_options options) {
  options.text_fields = std::exchange(options.query_fields, {});
  options.id_field.clear();
  return options;
}

/// Reads the documents of a file, of standard input ("-") or of a folder, and hands over one after
/// the other. Files may be plain, gzip or zstd. Beside the document that is being read only the ids
/// are kept; of a folder, the paths.
///
/// - tsv: the text is what stands behind the tab, further tabs included. Empty lines are passed
/// over.
/// - jsonl, json, table: the id is the member of a known name (`id`, `_id`, `docid`, `qid`,
///   `query-id`, ...; case, `_` and `-` do not matter) or the one that is asked for. Ids and
///   `label` are strings or integers, a label may be null. The fields are the members of known
///   names
///   (`title`, `text`, `contents`, `body`, `query`, ...) or those that are asked for, in their
///   order, and there is one at least: strings, numbers or null, which is no field. `warn` gets the
///   names of other members that are strings, once. A query beside other text is an error. A member
///   comes once. Empty lines are passed over.
/// - table: cells may be in quotes, which stand doubled in them; between commas and semicolons as
///   RFC 4180 has it, over several lines.
/// - folder: every regular file below it, in byte order of its path within the folder. That path is
///   the id, the name of the folder in which the file lies is the label, none at the top. Links to
///   files are followed. What else there is, links to folders, broken links and pipes, is passed
///   over; `warn` gets their number and the first.
/// - cranfield: `.T` is the field title, `.A` author, `.B` bibliography, `.W` text; another capital
///   letter is its own name. A section that comes again is another field of its name. Not text, and
///   no fields, are `.X` (the cross-references of CISI and CACM), `.N` (CACM's notes on the entry)
///   and `.C` (its codes of categories).
/// - trec: `<DOCNO>` is the id. HEADLINE, HEAD, HL, TITLE, TTL and TI are the field title; TEXT, LP
///   and LEADPARA text, or where there is none of them all that is outside of the title and of
///   DOCNO, DOCID, DOCOLDNO, DOCHDR, SCRIPT and STYLE. Other tags and comments are no text,
///   entities become their characters (an unknown one a blank); names in any case. Of a topic,
///   `<num>` is the id (numbers without zeros in front, as judgments have them) and `<title>` the
///   text, `<desc>` where that is missing or empty; the names that stand before them (Number:,
///   Topic:, Description:) are taken off.
/// - svmlight: columns are numbers from 0 on, in any order, each once; values are at most
///   `largest_value`, and one of 0 is as one that is not there. The label is any finite number, and
///   a document's label its shortest text: 1, -1, 0.5. The id is X of a comment `docid = X`, else
///   the comment's first word if it has a digit, else the number of the line. A qid is passed over,
///   as are empty lines and lines of a comment alone.
///
/// An empty text is a valid one. Throws `error` with the position for anything else, for an id that
/// comes again or has not the form that is asked for, for bytes that are no text of the encoding,
/// and for an input without documents; `usage_error` for an option of another format than the one
/// given, and for an encoding that ICU does not have.
void read_documents(context const& ctx, std::string const& path, text_format format,
                    std::function<void(text_document&&)> const& take,
                    text_options const& options = {});

/// Where the documents of a file are a line each, its format and the lines that a process reads of
/// it (`lines_of_process`); nothing on all processes where they are not, or the file is not plain
/// or in another encoding.
/// An id that two processes have is theirs to find.
struct documents_part {
  text_format format = text_format::automatic;
  line_range lines;
};
std::optional<documents_part> documents_of_process(context const& ctx, std::string const& path,
                                                   text_format format, text_options const& options,
                                                   process_group const& group);

}  // namespace rulerank::datasets
