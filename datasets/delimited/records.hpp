#pragma once
// Delimited text (CSV, TSV) as records of cells: RFC 4180, strictly.

#include "core/context.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// A cell of a record.
struct cell {
  std::string_view text;    ///< between its quotes, or trimmed
  std::size_t offset = 0;   ///< of `text` in the record
  bool has_quotes = false;  ///< `text` contains doubled quotes

  /// Returns the text with doubled quotes replaced by single ones.
  std::string str() const;
};

/// A record of a text. It ends at an empty line or at the end of the text.
struct record {
  std::string_view text;  ///< without its LF or CRLF
  std::size_t size = 0;   ///< bytes including the line end
  std::size_t feeds = 0;  ///< number of line feeds in them
  std::vector<cell> cells;
  std::size_t lines_before = 0;  ///< for messages; `record_reader` does not change it
};

/// Reads records. A quoted cell begins and ends with a quote; inside, quotes are doubled, and
/// delimiters and line ends are allowed.
class record_reader {
 public:
  explicit record_reader(char delimiter);

  /// Reads the first record of the nonempty `text`. Throws `line_fault` with an offset from the
  /// beginning of the text.
  void read(std::string_view text, record& out) const;

 private:
  std::size_t read_quoted(std::string_view text, std::size_t begin, record& out) const;
  std::size_t read_plain(std::string_view text, std::size_t begin, record& out) const;

  char delimiter_;
  std::array<bool, 256> ends_{};  // bytes that an unquoted cell cannot contain
};

/// Returns offsets that cut a text after records into chunks of about `bytes`; cuts after the first
/// fault of the text may be wrong.
std::vector<std::size_t> cut_at_records(context const& ctx, std::string_view text,
                                        std::size_t bytes);

/// Finds the ends of records in a growing text.
class record_ends {
 public:
  /// Examines the bytes that are new in `text`; returns the end of its last complete record, 0 for
  /// none.
  std::size_t last(std::string_view text);
  /// Returns the end of the first record.
  std::size_t first(std::string_view text);
  /// Must be called when the first `bytes` of the text, whole records, are removed.
  void drop(std::size_t bytes) { seen_ -= bytes; }

 private:
  std::size_t seen_ = 0;
  bool in_quotes_ = false;
};

/// Appends `text` as a cell, in quotes if necessary.
void append_cell(std::string_view text, char delimiter, std::string& to);
/// Appends `text` as a cell of a header. Between commas it is always quoted, because Gnumeric takes
/// the last character of the first quoted cell for the quote, even the apostrophe of a guarded id.
void append_title(std::string_view text, char delimiter, std::string& to);

}  // namespace rulerank::datasets
