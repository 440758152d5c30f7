#include "core/error.hpp"

#include "core/control_characters.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank::inline v0 {

namespace {
std::string shown(source_position const& where) {
  if (where.line == 0) return where.file;
  return fmt::format("{}:{}:{}", where.file, where.line, std::max<std::uint64_t>(where.column, 1));
}

/// Returns the size of the UTF-8 character that a text begins with, or 0.
std::size_t character_size(std::string_view text) {
  auto const byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  unsigned const first = byte(0);
  if (first < 0x80) return 1;
  std::size_t const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t at = 1; at < size; ++at)
    if ((byte(at) & 0xc0) != 0x80) return 0;
  unsigned const second = byte(1);
  bool const overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  bool const surrogate = first == 0xed && second >= 0xa0;
  bool const beyond = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : size;
}

/// Input may be a line of megabytes: keeps the begin and the end of the message.
std::string bounded(std::string_view text) {
  constexpr std::size_t most = 1000;
  if (text.size() <= most) return std::string(text);
  return fmt::format("{}...{}", text.substr(0, most / 2), text.substr(text.size() - most / 2));
}
}  // namespace

std::size_t control_size(std::string_view text) {
  auto const byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  unsigned const first = byte(0), second = byte(1), third = byte(2);
  if (text.empty()) return 0;
  if (first < 0x20 || first == 0x7f) return 1;
  if (first == 0xc2 && second >= 0x80 && second < 0xa0) return 2;
  if (first == 0xd8 && second == 0x9c) return 2;
  if (first != 0xe2) return 0;
  bool const mark = (second == 0x80 && (third == 0x8e || third == 0x8f)) ||
                    (second == 0x80 && third >= 0xaa && third <= 0xae) ||
                    (second == 0x81 && third >= 0xa6 && third <= 0xa9);
  return mark ? 3 : 0;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    std::size_t const size = character_size(text);
    std::string_view const next = text.substr(0, std::max<std::size_t>(size, 1));
    text.remove_prefix(next.size());
    if (size > 0 && control_size(next) == 0)
      shown += next;
    else
      for (char const c : next) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown;
}

std::string quoted(std::string_view found) {
  constexpr std::size_t longest = 32;
  std::string text(1, '"');
  for (char const c : found.substr(0, longest)) {
    if (c == '"' || c == '\\') text += '\\';
    if (c < ' ' || c > '~')
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      text += c;
  }
  if (found.size() > longest) text += "...";
  text += '"';
  return text;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

error::error(source_position where, std::string_view found_and_expected)
    : std::runtime_error(printable(
          where.file.empty() ? bounded(found_and_expected)
                             : fmt::format("{}: {}", shown(where), bounded(found_and_expected)))),
      where_(std::move(where)) {}

}  // namespace rulerank
