#include "core/error.hpp"

#include <fmt/format.h>

namespace rulerank {

namespace {
std::string place(source_position const& where) {
  if (where.line == 0) return where.file;
  if (where.column == 0) return fmt::format("{}:{}", where.file, where.line);
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}
}  // namespace

error::error(source_position where, std::string_view found_and_expected)
    : std::runtime_error(where.file.empty()
                             ? std::string(found_and_expected)
                             : fmt::format("{}: {}", place(where), found_and_expected)),
      where_(std::move(where)) {}

}  // namespace rulerank
