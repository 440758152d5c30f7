#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::datasets {

struct text_field {
  std::string name;  ///< empty if the format has no names
  std::string text;
};

/// The largest magnitude of a vector's value, such that squares and their sums are finite doubles.
inline constexpr double largest_value = 1e150;

/// A document of words, or a vector. Its bytes may not be UTF-8, unless the text's encoding is
/// named; the user of the text decides how to read them.
struct text_document {
  std::string id;     ///< not empty, unique
  std::string label;  ///< empty: none
  std::vector<text_field> fields;
  std::vector<feature_value> vector{};  ///< svmlight: columns ascending, values not 0
  std::uint64_t position = 0;  ///< cranfield, svmlight: from 1, regardless of the id; otherwise 0
  std::uint64_t line = 0;      ///< of its id, from 1; 0 for files of a folder
};

enum class text_format {
  /// folder, if it is one (an error if it contains corpus.jsonl, as BEIR's); otherwise by the first
  /// nonempty line: cranfield for the beginning of a section, jsonl for `{`, json for `[`, trec for
  /// a tag, table for a header that names an id and text, tsv for anything else
  automatic,
  tsv,     ///< one line each: id, tab, text
  table,   ///< records separated by tabs, commas or semicolons, after a header
  jsonl,   ///< one JSON object per line
  json,    ///< a JSON array of objects
  folder,  ///< one file each
  /// SMART's format of collections: `.I 1`, then `.T`, `.A`, `.B`, `.W` and lines of text.
  cranfield,
  /// TREC's documents, `<DOC>` to `</DOC>`, in a file or the files of a folder, or its topics,
  /// `<top>` to `</top>`.
  trec,
  svmlight,  ///< one sparse vector per line: label, column:value, ... # comment
};

/// The required form of ids, for outputs in which spaces end them.
enum class id_form {
  any,
  run_column,  ///< as in `is_run_column`
  qid,         ///< as run_column, and without `#`, which begins the comment of a LETOR line
};

struct text_options {
  bool labels = false;  ///< tsv: id, tab, label, tab, text
  /// cranfield, svmlight: ids are 1, 2, ... instead of those after .I or in comments.
  bool number_by_position = false;
  id_form ids = id_form::any;
  std::vector<std::string> text_fields{};   ///< the text: members, columns, elements of trec
  std::string id_field{};                   ///< jsonl, json, table: the member that is the id
  std::vector<std::string> query_fields{};  ///< `text_fields` of queries, see `for_queries`
  /// The encoding of files without a byte order mark, by ICU's name (`windows-1252`, `Shift_JIS`).
  /// Empty: UTF-8. Other bytes are kept; in JSON they are an error.
  std::string encoding{};
  /// For formats with one document per line, tsv and jsonl: the lines to read, some of which may
  /// have no documents. Empty: all.
  std::optional<line_range> lines{};
  /// Receives messages about files of a folder that are no documents, about skipped members, and
  /// about the first byte that is not UTF-8; may be empty.
  std::function<void(std::string const&)> warn{};
};

/// Returns the options for the queries of a collection that is read with these.
inline text_options for_queries(text_options options) {
  options.text_fields = std::exchange(options.query_fields, {});
  options.id_field.clear();
  return options;
}

/// Reads the documents of a file, of standard input ("-") or of a folder, and passes them on one by
/// one. Files may be plain, gzip or zstd. Besides the current document, only the ids are kept in
/// memory, and the paths of a folder.
///
/// - tsv: the text is everything after the first tab, including further tabs. Empty lines are
///   ignored.
/// - jsonl, json, table: the id is the member with a known name (`id`, `_id`, `docid`, `qid`,
///   `query-id`, ...; ignoring case, `_` and `-`) or the requested one. Ids and `label` are strings
///   or integers; a label may be null. The fields are the members with known names (`title`,
///   `text`, `contents`, `body`, `query`, ...) or the requested ones, in their order, at least one:
///   strings, numbers, or null, which is no field. `warn` lists once the names of other members
///   that are strings. A query with other text is an error, and so is a duplicate member. Empty
///   lines are ignored.
/// - table: cells may be quoted, with quotes doubled inside; between commas and semicolons also
///   over several lines, as in RFC 4180.
/// - folder: every regular file below it, in byte order of its path within the folder. This path is
///   the id; the label is the name of the file's folder, none at the top. Links to files are
///   followed. Links to folders, broken links and pipes are ignored; `warn` reports their number
///   and the first.
/// - cranfield: `.T` is the field title, `.A` author, `.B` bibliography, `.W` text; another capital
///   letter is its own name. A repeated section is another field with its name. No text, and no
///   fields, are `.X` (the cross-references of CISI and CACM), `.N` (CACM's notes on the entry) and
///   `.C` (its category codes).
/// - trec: `<DOCNO>` is the id. HEADLINE, HEAD, HL, TITLE, TTL and TI are the field title. TEXT, LP
///   and LEADPARA are text; without them, the text is everything outside of the title and of DOCNO,
///   DOCID, DOCOLDNO, DOCHDR, SCRIPT and STYLE. Other tags and comments are no text; entities
///   become their characters (unknown ones a space); names in any case. For a topic, `<num>` is the
///   id (numbers without leading zeros, as in judgments) and `<title>` the text, or `<desc>` if the
///   title is missing or empty, without names before them (Topic:). `text_fields` replace these.
/// - svmlight: columns are numbers from 0 on, distinct, in any order; values have a magnitude of at
///   most `largest_value`, and 0 is the same as an absent value. The label is any finite number,
///   and a document's label its shortest text: 1, -1, 0.5. The id is X in a comment `docid = X`,
///   otherwise the comment's first word if it contains a digit, otherwise the line number. Qids,
///   empty lines and lines with only a comment are ignored.
///
/// An empty text is valid. Throws `error` with the position for anything else, for a duplicate id
/// or one without the required form, for bytes that are invalid in the encoding, and for an input
/// without documents or without names that are requested. Throws `usage_error` for an option of
/// another format, and for an encoding unknown to ICU.
void read_documents(context const& ctx, std::string const& path, text_format format,
                    std::function<void(text_document&&)> const& take,
                    text_options const& options = {});

/// The format of a file with one document per line, and the lines of it that this process reads
/// (`lines_of_process`). Nothing on all processes if a document is not one line, or the file is
/// compressed or in another encoding. The caller must detect ids that occur in several processes.
struct documents_part {
  text_format format = text_format::automatic;
  line_range lines;
};
std::optional<documents_part> documents_of_process(context const& ctx, std::string const& path,
                                                   text_format format, text_options const& options,
                                                   process_group const& group);

}  // namespace rulerank::datasets
