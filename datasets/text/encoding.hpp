#pragma once
// Text in other encodings than UTF-8: ICU's converters, and its guess at what an encoding is.

#include "datasets/decompress.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Every name that ICU has for an encoding.
std::vector<std::string> encoding_names();

/// Throws `usage_error` for a name that ICU does not have.
void expect_encoding(std::string const& name);

/// Turns text of an encoding into UTF-8. Throws `usage_error` as `expect_encoding`; `feed` and
/// `finish` throw `archive_fault` for bytes that are no text of the encoding.
std::unique_ptr<decompressor> make_encoding_decoder(std::string const& name);

/// The offset of the first byte that is no part of UTF-8; `npos`: all bytes are UTF-8.
std::size_t first_not_utf8(std::string_view text) noexcept;

/// The encodings that a text which is not UTF-8 may have, four at most, the likeliest first.
struct encoding_guess {
  std::vector<std::string> names;  ///< none: ICU has no guess, or most of the text is UTF-8
  bool is_certain = false;         ///< the text is long enough, and the first far likelier

  /// `probably KOI8-R` or `perhaps KOI8-R, GB18030 or EUC-JP`; not for no names.
  std::string text() const;
};
encoding_guess likely_encoding(std::string_view text);

/// The warning of a reader without `--encoding`, to follow the file's name: the place of the first
/// byte that is not UTF-8, and the likely encodings. Empty for UTF-8.
std::string encoding_note(std::string_view text);

/// Throws `error` with that place for text that is not UTF-8; `name` is the file's.
void expect_utf8(std::string_view text, std::string const& name);

}  // namespace rulerank::datasets
