#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// Returns the character of a reference without its `&` and `;`: `eacute` and the other names of
/// HTML 4 (and of the letters of Central Europe), `#233` or `#xE9`. 128 to 159 are those of
/// Windows-1252, as in browsers. 0: there is no such character.
std::uint32_t character_of(std::string_view reference);

/// Appends a character as UTF-8.
void append_utf8(std::string& to, std::uint32_t character);

}  // namespace rulerank::datasets
