#include "datasets/input/lines.hpp"

#include <algorithm>

namespace rulerank::inline v0::datasets {

void remove_byte_order_mark(std::string_view& text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
}

std::size_t inner_return(std::string_view line) {
  return line.substr(0, line.find_last_not_of('\r') + 1).find('\r');
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

}  // namespace rulerank::datasets
