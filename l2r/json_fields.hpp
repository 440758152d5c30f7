#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rulerank::l2r {

/// Parses a line of JSON as datasets::parse_ordered_json does. Throws `error`, too, where objects
/// and lists are nested deeper than anything that is written here.
nlohmann::ordered_json parse_shallow_json(std::string_view text, std::string const& name,
                                          std::string_view expected, std::uint64_t line);

/// Reads the members of one JSON object. Everything that does not fit is an `error` that names the
/// file and the member; what was found is named by its type, or by its digits where it is a number.
class json_fields {
 public:
  /// `prefix` begins the names of members in messages, such as `members[2].`.
  json_fields(nlohmann::ordered_json const& json, std::string name, std::string prefix = {});

  std::uint64_t integer(std::string_view key, std::uint64_t low, std::uint64_t high) const;
  /// An integer that is an index below `size`.
  std::size_t index(std::string_view key, std::size_t size) const;
  double number(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::string const& word(std::string_view key) const;
  nlohmann::ordered_json const& list(std::string_view key) const;
  nlohmann::ordered_json const& member(std::string_view key) const;
  bool has(std::string_view key) const { return json_.contains(key); }

  std::string const& name() const { return name_; }
  std::string const& prefix() const { return prefix_; }
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const;

 private:
  nlohmann::ordered_json const& json_;
  std::string name_;
  std::string prefix_;
};

}  // namespace rulerank::l2r
