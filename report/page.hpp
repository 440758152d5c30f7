#pragma once

#include <string>
#include <string_view>

// The files of page/ and d3, which the build puts into the library.
namespace rulerank::inline v0::report {

extern std::string_view const page_css;
extern std::string_view const page_js;
extern std::string_view const sort_js;
/// d3.min.js, or empty where the library was built without it.
extern std::string_view const d3_js;

/// A page without scripts that asks for nothing else. `css` is its whole style; `body` is HTML.
std::string page_of(std::string_view title, std::string_view css, std::string_view body);

}  // namespace rulerank::report
