#include "core/error.hpp"
#include "core/json_text.hpp"
#include "datasets/text/document_members.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns whether a list or an object contains text at any depth.
bool has_text(nlohmann::ordered_json const& value) {
  if (value.is_string()) return !value.get_ref<std::string const&>().empty();
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_text);
}

void give_object(document_lines& lines, member_reader& members, std::string_view text,
                 std::uint64_t line) {
  lines.expect_utf8();
  auto object = parse_ordered_json(text, lines.name(), "a document", line);
  if (!object.is_object())
    lines.fail_at(line, 0,
                  fmt::format("found {}, expected an object with id and text", json_shown(object)));
  std::vector<document_member> found;
  for (auto& [name, value] : object.items()) {
    bool const is_id = members.is_id(name);
    bool const is_text = members.is_wanted_text(name);
    if (value.is_string()) {
      found.push_back({name, std::move(value.get_ref<std::string&>())});
    } else if ((is_id || name == "label") && !is_text) {
      if (name == "label" && value.is_null()) continue;
      if (!value.is_number_integer())
        lines.fail_at(line, 0,
                      fmt::format("found {} as {}, expected a string or an integer",
                                  json_shown(value), name));
      found.push_back({name, value.dump()});
    } else if (value.is_number() &&
               (is_text || (value.is_number_integer() && is_last_id_name(name)))) {
      found.push_back({name, value.dump()});
    } else if (is_text && !value.is_null()) {
      lines.fail_at(
          line, 0,
          fmt::format("found {} as {}, expected a string", json_shown(value), printable(name)));
    } else if (!is_id_name(name) && !is_last_id_name(name) && has_text(value)) {
      found.push_back({name, json_shown(value)});  // for the warning about skipped members
    }
  }
  members.give(std::move(found), line);
}

/// Reads the objects of an array from text that arrives line by line.
class array_reader {
 public:
  array_reader(document_lines& lines, text_options const& options)
      : lines_(lines), members_(lines, options) {}

  void read() {
    do {
      for (char const c : lines_.line()) take(c);
      if (depth_ > 1) element_ += '\n';
    } while (lines_.next());
    if (depth_ > 0) lines_.fail(0, "the file ends inside the array, expected ]");
    members_.finish();
  }

 private:
  void take(char c) {
    if (depth_ > 1) return take_within(c);
    if (blanks.find(c) != blanks.npos || c == '\r') return;
    if (depth_ == 0 && c == '[' && !is_over_) {
      depth_ = 1;
    } else if (depth_ == 1 && c == '{' && !behind_one_) {
      begin_ = lines_.number();
      element_ = c;
      depth_ = 2;
    } else if (depth_ == 1 && c == ',' && behind_one_) {
      behind_one_ = false;
    } else if (depth_ == 1 && c == ']') {
      depth_ = 0;
      is_over_ = true;
    } else {
      lines_.fail(0, fmt::format("found '{}' in an array of documents, expected {}", c,
                                 is_over_      ? "nothing after it"
                                 : behind_one_ ? "a comma or ]"
                                               : "an object with id and text"));
    }
  }

  void take_within(char c) {
    element_ += c;
    if (in_string_) {
      if (!std::exchange(is_escaped_, c == '\\' && !is_escaped_) && c == '"') in_string_ = false;
      return;
    }
    in_string_ = c == '"';
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && --depth_ == 1) {
      give_object(lines_, members_, element_, begin_);
      behind_one_ = true;
    }
  }

  document_lines& lines_;
  member_reader members_;
  std::string element_;      // the current object
  std::uint64_t begin_ = 0;  // its first line
  std::size_t depth_ = 0;    // 1: in the array
  bool in_string_ = false, is_escaped_ = false, behind_one_ = false, is_over_ = false;
};

}  // namespace

void read_jsonl(document_lines& lines, text_options const& options, bool of_part) {
  member_reader members(lines, options);
  do {
    std::string_view line = lines.line();
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.starts_with('{') && std::string_view("{[,").find(line.back()) != line.npos)
      lines.fail(0,
                 "found an object that does not end on its line, expected one object on each line; "
                 "jq -c . writes them so");
    if (!line.empty()) give_object(lines, members, line, lines.number());
  } while (lines.next());
  members.finish();
  if (lines.given() == 0 && !of_part)
    throw error({lines.name(), 1, 1}, "found no documents, expected at least one");
}

void read_json_array(document_lines& lines, text_options const& options) {
  array_reader(lines, options).read();
  if (lines.given() == 0)
    throw error({lines.name(), 1, 1}, "found no documents, expected at least one");
}

}  // namespace rulerank::datasets
