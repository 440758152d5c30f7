#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// An archive that is damaged, ends too early or has a form that is not read.
class archive_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Turns a compressed stream, or text of another encoding, into UTF-8, part by part.
class decompressor {
 public:
  /// Takes bytes of the text; the view is valid during the call.
  using sink = std::function<void(std::string_view)>;

  virtual ~decompressor() = default;
  /// Throws `archive_fault` after all text before the damage went to `out`.
  virtual void feed(std::string_view bytes, sink const& out) = 0;
  /// To be called at the input's end: throws `archive_fault` when the input is not complete.
  virtual void finish(sink const& out) = 0;
};

/// "bzip2", "xz", "lz4" or "a zip archive", which are named and not read, by the first bytes of a
/// file; empty for others.
std::string_view packing_of(std::string_view bytes);

enum class stream_kind { text, binary };

/// By the first bytes of a stream: gzip, zstd, for text also UTF-16 with a byte order mark; null
/// for other bytes. Text without a mark is in `encoding`, a name of ICU's, or in UTF-8 where
/// `encoding` is empty. `feed` of the result throws for text in bzip2, xz, zip, Parquet, Arrow,
/// UTF-32, and UTF-16 without a mark. `magic_size` bytes decide, or fewer when the stream is
/// shorter; with more bytes fewer texts are taken for archives.
inline constexpr std::size_t magic_size = 4;
std::unique_ptr<decompressor> make_decompressor(std::string_view first_bytes,
                                                stream_kind kind = stream_kind::text,
                                                std::string const& encoding = {});

}  // namespace rulerank::datasets
