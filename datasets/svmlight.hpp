#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Data sets as text: lines in SVMlight's form, and delimited text (CSV, TSV) with a header.
namespace rulerank::inline v0::datasets {

/// How the text of a data set is read, in either form.
struct svmlight_options {
  bool zero_based = false;                   ///< feature 0 is allowed
  bool regroup = false;                      ///< gather a query's lines when they are apart
  std::optional<std::int32_t> unlabelled{};  ///< this (negative) label means "not labelled yet"
  std::string group_file{};                  ///< LightGBM's group sizes, for lines without qid
  bool fractional_labels = false;            ///< fill `dataset::fractional_labels` where some are
  bool optional_labels = false;              ///< a document may have no label: it is `unlabelled`
  std::string label_column{}, qid_column{};  ///< delimited text: their titles, if others
  std::vector<std::string> skip_columns{};   ///< likewise: titles of columns that are no features
};
using read_options = svmlight_options;

/// Reads a data set in the form that the file has: delimited text where its name ends with `.csv`
/// (commas, or semicolons where the header has them) or `.tsv` (tabs), before `.gz` or `.zst`, or
/// where its first line begins neither with a digit, sign or point nor with a blank or `#`, and
/// has a cell `label` or `qid` between commas, tabs or semicolons; otherwise `read_svmlight`. A
/// first line `sep=;`, with `,`, `;` or a tab, says what is between cells whatever the name, and is
/// no record.
///
/// Delimited text has a header, whose cells `label`, `qid` and `docid` name these columns, or,
/// where one of them is missing, other names as docs/reference/forms.md lists them, in any case;
/// `warn` gets such a column, and two that could be it are an error. All others are features, by
/// name (without control characters), or by number where they are all digits. No features are a
/// first column without a name, columns named `index`, `level_0`, `Unnamed: 0` or `Unnamed: 0.1`
/// (pandas' index), those of `skip_columns`, and, but in a stream, a column whose values begin with
/// letters and are no numbers, as far as the first 100 records say: `warn` gets these. A record is
/// a document; an empty cell, `NULL`, `nan`, `NA`, `N/A`, `<NA>`, `#N/A` or `None` is a missing
/// value, `TRUE` is 1 and `FALSE` 0; an empty label, or no such column, is one that is not known,
/// where the options allow these (`unlabelled`, `optional_labels`). Cells may be in quotes, with
/// quotes doubled and line ends within; blanks around others are not theirs. A blank in a qid
/// becomes `%20`, a line feed `%0A`; docids are text without blanks. Ids and
/// titles lose an apostrophe in front of = + - @ or another apostrophe, which keeps spreadsheets
/// from reading them as formulas. Everything else is as in `read_svmlight`.
dataset read_dataset(context const& ctx, std::string const& path, read_options const& options = {},
                     std::function<void(std::string const&)> const& warn = {});

/// The same from memory; the first line decides unless `name` ends with `.csv` or `.tsv`.
dataset parse_dataset(context const& ctx, std::string text, std::string name,
                      read_options const& options = {},
                      std::function<void(std::string const&)> const& warn = {});

/// Reads `<label> qid:<id> <feature>:<value> ... # comment` (docs/reference/command-line.md),
/// features by number or all by name (`bm25:0.3`; a name begins with a letter or `_`), from a
/// plain, .gz or .zst file, or from standard input for "-", in parallel. The compression follows
/// from the file's first bytes. Throws `error` with line and column for bad input (the first fault
/// of the file whatever the number of threads), with the position in the decompressed text for a
/// truncated archive. `warn` (may be empty) gets a message about what is odd but valid. Several
/// threads may read at once.
dataset read_svmlight(context const& ctx, std::string const& path,
                      svmlight_options const& options = {},
                      std::function<void(std::string const&)> const& warn = {});

/// The same from memory; `name` stands in messages. The text is kept alive by the data set.
dataset parse_svmlight(context const& ctx, std::shared_ptr<text_source const> text,
                       std::string name, svmlight_options const& options = {},
                       std::function<void(std::string const&)> const& warn = {});
dataset parse_svmlight(context const& ctx, std::string text, std::string name,
                       svmlight_options const& options = {});

/// Reads a part of what `read_dataset` reads: the documents of the queries that begin in this
/// process's share of the text (context::processes), with their lines' numbers in all of it. All
/// processes call it together; one behind the other, the parts have each document once, and one may
/// have none. Of a plain file a process reads its part alone; another one the first process
/// decompresses, which deals the parts.
///
/// Nothing, on all processes, for what cannot be read in parts: delimited text, lines without qid,
/// `regroup` and a group file; and for a text with a fault, which `read_dataset` then names.
std::optional<dataset> read_dataset_part(context const& ctx, std::string const& path,
                                         read_options const& options = {});

/// Reads a stream in either form (its first line decides) query by query: `take_query` gets each
/// query's documents as a data set of one group as soon as its last line has come: with the blank
/// line behind it, the next query's first line, or at the end; with a group file, at once. Throws
/// as `read_svmlight` does, after the queries before the fault, and `error` for a query that goes
/// on behind the blank line that ended it; `usage_error` for `regroup`, which a stream cannot have.
/// Without qids blank lines end nothing.
void stream_dataset(context const& ctx, int descriptor, std::string name,
                    read_options const& options,
                    std::function<void(dataset const&)> const& take_query,
                    std::function<void(std::string const&)> const& warn = {});
/// The same of text in SVMlight's form alone.
void stream_svmlight(context const& ctx, int descriptor, std::string name,
                     svmlight_options const& options,
                     std::function<void(dataset const&)> const& take_query,
                     std::function<void(std::string const&)> const& warn = {});

/// Writes documents from their features (not their lines), values round-trip exact, missing ones as
/// `NaN`, the spelling that C, Python and Java all read; ids and comments kept. Throws `error` for
/// a name of a feature, qid or id that such a line cannot hold.
void write_svmlight(dataset const& data, output_file& out);

/// Writes documents likewise in the form that they were read in. In delimited text a column is each
/// feature that some document lists; what a document does not list is 0, a missing value an empty
/// cell; ids and titles that a spreadsheet would calculate have an apostrophe in front.
void write_dataset(dataset const& data, output_file& out);

/// Writes the lines of `chosen` documents verbatim in the order of the file, each ended with a line
/// feed, those of delimited text behind its header. Where `labels` [N] has a label for a document
/// that is unlabelled in `data`, it replaces the line's.
void write_lines(dataset const& data, std::span<std::size_t const> chosen, output_file& out,
                 std::span<std::int32_t const> labels = {});

}  // namespace rulerank::datasets
