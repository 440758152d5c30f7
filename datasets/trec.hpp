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

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

/// A document's judgment; `label` below 0: in the pool and not judged.
struct judgment {
  std::string docno;
  std::int32_t label = 0;
  std::uint64_t line = 0;  ///< where it stands
};

/// The judgments of one query.
struct judged_query {
  std::string qid;
  std::vector<judgment> documents;  ///< by docno, ascending; distinct
  std::uint64_t line = 0;           ///< the first
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

/// What was retrieved for one query.
struct run_query {
  std::string qid;
  std::vector<run_entry> documents;  ///< in file order; docnos distinct
  std::uint64_t line = 0;            ///< the first
};

/// A system's retrieved documents.
struct run {
  std::string name;                ///< the path, for messages
  std::string tag;                 ///< of the last line
  std::vector<run_query> queries;  ///< in the order of their first lines
};

/// Reads `qid iteration docno label`, or in all lines `qid docno label` as Cranfield's own file has
/// it, BEIR's under the header `query-id corpus-id score`, and records between tabs, commas or
/// semicolons below a header of usual names (Quepid's `query,docid,rating`), lines in any order;
/// plain, .gz or .zst, "-" for standard input. Labels are taken as they stand, 3.0 is 3; a record
/// without one is no judgment. Blank lines and lines whose first
/// word is `#` are passed over (`#1` is an id), the iteration is not looked at. Throws `error` with
/// line and column for another number of columns, or than in the lines before, a label that is no
/// whole number, a document judged twice for a query, and a file without judgments. In records a
/// query may be its text: a blank becomes `%20`, as `read_dataset` has it; `warn` gets the first.
qrels read_qrels(context const& ctx, std::string const& path,
                 std::function<void(std::string const&)> const& warn = {});

/// Reads `qid Q0 docno rank score tag`, lines in any order; what follows the tag is passed over,
/// and so are the second column and the rank: as in trec_eval the scores alone make the order. Or
/// in all lines MS MARCO's `qid docno rank`, where minus the rank is the score. Blank lines and
/// comments as in judgments. Throws `error` with line and column for too few columns, a rank that
/// is no number (an id with a blank moves the columns), a score that is not a finite number, a
/// document retrieved twice for a query, and a file without lines.
run read_run(context const& ctx, std::string const& path);

/// What a run calls the documents of a test set.
enum class run_ids {
  docid,  ///< `dataset::docid`
  line,   ///< `dataset::line_id`
};

/// A run names a document once a query: `docid` where docids are distinct within each query of the
/// set, else `line`, and `warn` gets the first docid that comes again and its line.
run_ids distinct_ids(dataset const& data, std::function<void(std::string const&)> const& warn);

struct run_form {
  run_ids ids = run_ids::docid;
  /// Readers such as trec_eval break ties by docno, not by rank; with this the score column is
  /// n, n - 1, ..., 1 instead, so that they see the very order.
  bool distinct_scores = false;
};

/// Whether a text can be a column of a run: not empty, without blanks, and not `#` alone, which
/// begins a comment.
bool is_run_column(std::string_view text);

/// Whether a text has a blank, a tab or the end of a line.
bool has_blank(std::string_view text);

/// The text of a query as its id: `%20` for a blank, and likewise for a tab and for line ends.
std::string id_of_text(std::string_view text);

/// The warning, once a file, that `id_of_text` made ids; `id` is the first of them.
std::string text_id_note(std::string_view file, std::string_view id);

/// A line of a run, with its line feed; ranks from 1, scores round-trip exact.
std::string run_line(std::string_view qid, std::string_view docno, std::size_t rank, double score,
                     std::string_view tag);

/// Writes a test set's ranking as a run: queries in their order, documents by score descending
/// (ties in input order), ranks from 1. Scores are round-trip exact. Throws `error` when two
/// documents of a query have the same id.
void write_run(dataset const& data, std::span<double const> scores, std::string_view tag,
               output_file& out, run_form const& form = {});
/// The same to `write(text)`, query by query.
void write_run(dataset const& data, std::span<double const> scores, std::string_view tag,
               std::function<void(std::string_view)> const& write, run_form const& form = {});

}  // namespace rulerank::datasets
