#pragma once

#include "eval/table.hpp"

#include <string>
#include <string_view>

// Texts of reports in the forms that hold them.
namespace rulerank::inline v0::report {

/// Valid UTF-8 without control characters but line feeds and tabs; each other byte or character of
/// these is U+FFFD.
std::string clean(std::string_view text);
/// For text and quoted attributes of HTML and SVG; clean.
std::string escape_html(std::string_view text);
/// A text in Markdown or LaTeX as eval::render escapes it; not cleaned.
std::string escaped(std::string const& text, eval::table_format format);
/// Of at most a gigabyte.
std::string base64(std::string_view bytes);

}  // namespace rulerank::report
