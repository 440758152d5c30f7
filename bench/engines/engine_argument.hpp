#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace rulerank::inline v0 {

/// The notation of engines in benchmarks: NAME[@GPUS][/GIB][:DOCUMENTS].
struct engine_argument {
  std::string name;
  std::vector<int> devices;   ///< the first GPUs; empty: the CPU
  std::size_t gib = 4;        ///< memory of its cache
  std::size_t documents = 0;  ///< 0: all; otherwise this many, evenly spaced

  explicit engine_argument(std::string const& text) {
    auto const end = [&](char mark) { return std::min(text.find(mark), text.size()); };
    name = text.substr(0, std::min({end('@'), end('/'), end(':')}));
    auto const number = [&](char mark, std::size_t otherwise) {
      return end(mark) < text.size() ? std::stoul(text.substr(end(mark) + 1)) : otherwise;
    };
    devices.resize(number('@', 0));
    std::iota(devices.begin(), devices.end(), 0);
    gib = number('/', gib);
    documents = number(':', documents);
  }
};

}  // namespace rulerank
