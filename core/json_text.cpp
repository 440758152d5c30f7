#include "core/json_text.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0 {

namespace {

/// Finds the number that the parser rejects without a position.
class number_finder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::size_t offset = 0;
  std::string number;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, string_t const&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t read, std::string const& token,
                   nlohmann::json::exception const&) override {
    number = token;
    offset = read - std::min(read, token.size());
    return false;
  }
};

/// The JSON library recurses once per level; no file of ours needs many levels.
constexpr std::size_t deepest = 500;

/// Returns where a text exceeds that depth, or npos.
std::size_t too_deep(std::string_view text) {
  auto const begins = [](char c) { return c == '[' || c == '{'; };
  if (static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins)) <= deepest)
    return text.npos;
  std::size_t depth = 0;
  bool inside = false;  // inside a string
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const c = text[at];
    if (inside) {
      at += c == '\\' ? 1 : 0;
      inside = c != '"';
    } else if (begins(c)) {
      if (++depth > deepest) return at;
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1 : 0;
    } else {
      inside = c == '"';
    }
  }
  return text.npos;
}

template <class Json>
Json parse(std::string_view text, std::string const& name, std::string_view expected,
           std::uint64_t first_line) {
  auto const position_of = [&](std::size_t offset) {
    std::string_view const before = text.substr(0, offset);
    std::size_t const line_begin = before.rfind('\n') + 1;  // 0 on the first line
    return source_position{
        name,
        first_line + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')),
        before.size() - line_begin + 1};
  };
  // The library takes a zero byte for the end of the text.
  if (auto const zero = text.find('\0'); zero != text.npos)
    throw error(position_of(zero), fmt::format("found a zero byte, expected {} in JSON", expected));
  if (auto const deep = too_deep(text); deep != text.npos)
    throw error(
        position_of(deep),
        fmt::format("found JSON of more than {} nested levels, expected {}", deepest, expected));
  try {
    return Json::parse(text);
  } catch (typename Json::parse_error const& e) {
    // The library's message repeats the position before the problem.
    std::string_view problem = e.what();
    if (auto const at = problem.find("syntax error"); at != problem.npos) problem.remove_prefix(at);
    // The problem may contain a whole string of the input.
    std::string_view const shown = problem.substr(0, 200);
    std::string_view const more = shown.size() < problem.size() ? "..." : "";
    throw error(position_of(e.byte == 0 ? 0 : e.byte - 1),
                text.empty() ? fmt::format("found an empty file, expected {} in JSON", expected)
                             : fmt::format("found malformed JSON, expected {} ({}{})", expected,
                                           shown, more));
  } catch (typename Json::out_of_range const&) {
    number_finder finder;
    nlohmann::json::sax_parse(text, &finder);
    throw error(position_of(finder.offset),
                fmt::format("found {}, expected a number that a double holds", finder.number));
  }
}

template <class Json>
std::string lines_of(Json const& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class Json>
std::string line_of_any(Json const& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Json>
std::string shown_value(Json const& value) {
  return value.is_number() ? value.dump() : std::string(value.type_name());
}

/// Counts the members of the object of a valid text, with duplicates. A parser that reports each
/// member takes a fifth longer.
std::size_t members_of(std::string_view text) {
  std::size_t members = 0, depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) switch (text[at]) {
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        --depth;
        break;
      case ':':
        members += depth == 1 ? 1 : 0;
        break;
      // Skips to the end of the string: the next quote after an even number of backslashes.
      case '"':
        for (bool inside = true; inside;) {
          at = text.find('"', at + 1);
          std::size_t const plain = text.find_last_not_of('\\', at - 1);
          inside = (at - 1 - plain) % 2 == 1;
        }
        break;
      default:
        break;
    }
  return members;
}

/// Returns the first duplicate member of the object of a valid text.
std::string member_again(std::string_view text) {
  std::set<std::string> members;
  std::string again;
  using json = nlohmann::json;
  auto const look = [&](int depth, json::parse_event_t event, json const& key) {
    if (depth == 1 && event == json::parse_event_t::key && again.empty())
      if (auto const& name = key.get_ref<std::string const&>(); !members.insert(name).second)
        again = name;
    return true;
  };
  [[maybe_unused]] json const whole = json::parse(text, look);
  return again;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string const& name, std::string_view expected,
                          std::uint64_t first_line) {
  return parse<nlohmann::json>(text, name, expected, first_line);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, std::string const& name,
                                          std::string_view expected, std::uint64_t first_line) {
  auto value = parse<nlohmann::ordered_json>(text, name, expected, first_line);
  if (value.is_object() && members_of(text) > value.size())
    throw error({name, first_line, 0},
                fmt::format("found the member {} again, expected each member once",
                            rulerank::quoted(member_again(text))));
  return value;
}

std::string json_line_of(nlohmann::json const& value) {
  return line_of_any(value);
}
std::string json_line_of(nlohmann::ordered_json const& value) {
  return line_of_any(value);
}

std::string json_text_of(nlohmann::json const& value) {
  return lines_of(value);
}
std::string json_text_of(nlohmann::ordered_json const& value) {
  return lines_of(value);
}

std::string json_shown(nlohmann::json const& value) {
  return shown_value(value);
}
std::string json_shown(nlohmann::ordered_json const& value) {
  return shown_value(value);
}

}  // namespace rulerank
