#include "datasets/lines.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace rulerank::inline v0::datasets {

void remove_byte_order_mark(std::string_view& text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
}

std::vector<std::size_t> cut_at_lines(std::string_view text, std::size_t bytes) {
  std::vector<std::size_t> cuts{0};
  for (std::size_t at = bytes; at < text.size(); at += bytes) {
    std::size_t const feed = text.find('\n', std::max(at, cuts.back()) - 1);
    if (feed == text.npos) break;
    cuts.push_back(feed + 1);
  }
  if (cuts.back() != text.size()) cuts.push_back(text.size());
  return cuts;
}

// In blocks that byte-wide counters hold, which compilers turn into vector code.
byte_counts count_bytes(std::string_view text, char mark) {
  constexpr std::size_t width = 64;
  constexpr std::size_t rounds = 255;
  byte_counts counts;
  while (text.size() >= width) {
    std::size_t const n = std::min(text.size() / width, rounds);
    std::uint8_t feeds[width] = {};
    std::uint8_t marks[width] = {};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t at = 0; at < width; ++at) {
        char const c = text[i * width + at];
        feeds[at] = static_cast<std::uint8_t>(feeds[at] + (c == '\n'));
        marks[at] = static_cast<std::uint8_t>(marks[at] + (c == mark));
      }
    }
    counts.feeds += std::accumulate(feeds, feeds + width, std::size_t{0});
    counts.marks += std::accumulate(marks, marks + width, std::size_t{0});
    text.remove_prefix(n * width);
  }
  counts.feeds += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  counts.marks += static_cast<std::size_t>(std::count(text.begin(), text.end(), mark));
  return counts;
}

}  // namespace rulerank::datasets
