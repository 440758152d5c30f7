#pragma once

#include <string>

#include <fmt/core.h>

namespace rulerank::inline v0 {

/// Appends the text that `format` describes with `arguments` (fmt syntax, arguments numbered from
/// 0). fmt::format_to does the same, but compiles all of fmt's formatting in every file that calls
/// it: 1 to 3 s each.
void vappend_format(std::string& text, fmt::string_view format, fmt::format_args arguments);

/// Checks `format` against the types of `values` at compile time, then appends as `vappend_format`.
template <class... Values>
void append_format(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  vappend_format(text, fmt::string_view(format), fmt::make_format_args(values...));
}

}  // namespace rulerank
