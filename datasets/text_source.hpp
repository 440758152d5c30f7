#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace rulerank::datasets {

/// A text that lies in memory.
std::shared_ptr<text_source const> make_text(std::string text);

/// The text of a file, or of standard input for "-". A plain file is mapped (it must not be cut
/// short while it is in use); anything else is read to its end, and decompressed when its first
/// bytes are those of gzip (any number of members) or zstd (any number of frames). Throws `error`
/// for a file that cannot be read, and with line and column of the text reached so far for a
/// truncated or damaged archive.
std::shared_ptr<text_source const> open_text(context const& ctx, std::string const& path);

/// What stands for a path in messages: "standard input" for "-".
std::string display_name(std::string const& path);

/// Text that comes bit by bit from a descriptor, decompressed like `open_text`.
class text_stream {
 public:
  /// The descriptor stays the caller's; `name` stands in messages.
  text_stream(context const& ctx, int descriptor, std::string name);
  /// The text of a file, or of standard input for "-"; the file stays open as long as the stream.
  /// Throws `error` for one that cannot be read.
  static text_stream open(context const& ctx, std::string const& path);
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

}  // namespace rulerank::datasets
