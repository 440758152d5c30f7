#pragma once
// Delimited text (CSV, TSV) as records of cells: RFC 4180, read strictly.

#include "core/context.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// A cell of a record.
struct cell {
  std::string_view text;    ///< between its quotes, or without blanks around it
  std::size_t offset = 0;   ///< of `text` in the record
  bool has_quotes = false;  ///< `text` has quotes, which stand doubled

  /// The text with single quotes.
  std::string str() const;
};

/// A record of a text. Its end is where an empty line's or the text's is.
struct record {
  std::string_view text;  ///< without its LF or CRLF
  std::size_t size = 0;   ///< bytes of it, with these
  std::size_t feeds = 0;  ///< line feeds in them
  std::vector<cell> cells;
  std::size_t lines_before = 0;  ///< for messages; `record_reader` leaves it as it is
};

/// Reads records. A cell may be in quotes, which it begins and ends with; there a quote stands
/// doubled, and there may be delimiters and line ends.
class record_reader {
 public:
  explicit record_reader(char delimiter);

  /// Reads the first record of `text`, which is not empty. Throws `line_fault`, counted from the
  /// text's begin.
  void read(std::string_view text, record& out) const;

 private:
  std::size_t read_quoted(std::string_view text, std::size_t begin, record& out) const;
  std::size_t read_plain(std::string_view text, std::size_t begin, record& out) const;

  char delimiter_;
  std::array<bool, 256> ends_{};  // bytes that a plain cell cannot hold
};

/// Offsets that cut a text after records into chunks of about `bytes`; the cuts behind the first
/// fault of the text may be wrong.
std::vector<std::size_t> cut_at_records(context const& ctx, std::string_view text,
                                        std::size_t bytes);

/// Finds where records end in a text that grows.
class record_ends {
 public:
  /// Looks at what `text` has more than before; returns the end of its last whole record, 0 for
  /// none.
  std::size_t last(std::string_view text);
  /// The end of its first record alone.
  std::size_t first(std::string_view text);
  /// The first `bytes` of the text, whole records, are gone.
  void drop(std::size_t bytes) { seen_ -= bytes; }

 private:
  std::size_t seen_ = 0;
  bool in_quotes_ = false;
};

/// `text` as a cell: in quotes where it needs them.
void append_cell(std::string_view text, char delimiter, std::string& to);
/// `text` as a cell of a header. Between commas it is always in quotes: Gnumeric takes for quotes
/// what the first cell in quotes ends with, be it the apostrophe of a guarded id.
void append_title(std::string_view text, char delimiter, std::string& to);

}  // namespace rulerank::datasets
