#pragma once

#include <string_view>

// The files of page/ and openapi.json, embedded in the library by the build.
namespace rulerank::inline v0::server {

extern std::string_view const page_html;
extern std::string_view const page_js;
extern std::string_view const page_css;
extern std::string_view const openapi_json;

}  // namespace rulerank::server
