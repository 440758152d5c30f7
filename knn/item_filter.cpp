#include "knn/item_filter.hpp"

#include "core/error.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/file_lines.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {
namespace {

/// Parses the number of an item, which must be alone in its line.
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
    throw error(at, fmt::format("found {}, expected one number on each line",
                                rulerank::quoted(fields[1].text)));
  return number;
}

/// The result of matching a filter with the items of one process.
struct found_items {
  std::vector<std::uint64_t> words;    // one bit per item
  std::vector<std::uint64_t> missing;  // the lines of ids without an item here, ascending
  static auto members_of(auto& found) { return std::tie(found.words, found.missing); }
};

/// Joins the items that any process found, and the lines that none found.
found_items of_all(std::vector<found_items> const& some) {
  found_items all = some.front();
  for (found_items const& one : some) {
    for (std::size_t w = 0; w < all.words.size(); ++w) all.words[w] |= one.words[w];
    std::erase_if(all.missing, [&](std::uint64_t line) {
      return !std::ranges::binary_search(one.missing, line);
    });
  }
  return all;
}

}  // namespace

std::vector<std::uint64_t> read_filter(context const& ctx, std::string const& path,
                                       item_collection const& items, std::string_view item,
                                       bool by_numbers) {
  found_items mine;
  mine.words.resize((items.size() + 63) / 64);
  auto const allow = [&](std::size_t i) { mine.words[i / 64] |= std::uint64_t{1} << (i % 64); };
  std::map<std::string, std::uint64_t, std::less<>> line_of;  // ids that are not found yet
  std::set<std::string, std::less<>> found;
  each_line(ctx, path, [&](std::string_view line, source_position const& at) {
    if (line.find_first_not_of(" \t") == line.npos) return;
    if (by_numbers)
      allow(item_of(line, at, items.size(), item));
    else
      line_of.emplace(line, at.line);
  });
  if (by_numbers) return std::move(mine.words);
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto const id = items.id_of(static_cast<std::uint32_t>(i));
    if (!id) continue;  // another process has it
    auto const at = line_of.find(*id);
    if (at == line_of.end() && !found.contains(*id)) continue;
    allow(i);
    if (at != line_of.end()) found.insert(line_of.extract(at).key());
  }
  for (auto const& [id, line] : line_of) mine.missing.push_back(line);
  std::ranges::sort(mine.missing);
  if (items.has_ids_in_parts()) mine = of_all(gather_values(*ctx.processes, mine));
  if (mine.missing.empty()) return std::move(mine.words);
  auto const first =
      std::ranges::find(line_of, mine.missing.front(), [](auto const& of) { return of.second; });
  throw error({datasets::display_name(path), first->second, 1},
              fmt::format("found {}, expected the id of {}", rulerank::quoted(first->first), item));
}

}  // namespace rulerank::knn
