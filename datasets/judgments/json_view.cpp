#include "datasets/judgments/json_view.hpp"

#include "core/json_text.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/number.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::string_view json_blanks = " \t\r\n";

std::size_t behind_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(json_blanks, at), text.size());
}

/// Returns the offset after the string that begins at a quote, or the end of the text.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// Returns the offset after the value that begins at `at`, or the end of the text. Does not check
/// that brackets match; the parser of the value does.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    char const c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at + 1;
      --depth;
      ++at;
    } else if (depth == 0) {
      return std::min(text.find_first_of(",:{}[]\" \t\r\n", at + 1), text.size());
    } else {
      ++at;
    }
    if (depth == 0) return at;
  }
  return at;
}

/// Returns the content of a quoted string.
std::string unquoted(std::string_view raw) {
  if (raw.find('\\') == raw.npos) return std::string(raw.substr(1, raw.size() - 2));
  return nlohmann::json::parse(raw).get<std::string>();
}

}  // namespace

source_position json_text::place(std::size_t offset) {
  if (offset < counted_) {
    counted_ = line_begin_ = 0;
    line_ = 1;
  }
  std::string_view const before = bytes_.substr(0, offset);
  for (std::size_t feed = before.find('\n', counted_); feed != before.npos;
       feed = before.find('\n', feed + 1)) {
    ++line_;
    line_begin_ = feed + 1;
  }
  counted_ = offset;
  return {name_, line_, offset - line_begin_ + 1};
}

std::size_t json_view::end() const {
  return end_of_value(text_->bytes(), begin_);
}

void json_view::for_each_member(
    std::string_view expected,
    std::function<void(std::string const&, json_view)> const& work) const {
  if (!is_object()) fail(expected);
  std::string_view const text = text_->bytes();
  for (std::size_t at = behind_blanks(text, begin_ + 1); text[at] != '}';) {
    std::size_t const name_end = end_of_string(text, at);
    std::string const name = unquoted(text.substr(at, name_end - at));
    json_view const value(*text_, behind_blanks(text, behind_blanks(text, name_end) + 1));
    work(name, value);
    at = behind_blanks(text, value.end());
    if (text[at] == ',') at = behind_blanks(text, at + 1);
  }
}

void json_view::for_each_element(std::string_view expected,
                                 std::function<void(json_view)> const& work) const {
  if (!is_array()) fail(expected);
  std::string_view const text = text_->bytes();
  for (std::size_t at = behind_blanks(text, begin_ + 1); text[at] != ']';) {
    json_view const value(*text_, at);
    work(value);
    at = behind_blanks(text, value.end());
    if (text[at] == ',') at = behind_blanks(text, at + 1);
  }
}

std::optional<json_view> json_view::find(std::string_view name) const {
  std::optional<json_view> found;
  if (is_object())
    for_each_member({}, [&](std::string const& other, json_view value) {
      if (other != name) return;
      if (found)
        throw error(value.place(),
                    fmt::format("found the member \"{}\" again, expected it once", name));
      found = value;
    });
  return found;
}

json_view json_view::member(std::string_view name) const {
  std::optional<json_view> const found = find(name);
  if (!found) fail(fmt::format("an object with the member \"{}\"", name));
  return *found;
}

std::string json_view::id() const {
  constexpr std::string_view expected = "an id: a string that is not empty, or an integer";
  if (is_string()) return string(expected);
  if (!is_number() || raw().find_first_of(".eE") != std::string_view::npos) fail(expected);
  return std::string(raw());
}

std::string json_view::string(std::string_view expected) const {
  if (is_string() && raw() == "\"\"") fail(expected);
  return any_string(expected);
}

std::string json_view::any_string(std::string_view expected) const {
  if (!is_string()) fail(expected);
  return unquoted(raw());
}

double json_view::number(std::string_view expected) const {
  double value = 0;
  std::string const text = is_string() ? unquoted(raw()) : std::string(raw());
  if (!(is_string() || is_number()) || read_number(text, value) != number_kind::finite)
    fail(expected);
  return value;
}

void json_view::fail(std::string_view expected) const {
  std::string const found = is_object()  ? "an object"
                            : is_array() ? "an array"
                                         : rulerank::quoted(is_string() ? unquoted(raw()) : raw());
  throw error(place(), fmt::format("found {}, expected {}", found, expected));
}

void for_each_json_value(json_text& text, std::string_view expected,
                         std::function<void(json_view)> const& work) {
  std::string_view const bytes = text.bytes();
  std::string_view without_mark = bytes;
  remove_byte_order_mark(without_mark);
  std::size_t at = behind_blanks(bytes, bytes.size() - without_mark.size());
  do {
    std::size_t const end = end_of_value(bytes, at);
    source_position const begin = text.place(at);
    std::size_t const line_begin =
        std::max(at - (begin.column - 1), bytes.size() - without_mark.size());
    if (bytes.find_first_not_of(json_blanks, line_begin) < at)
      throw error(begin, "found text after a JSON value, expected a new line first");
    if (at < bytes.size() && bytes[at] != '{' && bytes[at] != '[')
      throw error(begin, fmt::format("found no JSON, expected {} that begins with {{", expected));
    parse_json(bytes.substr(line_begin, end - line_begin), text.name(), expected, begin.line);
    work({text, at});
    at = behind_blanks(bytes, end);
  } while (at < bytes.size());
}

}  // namespace rulerank::datasets
