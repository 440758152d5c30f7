#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/input/decompress.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// A text whose file may change while it is read.
class changeable_text : public text_source {
 public:
  /// Whether the file has changed since it was opened.
  virtual bool changed() const noexcept = 0;
};

/// Makes a text in memory.
std::shared_ptr<text_source const> make_text(std::string text);

/// Combines a text with ids that are not literal parts of it; keeps both alive.
std::shared_ptr<text_source const> text_with_ids(std::shared_ptr<text_source const> text,
                                                 std::list<std::string> ids);

/// Opens the text of a file, or standard input for "-". A plain file is mapped if `ctx.map_files`
/// is set: the reader must call `expect_unchanged` at the end, and if the file is cut short
/// meanwhile, the program turns the SIGBUS into an error. Any other file is read to its end (a
/// tenth slower), and decompressed if its first bytes are those of gzip (any number of members),
/// zstd (any number of frames), or UTF-16's byte order mark. Text without a mark is in `encoding`,
/// a name of ICU; empty: UTF-8, unchecked. Throws `error` for a file that cannot be read or changed
/// while it was read, and with line and column in the text for a damaged archive and for bytes that
/// are invalid in the encoding; throws `usage_error` for an encoding unknown to ICU.
std::shared_ptr<text_source const> open_text(context const& ctx, std::string const& path,
                                             std::string const& encoding = {});
/// Opens the bytes of a binary file. Unlike `open_text`, does not convert UTF-16 and does not
/// recognize bzip2, xz and zip.
std::shared_ptr<text_source const> open_bytes(context const& ctx, std::string const& path);

/// Throws `error` naming a text whose file has changed since it was opened.
void expect_unchanged(text_source const& text, std::string const& name);

/// Returns all bytes of a small file without a byte order mark of UTF-8. Throws `error` if it
/// cannot be read; `expected` says what it should be ("a model").
std::string read_file(std::string const& path, std::string_view expected);

/// Returns the name of a path in messages: "standard input" for "-".
std::string display_name(std::string const& path);

/// Estimates the bytes of text in an unread file: its size, or four times the size of a .gz or .zst
/// file, and 1e8 for a stream, a folder and an inaccessible file.
double expected_text_bytes(std::string const& path);

/// Returns the lines that begin in this process's share of a file's bytes; the processes together
/// have each line once, in order. Collective; each process counts the lines of its own share.
/// Returns nothing on all processes if the file is empty, compressed, or no regular file. Throws
/// `error` if it cannot be read.
std::optional<line_range> lines_of_process(std::string const& path, process_group const& group);

/// Text that arrives in pieces from a descriptor, decompressed as in `open_text`.
class text_stream {
 public:
  /// The caller keeps ownership of the descriptor; `name` is used in messages.
  text_stream(context const& ctx, int descriptor, std::string name,
              stream_kind kind = stream_kind::text, std::string const& encoding = {});
  /// Opens the text of a file, or standard input for "-"; the file stays open as long as the
  /// stream. Throws `error` if it cannot be read, and at its end if it has changed meanwhile.
  /// `encoding` as in `open_text`.
  static text_stream open(context const& ctx, std::string const& path,
                          std::string const& encoding = {});
  /// Opens a part of a plain file.
  static text_stream open(context const& ctx, std::string const& path, line_range const& part);
  ~text_stream();
  text_stream(text_stream&&) noexcept;

  /// Waits for more text and returns it; empty at the end. Valid until the next call. Reacts to a
  /// stop request within a tenth of a second by throwing `interrupted`.
  std::string_view next();

 private:
  struct state;
  explicit text_stream(std::unique_ptr<state> begun);
  std::unique_ptr<state> state_;
};

/// Reads a text line by line: holds only one line and a piece of the stream in memory. Lines end
/// with LF or CRLF, the last may end with the text; a byte order mark of UTF-8 is skipped.
class line_stream {
 public:
  /// `lines_before`: the number of lines before this part of a text.
  explicit line_stream(text_stream stream, std::uint64_t lines_before = 0);

  /// Moves to the next line, at first to the first; returns false at the end. Throws as
  /// `text_stream::next`.
  bool next();
  /// The line without its end, valid until the next call of `next`.
  std::string_view line() const noexcept { return line_; }
  /// The bytes after the line that are already in memory.
  std::string_view ahead() const noexcept { return rest_; }
  /// The number of the line, from 1.
  std::uint64_t number() const noexcept { return number_; }
  /// The bytes of the text up to the end of the line.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  text_stream stream_;
  std::string_view rest_;  // the unread rest of the stream's last piece
  std::string begun_;      // a line that began in earlier pieces
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace rulerank::datasets
