#include "datasets/json_text.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank::datasets {

namespace {

/// Finds where a number begins that the reader of values refuses without saying where.
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
  try {
    return Json::parse(text);
  } catch (typename Json::parse_error const& e) {
    // The library repeats the place before it says what it found.
    std::string_view problem = e.what();
    if (auto const at = problem.find("syntax error"); at != problem.npos) problem.remove_prefix(at);
    // Among it is all that was read of a string.
    std::string_view const shown = problem.substr(0, 200);
    std::string_view const more = shown.size() < problem.size() ? "..." : "";
    throw error(position_of(e.byte == 0 ? 0 : e.byte - 1),
                text.empty()
                    ? fmt::format("an empty file, expected {} in JSON", expected)
                    : fmt::format("malformed JSON, expected {} ({}{})", expected, shown, more));
  } catch (typename Json::out_of_range const&) {
    number_finder finder;
    nlohmann::json::sax_parse(text, &finder);
    throw error(position_of(finder.offset),
                fmt::format("found {}, expected a number that a double holds", finder.number));
  }
}

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string const& name, std::string_view expected,
                          std::uint64_t first_line) {
  return parse<nlohmann::json>(text, name, expected, first_line);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, std::string const& name,
                                          std::string_view expected, std::uint64_t first_line) {
  return parse<nlohmann::ordered_json>(text, name, expected, first_line);
}

}  // namespace rulerank::datasets
