#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// An archive that is damaged, incomplete, or in an unsupported format.
class archive_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Converts a compressed stream, or text in another encoding, to UTF-8, piece by piece.
class decompressor {
 public:
  /// Receives bytes of the text; the view is valid during the call.
  using sink = std::function<void(std::string_view)>;

  virtual ~decompressor() = default;
  /// Throws `archive_fault` after passing all text before the damage to `out`.
  virtual void feed(std::string_view bytes, sink const& out) = 0;
  /// Must be called at the end of the input. Throws `archive_fault` if the input is incomplete.
  virtual void finish(sink const& out) = 0;
};

/// Returns "bzip2", "xz", "lz4", "a zip archive", "a 7z archive" or "a RAR archive", which are
/// recognized but not supported, by the first bytes of a file; empty for others.
std::string_view packing_of(std::string_view bytes);

enum class stream_kind { text, binary };

/// Makes a decompressor by the first bytes of a stream: gzip, zstd and, for text, UTF-16 with a
/// byte order mark; null for other bytes. Text without a mark is in `encoding`, a name of ICU, or
/// in UTF-8 if it is empty. `feed` of the result throws for text in bzip2, xz, zip, compress,
/// Parquet, Arrow, UTF-32, and UTF-16 without a mark, and for other formats of archives, PDF and
/// Office. `magic_size` bytes decide, or fewer if the stream is shorter; more bytes avoid mistaking
/// some texts for archives.
inline constexpr std::size_t magic_size = 4;
std::unique_ptr<decompressor> make_decompressor(std::string_view first_bytes,
                                                stream_kind kind = stream_kind::text,
                                                std::string const& encoding = {});

}  // namespace rulerank::datasets
