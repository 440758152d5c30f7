#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank {

namespace {
std::string place(source_position const& where) {
  if (where.line == 0) return where.file;
  return fmt::format("{}:{}:{}", where.file, where.line, std::max<std::uint64_t>(where.column, 1));
}
}  // namespace

error::error(source_position where, std::string_view found_and_expected)
    : std::runtime_error(where.file.empty()
                             ? std::string(found_and_expected)
                             : fmt::format("{}: {}", place(where), found_and_expected)),
      where_(std::move(where)) {}

}  // namespace rulerank
