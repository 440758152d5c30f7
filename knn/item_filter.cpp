#include "knn/item_filter.hpp"

#include "core/error.hpp"
#include "datasets/fields.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {
namespace {

/// The item of a number, alone in its line.
std::size_t item_of(std::string_view line, source_position at, std::size_t items,
                    std::string_view item) {
  std::vector<datasets::field> fields;
  datasets::split_fields(line, fields);
  std::string_view const found = fields.at(0).text;
  std::size_t number = 0;
  auto const end = found.data() + found.size();
  auto const [last, wrong] = std::from_chars(found.data(), end, number);
  at.column = fields[0].column;
  if (wrong != std::errc() || last != end || number >= items)
    throw error(at, fmt::format("found {}, expected the number of {} below {}",
                                rulerank::quoted(found), item, items));
  at.column = fields.size() > 1 ? fields[1].column : 0;
  if (fields.size() > 1)
    throw error(
        at, fmt::format("found {}, expected one number a line", rulerank::quoted(fields[1].text)));
  return number;
}

}  // namespace

std::vector<std::uint64_t> read_filter(context const& ctx, std::string const& path,
                                       std::size_t items, std::string_view item,
                                       std::function<std::string(std::uint32_t)> const& id_of) {
  std::vector<std::uint64_t> words((items + 63) / 64);
  auto const allow = [&](std::size_t i) { words[i / 64] |= std::uint64_t{1} << (i % 64); };
  std::map<std::string, std::uint64_t, std::less<>> line_of;  // of an id that is still to be found
  std::set<std::string, std::less<>> found;
  auto const text = datasets::open_text(ctx, path);
  std::string const name = datasets::display_name(path);
  datasets::for_each_line(text->bytes(), [&](std::string_view line, std::uint64_t number) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == line.npos) return;
    if (id_of)
      line_of.emplace(line, number);
    else
      allow(item_of(line, {name, number, 0}, items, item));
  });
  datasets::expect_unchanged(*text, name);
  if (!id_of) return words;
  for (std::size_t i = 0; i < items; ++i) {
    std::string const id = id_of(static_cast<std::uint32_t>(i));
    auto const at = line_of.find(id);
    if (at == line_of.end() && !found.contains(id)) continue;
    allow(i);
    if (at != line_of.end()) found.insert(line_of.extract(at).key());
  }
  if (line_of.empty()) return words;
  auto const first = std::min_element(
      line_of.begin(), line_of.end(),
      [](auto const& one, auto const& other) { return one.second < other.second; });
  throw error({name, first->second, 1},
              fmt::format("found {}, expected the id of {}", rulerank::quoted(first->first), item));
}

}  // namespace rulerank::knn
