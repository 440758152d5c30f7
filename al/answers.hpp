#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Labels that people give to the documents of a pool, on disk: as a table that a spreadsheet opens,
// and as a journal that keeps each answer at once. Documents are named by their line, 0-based over
// the document lines of the pool's file, with the docid beside it as a check.
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::al {

/// What is said of a document.
struct answer {
  std::size_t document = 0;
  std::optional<std::int32_t> label;  ///< 0 or more; none: the document is left out
  std::uint64_t line = 0;             ///< of the file it was read from, 1-based; 0: of none
  std::string labeller{};             ///< who said it, where several do

  friend bool operator==(answer const& a, answer const& b) {
    return a.document == b.document && a.label == b.label && a.labeller == b.labeller;
  }
};

/// The label column's word for a document that is left out.
inline constexpr std::string_view left_out_word = "skip";

/// How many of the answers leave their document out.
std::size_t left_out_of(std::span<answer const> answers);

/// Reads a table with a header: columns `line` and `label`, and `docid` and `qid` where they are
/// there; others are passed over, and rows may be missing or in any order. A label is an integer of
/// 0 or more, `skip`, or empty, which is no answer yet. Between tabs, commas or semicolons; LF or
/// CRLF, cells in double quotes as spreadsheets write them, line ends in them too, plain, .gz or
/// .zst. Throws `error` with line and column for anything else, for a line, docid or qid that
/// `pool` has not, and for two different answers about one document.
std::vector<answer> read_labels(context const& ctx, std::string const& path,
                                datasets::dataset const& pool);

/// How a table to be filled in looks.
struct label_form {
  char delimiter = '\t';            ///< a table between commas begins with a byte order mark
  std::vector<std::string> titles;  ///< of columns behind `label`, such as the document's text
  std::function<std::vector<std::string>(std::size_t document)> cells_of;  ///< what is in them
};

/// The same table without labels, to be filled in: line, docid, qid, label (empty), those of
/// `form`, comment; in the order of `documents`. An apostrophe stands in front of ids that a
/// spreadsheet could take for numbers or dates, and of what it could take for a formula;
/// `read_labels` knows it.
std::string labels_to_fill(datasets::dataset const& pool, std::span<std::size_t const> documents,
                           label_form const& form = {});

/// Who answers: one person (or a table), or several, whose names stand with their answers.
enum class labellers : std::uint8_t { one, several };

/// The answers of one run, each on the disk before `add` returns. A file that is there is gone on
/// with; what a crash left of an unfinished line is cut off. TSV: a first line with `identity`, a
/// header, and rows of line, docid and answer: a label, `skip`, or `undo`, which takes one that
/// stands back and repeats its line and docid. Of one labeller that is the last. Where there are
/// several, their name is a fourth column, each has one answer about a document, and another one
/// takes its place, behind all others.
class answer_journal {
 public:
  /// Throws `error` for a file that is no such journal, or whose identity is another;
  /// `output_error` for one that cannot be written, or that another process writes.
  answer_journal(std::string path, std::string_view identity, datasets::dataset const& pool,
                 labellers who = labellers::one);
  ~answer_journal();
  answer_journal(answer_journal const&) = delete;
  answer_journal& operator=(answer_journal const&) = delete;

  /// The answers that stand, oldest first.
  std::span<answer const> answers() const noexcept { return answers_; }
  /// `labeller`: a name without tab or line end, where there are several.
  void add(std::size_t document, std::optional<std::int32_t> label, std::string labeller = {});
  /// Takes the last answer back, of which there is one; where there are several labellers, the last
  /// one of that name.
  void undo(std::string_view labeller = {});

 private:
  void read(std::string_view text, std::string_view identity);
  void append(std::string_view text);
  std::string row(std::size_t document, std::string_view said, std::string_view labeller) const;
  std::string header() const;

  std::string path_;
  datasets::dataset const& pool_;
  labellers who_;
  std::vector<std::size_t> places_;  // of the documents among the input's lines
  std::vector<answer> answers_;
  int descriptor_ = -1;
};

}  // namespace rulerank::al
