#include "core/append_format.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0 {

void vappend_format(std::string& text, fmt::string_view format, fmt::format_args arguments) {
  fmt::memory_buffer appended;  // faster than a back_inserter of the text
  fmt::vformat_to(fmt::appender(appended), format, arguments);
  text.append(appended.data(), appended.size());
}

}  // namespace rulerank
