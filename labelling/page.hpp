#pragma once

#include <string_view>

// The files of page/, embedded in the library by the build.
namespace rulerank::inline v0::labelling {

extern std::string_view const page_html;
extern std::string_view const page_js;
extern std::string_view const page_css;

}  // namespace rulerank::labelling
