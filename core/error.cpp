#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank {

namespace {
std::string shown(source_position const& where) {
  if (where.line == 0) return where.file;
  return fmt::format("{}:{}:{}", where.file, where.line, std::max<std::uint64_t>(where.column, 1));
}

/// What was found may be a line of megabytes: its begin and the end of the message are kept.
std::string bounded(std::string_view text) {
  constexpr std::size_t most = 1000;
  if (text.size() <= most) return std::string(text);
  return fmt::format("{}...{}", text.substr(0, most / 2), text.substr(text.size() - most / 2));
}
}  // namespace

error::error(source_position where, std::string_view found_and_expected)
    : std::runtime_error(where.file.empty()
                             ? bounded(found_and_expected)
                             : fmt::format("{}: {}", shown(where), bounded(found_and_expected))),
      where_(std::move(where)) {}

}  // namespace rulerank
