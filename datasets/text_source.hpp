#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/decompress.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// A text that may be written to while it is read.
class changeable_text : public text_source {
 public:
  /// Whether it was since it was opened.
  virtual bool changed() const noexcept = 0;
};

/// A text that lies in memory.
std::shared_ptr<text_source const> make_text(std::string text);

/// A text, and ids that do not stand in it as they are: both are kept.
std::shared_ptr<text_source const> text_with_ids(std::shared_ptr<text_source const> text,
                                                 std::list<std::string> ids);

/// The text of a file, or of standard input for "-". A plain file is mapped if `ctx.map_files` says
/// so: who reads it calls `expect_unchanged` at the end, and a file that is cut short in between is
/// a SIGBUS, which the program turns into an error. Anything else is read to its end (which takes a
/// tenth longer), and decompressed when its first bytes are those of gzip (any number of members)
/// or zstd (any number of frames), or UTF-16's byte order mark. Text without a mark is in
/// `encoding`, a name of ICU's; empty: UTF-8, which is not checked. Throws `error` for a file that
/// cannot be read or that was written to while it was read, and with line and column of the text
/// reached so far for a truncated or damaged archive and for bytes that are no text of the
/// encoding; `usage_error` for an encoding that ICU does not have.
std::shared_ptr<text_source const> open_text(context const& ctx, std::string const& path,
                                             std::string const& encoding = {});
/// The bytes of a binary file likewise: UTF-16 becomes UTF-8 in `open_text` alone, which names
/// bzip2, xz and zip.
std::shared_ptr<text_source const> open_bytes(context const& ctx, std::string const& path);

/// Throws `error` naming a text that was written to since it was opened.
void expect_unchanged(text_source const& text, std::string const& name);

/// All bytes of a small file behind UTF-8's byte order mark, if it has one. Throws `error` for one
/// that cannot be read; `expected` says what it should be ("a model").
std::string read_file(std::string const& path, std::string_view expected);

/// What stands for a path in messages: "standard input" for "-".
std::string display_name(std::string const& path);

/// About the bytes of text in a file that is not read yet: its size, four times that of a .gz or
/// .zst file, and 1e8 for a stream, a folder and a file that cannot be looked at.
double expected_text_bytes(std::string const& path);

/// The lines that begin in a process's share of a file's bytes; together, the processes have each
/// line once, in order. All call it together, and each counts the lines of its own share. Nothing
/// on all of them where the file is empty, compressed, or no regular file. Throws `error` for one
/// that cannot be read.
std::optional<line_range> lines_of_process(std::string const& path, process_group const& group);

/// Text that comes in parts from a descriptor, decompressed like `open_text`.
class text_stream {
 public:
  /// The descriptor stays the caller's; `name` stands in messages.
  text_stream(context const& ctx, int descriptor, std::string name,
              stream_kind kind = stream_kind::text, std::string const& encoding = {});
  /// The text of a file, or of standard input for "-"; the file stays open as long as the stream.
  /// Throws `error` for one that cannot be read, and at its end for one that was written to since.
  /// `encoding` as `open_text` has it.
  static text_stream open(context const& ctx, std::string const& path,
                          std::string const& encoding = {});
  /// A part of a file, which is plain.
  static text_stream open(context const& ctx, std::string const& path, line_range const& part);
  ~text_stream();
  text_stream(text_stream&&) noexcept;

  /// Waits for more text and returns it; empty at the end. Valid until the next call. A stop
  /// request becomes `interrupted` within a tenth of a second.
  std::string_view next();

 private:
  struct state;
  explicit text_stream(std::unique_ptr<state> begun);
  std::unique_ptr<state> state_;
};

/// A text line by line as it comes: no more of it is in memory than a line and a part of the
/// stream. Lines end with LF or CRLF, the last may end with the text; UTF-8's byte order mark in
/// front is passed over.
class line_stream {
 public:
  /// `lines_before`: of a part of a text, those in front of it.
  explicit line_stream(text_stream stream, std::uint64_t lines_before = 0);

  /// Goes to the next line, the first at the first call; false when there is none. Throws as
  /// `text_stream::next`.
  bool next();
  /// The line without its end, valid until the next call of `next`.
  std::string_view line() const noexcept { return line_; }
  /// The bytes behind the line that are in memory already.
  std::string_view ahead() const noexcept { return rest_; }
  /// Its number, from 1.
  std::uint64_t number() const noexcept { return number_; }
  /// Bytes of the text up to its end.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  text_stream stream_;
  std::string_view rest_;  // what of the stream's last part is still to be read
  std::string begun_;      // a line that began in the parts before
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace rulerank::datasets
