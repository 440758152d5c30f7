#include "core/append_format.hpp"

#include <iterator>

#include <fmt/format.h>

namespace rulerank::inline v0 {

void vappend_format(std::string& text, fmt::string_view format, fmt::format_args arguments) {
  fmt::vformat_to(std::back_inserter(text), format, arguments);
}

}  // namespace rulerank
