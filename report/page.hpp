#pragma once

#include <string_view>

// The files of page/ and d3, which the build puts into the library.
namespace rulerank::inline v0::report {

extern std::string_view const page_css;
extern std::string_view const page_js;
/// d3.min.js, or empty where the library was built without it.
extern std::string_view const d3_js;

}  // namespace rulerank::report
