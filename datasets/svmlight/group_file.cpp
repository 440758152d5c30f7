#include "datasets/svmlight/group_file.hpp"

#include "core/error.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

std::vector<group_size> read_group_file(context const& ctx, std::string const& path) {
  auto const source = open_text(ctx, path);
  std::string_view text = source->bytes();
  remove_byte_order_mark(text);
  std::vector<group_size> sizes;
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const feed = std::min(text.find('\n', at), text.size());
    std::string_view const line = text.substr(at, feed - at);
    at = feed + 1;
    ++number;
    std::size_t const first = line.find_first_not_of(" \t\r");
    if (first == line.npos) continue;
    std::string_view const word = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    std::size_t documents = 0;
    auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), documents);
    if (status != std::errc() || end != word.data() + word.size() || documents == 0)
      throw error({display_name(path), number, first + 1},
                  fmt::format("found group size {}, expected an integer of 1 or more",
                              rulerank::quoted(word)));
    sizes.push_back({documents, number});
  }
  return sizes;
}

}  // namespace rulerank::datasets
