#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace rulerank::datasets {

/// How SVMlight/LETOR text is read.
struct svmlight_options {
  bool zero_based = false;                 ///< feature 0 is allowed
  bool regroup = false;                    ///< gather a query's lines when they are apart
  std::optional<std::int32_t> unlabelled;  ///< this (negative) label means "not labelled yet"
  std::string group_file;                  ///< LightGBM's group sizes, for lines without qid
};

/// Reads `<label> qid:<id> <feature>:<value> ... # comment` (docs/command-line.md) from a plain,
/// .gz or .zst file, or from standard input for "-", in parallel. The compression follows from the
/// file's first bytes. Throws `error` with line and column for bad input (the first fault of the
/// file whatever the number of threads), with the position in the decompressed text for a
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

/// Reads a stream query by query: `take_query` gets each query's documents as a data set of one
/// group as soon as its last line has come: with the next query's first line, or at the end; with a
/// group file, at once. Throws as `read_svmlight` does, after the queries before the fault;
/// `usage_error` for `regroup`, which a stream cannot have.
void stream_svmlight(context const& ctx, int descriptor, std::string name,
                     svmlight_options const& options,
                     std::function<void(dataset const&)> const& take_query,
                     std::function<void(std::string const&)> const& warn = {});

/// Writes documents from their features (not their lines), values round-trip exact, missing ones as
/// `NaN`, the spelling that C, Python and Java all read; comments kept.
void write_svmlight(dataset const& data, output_file& out);

/// Writes the lines of `chosen` documents verbatim in the order of the file, each ended with a line
/// feed. Where `labels` [N] has a label for a document that is unlabelled in `data`, it replaces
/// the line's.
void write_lines(dataset const& data, std::span<std::size_t const> chosen, output_file& out,
                 std::span<std::int32_t const> labels = {});

}  // namespace rulerank::datasets
