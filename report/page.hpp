#pragma once

#include <string>
#include <string_view>

// The files of page/ and d3, embedded in the library by the build.
namespace rulerank::inline v0::report {

extern std::string_view const page_css;
extern std::string_view const page_js;
extern std::string_view const sort_js;
/// d3.min.js; empty if the library was built without it.
extern std::string_view const d3_js;

/// A self-contained page without scripts. `css`: its whole style; `body`: HTML.
std::string page_of(std::string_view title, std::string_view css, std::string_view body);

}  // namespace rulerank::report
