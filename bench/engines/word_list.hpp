#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace rulerank::inline v0 {

/// Splits an argument at commas, or `all` if the argument is - or missing.
inline std::vector<std::string> word_list(int argc, char** argv, int at, std::string const& all) {
  std::string text = argc > at && std::strcmp(argv[at], "-") != 0 ? argv[at] : all;
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t const end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace rulerank
