#pragma once

#include <string>

#include <fmt/core.h>

namespace rulerank::inline v0 {

/// Appends the text that `format` describes with `arguments` (the language of fmt, which numbers
/// the arguments from 0). fmt::format_to does the same, but every file that calls it compiles all
/// of fmt's formatting once more: 1 to 3 s.
void vappend_format(std::string& text, fmt::string_view format, fmt::format_args arguments);

/// The same; `format` is checked against the types of `values` when it is compiled.
template <class... Values>
void append_format(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  vappend_format(text, fmt::string_view(format), fmt::make_format_args(values...));
}

}  // namespace rulerank
