#include "datasets/transactions.hpp"

#include "core/error.hpp"
#include "datasets/svmlight_line.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace rulerank::datasets {
namespace {

constexpr std::size_t lines_a_report = 1 << 16;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// Reads the integers of a line behind `out`.
void read_integers(char const* const begin, char const* const end, source_position const& line,
                   std::vector<std::uint32_t>& out) {
  for (char const* at = begin; at != end;) {
    if (is_blank(*at)) {
      ++at;
      continue;
    }
    char const* const word = at;
    std::uint64_t value = 0;
    while (at != end && *at >= '0' && *at <= '9' &&
           value <= std::numeric_limits<std::uint32_t>::max())
      value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
    if (at == word || (at != end && !is_blank(*at)) ||
        value > std::numeric_limits<std::uint32_t>::max()) {
      std::string_view const rest(
          word, static_cast<std::size_t>(std::find_if(word, end, is_blank) - word));
      throw error(
          {line.file, line.line, static_cast<std::uint64_t>(word - begin) + 1},
          fmt::format("found {}, expected an item, an integer from 0 to 4294967295", quoted(rest)));
    }
    out.push_back(static_cast<std::uint32_t>(value));
  }
}

/// Sorts what stands behind `begin` and drops what stands twice.
void make_set(std::vector<std::uint32_t>& items, std::size_t begin) {
  auto const first = items.begin() + static_cast<std::ptrdiff_t>(begin);
  if (std::adjacent_find(first, items.end(), std::greater_equal<>()) == items.end()) return;
  std::sort(first, items.end());
  items.erase(std::unique(first, items.end()), items.end());
}

/// Items become their ranks among the distinct ones; what these are is returned.
std::vector<std::uint32_t> rank(std::vector<std::uint32_t>& items) {
  std::uint32_t const largest = items.empty() ? 0 : *std::max_element(items.begin(), items.end());
  std::vector<std::uint32_t> distinct;
  if (largest / 4 <= items.size()) {
    std::vector<std::uint32_t> rank_of(std::size_t{largest} + 1);
    for (std::uint32_t const x : items) rank_of[x] = 1;
    for (std::size_t x = 0; x < rank_of.size(); ++x) {
      if (rank_of[x] == 0) continue;
      rank_of[x] = static_cast<std::uint32_t>(distinct.size());
      distinct.push_back(static_cast<std::uint32_t>(x));
    }
    if (!items.empty())
      for (std::uint32_t& x : items) x = rank_of[x];
    else
      distinct.clear();
    return distinct;
  }
  distinct = items;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (std::uint32_t& x : items)
    x = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), x) -
                                   distinct.begin());
  return distinct;
}

}  // namespace

transactions read_fimi(context const& ctx, std::string const& path) {
  auto const text = open_text(ctx, path);
  std::string_view const bytes = text->bytes();
  transactions read;
  read.name = display_name(path);
  source_position line{read.name, 0, 0};
  for (std::size_t begin = bytes.starts_with("\xef\xbb\xbf") ? 3 : 0; begin < bytes.size();) {
    std::size_t const end = std::min(bytes.find('\n', begin), bytes.size());
    if (++line.line % lines_a_report == 0) ctx.report("read", begin, bytes.size());
    read_integers(bytes.data() + begin, bytes.data() + end, line, read.items);
    make_set(read.items, read.row.back());
    read.row.push_back(read.items.size());
    begin = end + 1;
  }
  if (read.size() == 0) throw error({read.name, 1, 1}, "no transactions, expected one a line");
  for (std::uint32_t const x : rank(read.items)) read.names.push_back(std::to_string(x));
  return read;
}

}  // namespace rulerank::datasets
