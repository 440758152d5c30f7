#pragma once

#include "eval/table.hpp"

#include <string>
#include <string_view>

// Escapes texts of reports for the output forms.
namespace rulerank::inline v0::report {

/// Valid UTF-8 without control characters other than line feeds and tabs; each invalid byte or
/// character becomes U+FFFD.
std::string clean(std::string_view text);
/// For text and quoted attributes of HTML and SVG; applies clean().
std::string escape_html(std::string_view text);
/// Escapes for Markdown or LaTeX as eval::render does; does not apply clean().
std::string escaped(std::string const& text, eval::table_format format);
/// Base64 encoding of at most a gigabyte.
std::string base64(std::string_view bytes);

}  // namespace rulerank::report
