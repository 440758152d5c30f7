#pragma once
// Text in encodings other than UTF-8: ICU's converters and its encoding detection.

#include "datasets/input/decompress.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Returns all ICU names of encodings.
std::vector<std::string> encoding_names();

/// Throws `usage_error` for a name unknown to ICU.
void expect_encoding(std::string const& name);

/// Makes a converter from an encoding to UTF-8. Throws `usage_error` as `expect_encoding`; its
/// `feed` and `finish` throw `archive_fault` for bytes that are invalid in the encoding.
std::unique_ptr<decompressor> make_encoding_decoder(std::string const& name);

/// Returns the offset of the first byte that is not UTF-8; `npos`: all bytes are UTF-8.
std::size_t first_not_utf8(std::string_view text) noexcept;

/// The likely encodings of a text that is not UTF-8, at most four, the most likely first.
struct encoding_guess {
  std::vector<std::string> names;  ///< empty: ICU has no guess, or most of the text is UTF-8
  bool is_certain = false;  ///< the text is long enough, and the first encoding is far more likely

  /// Returns `probably KOI8-R` or `perhaps KOI8-R, GB18030 or EUC-JP`; requires a name.
  std::string text() const;
};
encoding_guess likely_encoding(std::string_view text);

/// Returns the warning of a reader without `--encoding`, to follow the file's name: the position of
/// the first byte that is not UTF-8, and the likely encodings. Empty for UTF-8.
std::string encoding_note(std::string_view text);

/// Throws `error` with that position for text that is not UTF-8; `name`: of the file.
void expect_utf8(std::string_view text, std::string const& name);

}  // namespace rulerank::datasets
