#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::datasets {

/// The judgment of a document; a negative `label`: in the pool but not judged.
struct judgment {
  std::string docno;
  std::int32_t label = 0;
  std::uint64_t line = 0;  ///< its line in the file
};

/// The judgments of one query.
struct judged_query {
  std::string qid;
  std::vector<judgment> documents;  ///< by docno, ascending; distinct
  std::uint64_t line = 0;           ///< first line in the file
};

/// TREC's relevance judgments.
struct qrels {
  std::string name;                   ///< the path, for messages
  std::vector<judged_query> queries;  ///< in the order of their first lines
};

/// A retrieved document.
struct run_entry {
  std::string docno;
  double score = 0;
};

/// The retrieved documents of one query.
struct run_query {
  std::string qid;
  std::vector<run_entry> documents;  ///< in file order; docnos distinct
  std::uint64_t line = 0;            ///< first line in the file
};

/// A system's retrieved documents.
struct run {
  std::string name;                ///< the path, for messages
  std::string tag;                 ///< of the last line
  std::vector<run_query> queries;  ///< in the order of their first lines
};

/// Reads `qid iteration docno label`; or, in all lines, Cranfield's `qid docno label`; BEIR's
/// format with the header `query-id corpus-id score`; or records separated by tabs, commas or
/// semicolons with a header of common names (Quepid's `query,docid,rating`). Lines may be in any
/// order; plain, .gz or .zst, "-" for standard input. Labels must be integers; 3.0 is 3. A record
/// without a label is no judgment. Empty lines and lines whose first word is `#` are ignored (`#1`
/// is an id), and so is the iteration. In records, the text of a query may be its id: a space
/// becomes `%20`, as in `read_dataset`; `warn` reports the first. Throws `error` with line and
/// column for an invalid or varying number of columns, a label that is no integer, a document
/// judged twice for a query, and a file without judgments.
qrels read_qrels(context const& ctx, std::string const& path,
                 std::function<void(std::string const&)> const& warn = {});

/// Reads `qid Q0 docno rank score tag`, lines in any order. Ignores text after the tag, the second
/// column and the rank: as in trec_eval, only scores determine the order. Or reads, in all lines,
/// MS MARCO's `qid docno rank`, with the negated rank as the score. Empty lines and comments as in
/// judgments. Throws `error` with line and column for too few columns, a rank that is no number (a
/// space in an id shifts the columns), a score that is not finite, a document retrieved twice for a
/// query, and a file without lines.
run read_run(context const& ctx, std::string const& path);

/// How a run names the documents of a test set.
enum class run_ids {
  docid,  ///< `dataset::docid`
  line,   ///< `dataset::line_id`
};

/// A run names each document once per query: returns `docid` if docids are distinct within each
/// query of the set, otherwise `line`; `warn` then reports the first duplicate docid and its line.
run_ids distinct_ids(dataset const& data, std::function<void(std::string const&)> const& warn);

struct run_form {
  run_ids ids = run_ids::docid;
  /// Readers such as trec_eval break ties by docno instead of rank. With this option, the score
  /// column is n, n - 1, ..., 1, which preserves the order.
  bool distinct_scores = false;
};

/// Returns the message for an id that stands for a missing value (`is_missing_word`). `what`: id,
/// qid, docid.
std::string missing_id_fault(std::string_view what, std::string_view id);
/// Returns whether a text can be a column of a run: not empty, no spaces, not `#` (a comment).
bool is_run_column(std::string_view text);

/// Returns whether a text has a space, a tab or a line end.
bool has_blank(std::string_view text);

/// Returns the text of a query as an id: a space becomes `%20`; tabs and line ends are encoded
/// likewise.
std::string id_of_text(std::string_view text);

/// Returns the warning, one per file, that `id_of_text` made ids; `id` is the first of them.
std::string text_id_note(std::string_view file, std::string_view id);

/// Returns a line of a run with its line feed; ranks from 1, lossless scores.
std::string run_line(std::string_view qid, std::string_view docno, std::size_t rank, double score,
                     std::string_view tag);

/// Writes a test set's ranking as a run: queries in order, documents by descending score (ties in
/// input order), ranks from 1. Scores are lossless. Throws `error` if two documents of a query have
/// the same id.
void write_run(dataset const& data, std::span<double const> scores, std::string_view tag,
               output_file& out, run_form const& form = {});
/// Passes the run to `write(text)`, query by query.
void write_run(dataset const& data, std::span<double const> scores, std::string_view tag,
               std::function<void(std::string_view)> const& write, run_form const& form = {});

}  // namespace rulerank::datasets
