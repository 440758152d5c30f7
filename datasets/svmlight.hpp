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

// Data sets as text: SVMlight lines, and delimited text (CSV, TSV) with a header.
namespace rulerank::inline v0::datasets {

/// Options to read the text of a data set, in either format.
struct svmlight_options {
  bool zero_based = false;                   ///< feature 0 is allowed
  bool regroup = false;                      ///< gather a query's lines that are not contiguous
  std::optional<std::int32_t> unlabelled{};  ///< this (negative) label means "unknown"
  std::string group_file{};                  ///< LightGBM's group sizes, for lines without qid
  bool fractional_labels = false;            ///< fill `dataset::fractional_labels` if there are any
  bool optional_labels = false;  ///< documents without a label are allowed: they are `unlabelled`
  /// Delimited text: titles of these columns, if not standard.
  std::string label_column{}, qid_column{};
  /// Delimited text: titles of columns that are no features.
  std::vector<std::string> skip_columns{};
  /// Errors name options as arguments (`regroup=True`), not as on the command line (`--regroup`).
  bool options_are_arguments = false;
};
using read_options = svmlight_options;

/// Reads a data set in the format of the file. It is delimited text if its name ends in `.csv`
/// (commas, or semicolons if the header contains them) or `.tsv` (tabs), before `.gz` or `.zst`. It
/// is also delimited text if its first line does not begin with a digit, sign, point, space or `#`,
/// and has a cell `label` or `qid` between commas, tabs or semicolons. Otherwise `read_svmlight`
/// reads it. A first line `sep=;`, with `,`, `;` or a tab, names the separator whatever the file
/// name, and is no record.
///
/// Delimited text has a header. Its cells `label`, `qid` and `docid` name these columns. If one is
/// missing, docs/reference/forms.md lists further names, in upper or lower case; `warn` reports
/// such a column, and two possible columns are an error. All other columns are features, by name
/// (without control characters), or by number if the title has only digits. These columns are no
/// features: a first column without a title; columns named `index`, `level_0`, `Unnamed: 0` or
/// `Unnamed: 0.1` (pandas' index); those of `skip_columns`; and, except in a stream, a column whose
/// values in the first 100 records begin with letters and are not numbers. `warn` reports them.
///
/// Each record is a document. An empty cell, `NULL`, `nan`, `NA`, `N/A`, `<NA>`, `#N/A` or `None`
/// is a missing value; `TRUE` is 1 and `FALSE` 0. An empty label, or a missing label column, means
/// an unknown label, if the options allow it (`unlabelled`, `optional_labels`). Cells may be
/// quoted, with quotes doubled and line ends within; spaces around unquoted cells are ignored. A
/// space in a qid becomes `%20`, a line feed `%0A`; docids have no spaces. In ids and titles, an
/// apostrophe before = + - @ or another apostrophe is removed, because it only keeps spreadsheets
/// from reading a formula. Everything else is as in `read_svmlight`.
dataset read_dataset(context const& ctx, std::string const& path, read_options const& options = {},
                     std::function<void(std::string const&)> const& warn = {});

/// Reads text in memory; the first line decides the format unless `name` ends in `.csv` or `.tsv`.
dataset parse_dataset(context const& ctx, std::string text, std::string name,
                      read_options const& options = {},
                      std::function<void(std::string const&)> const& warn = {});

/// Reads `<label> qid:<id> <feature>:<value> ... # comment` (docs/reference/command-line.md),
/// features by number or all by name (`bm25:0.3`; a name begins with a letter or `_`), from a
/// plain, .gz or .zst file, or from standard input for "-", in parallel. The first bytes of the
/// file decide the compression. Throws `error` with line and column for bad input (the first fault
/// of the file, for any number of threads); for a truncated archive, the position is that in the
/// decompressed text. `warn` (may be empty) receives messages about unusual but valid input.
/// Several threads may read at once.
dataset read_svmlight(context const& ctx, std::string const& path,
                      svmlight_options const& options = {},
                      std::function<void(std::string const&)> const& warn = {});

/// Reads text in memory, which the data set keeps alive; `name` is used in messages.
dataset parse_svmlight(context const& ctx, std::shared_ptr<text_source const> text,
                       std::string name, svmlight_options const& options = {},
                       std::function<void(std::string const&)> const& warn = {});
dataset parse_svmlight(context const& ctx, std::string text, std::string name,
                       svmlight_options const& options = {});

/// Reads a part of a data set as `read_dataset`: the documents of the queries that begin in this
/// process's share of the text (context::processes), with their line numbers in the whole text.
/// Collective. The concatenated parts contain each document once; a part may be empty. Each process
/// reads only its part of a plain file; the first process decompresses any other file and
/// distributes the parts.
///
/// Returns nothing, on all processes, for input that cannot be read in parts: delimited text, lines
/// without qid, `regroup` and a group file; and for text with a fault, which `read_dataset` then
/// reports.
std::optional<dataset> read_dataset_part(context const& ctx, std::string const& path,
                                         read_options const& options = {});

/// Reads a stream in either format (its first line decides) query by query. `take_query` gets each
/// query's documents as a data set of one group as soon as the query is complete: at an empty line,
/// at the next query's first line, or at the end; with a group file, at once. Throws as
/// `read_svmlight`, after passing the queries before the fault, and `error` for a query that
/// continues after the empty line that ended it; throws `usage_error` for `regroup`, which a stream
/// does not support. Without qids, empty lines end nothing.
void stream_dataset(context const& ctx, int descriptor, std::string name,
                    read_options const& options,
                    std::function<void(dataset const&)> const& take_query,
                    std::function<void(std::string const&)> const& warn = {});
/// Reads a stream in SVMlight's format only.
void stream_svmlight(context const& ctx, int descriptor, std::string name,
                     svmlight_options const& options,
                     std::function<void(dataset const&)> const& take_query,
                     std::function<void(std::string const&)> const& warn = {});

/// Writes documents from their features (not their lines), with lossless values, and missing values
/// as `NaN`, which C, Python and Java read; keeps ids and comments. Throws `error` for a name of a
/// feature, qid or id that such a line cannot hold.
void write_svmlight(dataset const& data, output_file& out);

/// Writes documents in the format in which they were read. In delimited text, each feature that a
/// document lists is a column; unlisted values are 0, and missing values empty cells; ids and
/// titles that a spreadsheet would evaluate get an apostrophe in front.
void write_dataset(dataset const& data, output_file& out);

/// Writes the lines of `chosen` documents unchanged in file order, each with a line feed; in
/// delimited text, after the header. If `labels` [N] has a label for a document that is unlabelled
/// in `data`, it replaces the label in the line.
void write_lines(dataset const& data, std::span<std::size_t const> chosen, output_file& out,
                 std::span<std::int32_t const> labels = {});

}  // namespace rulerank::datasets
