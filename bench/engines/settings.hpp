#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::inline v0::bench {

/// A benchmark's arguments, each NAME=VALUE; arguments that are not given keep their defaults.
class settings {
 public:
  explicit settings(std::map<std::string, std::string> otherwise) : values_(std::move(otherwise)) {}

  /// @throws std::invalid_argument for another form, and for an unknown name.
  void read(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      std::string const argument = argv[i];
      auto const equals = argument.find('=');
      if (equals == argument.npos) throw std::invalid_argument("expected NAME=VALUE: " + argument);
      auto const at = values_.find(argument.substr(0, equals));
      if (at == values_.end()) throw std::invalid_argument("unknown setting: " + argument);
      at->second = argument.substr(equals + 1);
    }
  }

  std::string const& operator[](std::string const& name) const { return values_.at(name); }
  std::size_t number(std::string const& name, std::size_t if_empty = 0) const {
    return values_.at(name).empty() ? if_empty : std::stoul(values_.at(name));
  }
  /// Splits a value at commas; none for an empty value.
  std::vector<std::string> list(std::string const& name) const {
    std::vector<std::string> parts;
    for (std::string rest = values_.at(name); !rest.empty();) {
      auto const end = std::min(rest.find(','), rest.size());
      parts.push_back(rest.substr(0, end));
      rest.erase(0, end + 1);
    }
    return parts;
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace rulerank::bench
