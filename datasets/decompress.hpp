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

/// Turns a compressed stream, or one of UTF-16, into its text, part by part.
class decompressor {
 public:
  /// Takes decompressed bytes; the view is valid during the call.
  using sink = std::function<void(std::string_view)>;

  virtual ~decompressor() = default;
  /// Throws `archive_fault` after all text before the damage went to `out`.
  virtual void feed(std::string_view compressed, sink const& out) = 0;
  /// To be called at the input's end: throws `archive_fault` when the archive is not complete.
  virtual void finish() = 0;
};

enum class stream_kind { text, binary };

/// By the magic bytes at the begin of a stream: gzip, zstd, of text UTF-16 with a byte order mark,
/// or nothing for other bytes. `feed` of the result throws for text in bzip2, xz, zip, UTF-32, and
/// UTF-16 without a mark. `magic_size` bytes decide, or fewer when the stream is shorter.
inline constexpr std::size_t magic_size = 4;
std::unique_ptr<decompressor> make_decompressor(std::string_view first_bytes,
                                                stream_kind kind = stream_kind::text);

}  // namespace rulerank::datasets
