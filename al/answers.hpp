#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Files of labels that people give to the documents of a pool: a table for spreadsheets, and a
// journal that stores each answer at once. Documents are identified by their line, 0-based over the
// document lines of the pool's file; the docid serves as a check.
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0 {
class append_file;
}

namespace rulerank::inline v0::al {

/// An answer about a document.
struct answer {
  std::size_t document = 0;
  std::optional<std::int32_t> label;  ///< 0 or more; empty: the document is excluded
  std::uint64_t line = 0;             ///< 1-based line of the file that it was read from; 0: none
  std::string labeller{};             ///< name, if there are several labellers
  std::string time{};                 ///< UTC, such as 2026-01-31T12:00:00Z; empty: not known
  std::string note{};                 ///< the labeller's remark

  friend bool operator==(answer const& a, answer const& b) {
    return a.document == b.document && a.label == b.label && a.labeller == b.labeller;
  }
};

/// The value in the label column for an excluded document.
inline constexpr std::string_view left_out_word = "skip";

/// The number of answers that exclude their document.
std::size_t left_out_of(std::span<answer const> answers);

/// Reads a table with a header and the columns `line` and `label`, and optionally `docid` and
/// `qid`. Ignores other columns; rows may be missing or in any order. A label is an integer of 0 or
/// more, `skip`, or empty for no answer yet. Accepts tabs, commas or semicolons; LF or CRLF;
/// spreadsheet-style cells in double quotes, with line ends in them; plain, .gz or .zst. Throws
/// `error` with line and column for anything else, for a line, docid or qid that `pool` does not
/// have, and for two different answers about one document.
std::vector<answer> read_labels(context const& ctx, std::string const& path,
                                datasets::dataset const& pool);

/// The format of a table to be filled in.
struct label_form {
  char delimiter = '\t';            ///< a comma-separated table begins with a byte order mark
  std::vector<std::string> titles;  ///< of columns after `label`, such as the document's text
  std::function<std::vector<std::string>(std::size_t document)> cells_of;  ///< their contents
};

/// A table for `read_labels` to be filled in: line, docid, qid, label (empty), the columns of
/// `form`, comment; in the order of `documents`. Ids that a spreadsheet could read as numbers or
/// dates, and cells that it could read as formulas, begin with an apostrophe, which `read_labels`
/// removes.
std::string labels_to_fill(datasets::dataset const& pool, std::span<std::size_t const> documents,
                           label_form const& form = {});

/// Who answers: one person (or a table), or several people with names.
enum class labellers : std::uint8_t { one, several };

/// The beginning of the first line of a journal; the version of its form and the identity of its
/// pool and options follow.
inline constexpr std::string_view journal_mark = "# rulerank answers ";

/// The current answers in the text of a journal, of one labeller or several, with any identity,
/// oldest first. Throws `error` naming `path` as `answer_journal` does.
std::vector<answer> journal_answers(std::string_view text, std::string const& path,
                                    datasets::dataset const& pool);

/// The answers of one run; `add` returns after the answer is on disk. An existing file is
/// continued, and an unfinished line left by a crash is cut off. TSV: a first line with `identity`,
/// a header, and rows of line, docid and answer: a label, `skip`, or `undo`, which withdraws an
/// earlier answer and repeats its line and docid. With one labeller, `undo` withdraws the last
/// answer. With several, the columns labeller, time and note follow (an older file has no notes, or
/// neither times nor notes, and gets none), and each has one answer per document: a new answer
/// replaces the old one and moves to the end.
class answer_journal {
 public:
  /// Throws `error` for a file that is not such a journal or has another identity, `output_error`
  /// for a file that cannot be written or that another process writes.
  answer_journal(std::string path, std::string_view identity, datasets::dataset const& pool,
                 labellers who = labellers::one);
  ~answer_journal();

  /// The current answers, oldest first.
  std::span<answer const> answers() const noexcept { return answers_; }
  /// `labeller`: a name without tab or line end, if there are several labellers. `note`: also
  /// without them; throws `usage_error` for a note if the file has no column of notes.
  void add(std::size_t document, std::optional<std::int32_t> label, std::string labeller = {},
           std::string note = {});
  /// Withdraws the last answer; there must be one. With several labellers, the last one of that
  /// name.
  void undo(std::string_view labeller = {});

 private:
  std::string row(std::size_t document, std::string_view said, std::string_view labeller,
                  std::string_view note = {}) const;

  std::unique_ptr<append_file> file_;
  datasets::dataset const& pool_;
  labellers who_;
  std::size_t columns_ = 0;
  std::vector<std::size_t> places_;  // of the documents, by line of the input
  std::vector<answer> answers_;
};

}  // namespace rulerank::al
