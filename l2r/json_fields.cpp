#include "l2r/json_fields.hpp"

#include "core/error.hpp"
#include "datasets/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace rulerank::l2r {

namespace {

constexpr std::size_t deepest = 16;

/// A number's digits, another value's type.
std::string shown(nlohmann::ordered_json const& value) {
  return value.is_number() ? value.dump() : std::string(value.type_name());
}

}  // namespace

nlohmann::ordered_json parse_shallow_json(std::string_view text, std::string const& name,
                                          std::string_view expected, std::uint64_t line) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const c = text[at];
    if (quoted) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest)
        throw error(
            {name, line, at + 1},
            fmt::format("found JSON nested deeper than {}, expected {}", deepest, expected));
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return datasets::parse_ordered_json(text, name, expected, line);
}

json_fields::json_fields(nlohmann::ordered_json const& json, std::string name, std::string prefix)
    : json_(json), name_(std::move(name)), prefix_(std::move(prefix)) {
  if (!json.is_object()) fail({}, fmt::format("found {}, expected an object", shown(json)));
}

void json_fields::fail(std::string_view key, std::string_view problem) const {
  std::string where = prefix_ + std::string(key);
  if (where.ends_with('.')) where.pop_back();
  throw error({name_, 1, 1}, fmt::format("{}: {}", where.empty() ? "JSON" : where, problem));
}

nlohmann::ordered_json const& json_fields::member(std::string_view key) const {
  auto const found = json_.find(key);
  if (found == json_.end()) fail(key, "not found");
  return *found;
}

std::uint64_t json_fields::integer(std::string_view key, std::uint64_t low,
                                   std::uint64_t high) const {
  nlohmann::ordered_json const& value = member(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low ||
      value.get<std::uint64_t>() > high)
    fail(key, fmt::format("found {}, expected an integer from {} to {}", shown(value), low, high));
  return value.get<std::uint64_t>();
}

std::size_t json_fields::index(std::string_view key, std::size_t size) const {
  if (size == 0) fail(key, "found an index, and there is nothing to choose from");
  return integer(key, 0, size - 1);
}

double json_fields::number(std::string_view key) const {
  nlohmann::ordered_json const& value = member(key);
  if (!value.is_number()) fail(key, fmt::format("found {}, expected a number", shown(value)));
  return value.get<double>();
}

bool json_fields::boolean(std::string_view key) const {
  nlohmann::ordered_json const& value = member(key);
  if (!value.is_boolean()) fail(key, fmt::format("found {}, expected true or false", shown(value)));
  return value.get<bool>();
}

std::string const& json_fields::word(std::string_view key) const {
  nlohmann::ordered_json const& value = member(key);
  if (!value.is_string()) fail(key, fmt::format("found {}, expected a word", shown(value)));
  return value.get_ref<std::string const&>();
}

nlohmann::ordered_json const& json_fields::list(std::string_view key) const {
  nlohmann::ordered_json const& value = member(key);
  if (!value.is_array()) fail(key, fmt::format("found {}, expected a list", shown(value)));
  return value;
}

}  // namespace rulerank::l2r
