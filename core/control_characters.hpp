#pragma once

#include <cstddef>
#include <string_view>

namespace rulerank::inline v0 {

/// Returns the size in bytes of the control character (U+0000 to U+001F, U+007F to U+009F) or
/// direction mark (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) at the start of a
/// UTF-8 text, or 0. `printable` shows these characters as \xNN.
std::size_t control_size(std::string_view text);

}  // namespace rulerank
