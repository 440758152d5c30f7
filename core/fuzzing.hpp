#pragma once
// What the fuzz targets share.

#include "core/output_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace rulerank::fuzzing {

/// Ends the target where something that must hold does not.
inline void require(bool good, char const* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// With --seeds=DIR, writes the strings of `seeds()` to DIR/0, DIR/1, ..., and ends the target.
template <class Seeds>
void write_seeds_where_asked(int argc, char** argv, Seeds const& seeds) {
  constexpr std::string_view option = "--seeds=";
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (!argument.starts_with(option)) continue;
    int number = 0;
    for (std::string const& seed : seeds())
      write_file(argument.substr(option.size()) + "/" + std::to_string(number++), seed);
    std::exit(0);
  }
}

}  // namespace rulerank::fuzzing
