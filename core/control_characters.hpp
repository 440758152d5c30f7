#pragma once

#include <cstddef>
#include <string_view>

namespace rulerank::inline v0 {

/// Bytes of the control character (U+0000 to U+001F, U+007F to U+009F), or of the mark that turns a
/// line's direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), that a text in
/// UTF-8 begins with; 0: of none. `printable` shows these as \xNN.
std::size_t control_size(std::string_view text);

}  // namespace rulerank
