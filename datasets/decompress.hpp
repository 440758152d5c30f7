#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// An archive that is damaged or ends too early.
class archive_fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Turns a compressed stream into its text, part by part.
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

/// By the magic bytes at the begin of a stream: gzip, zstd, or nothing for plain text.
/// `magic_size` bytes decide, or fewer when the stream is shorter.
inline constexpr std::size_t magic_size = 4;
std::unique_ptr<decompressor> make_decompressor(std::string_view first_bytes);

}  // namespace rulerank::datasets
