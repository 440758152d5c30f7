#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "rules/mining/association_rules.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace rulerank::inline v0::rules {
namespace {

constexpr std::string_view blanks = " \t\r";

std::optional<appearance> appearance_from(std::string_view word) {
  struct meaning {
    appearance which;
    std::string_view words;
  };
  constexpr meaning meanings[] = {
      {appearance::antecedent, " antecedent a ante body b in i "},
      {appearance::consequent, " consequent c cons head h out o "},
      {appearance::both, " both ac bh inout io x "},
      {appearance::neither, " neither none neutral n - "},
  };
  for (meaning const& m : meanings)
    if (m.words.find(fmt::format(" {} ", word)) != std::string_view::npos) return m.which;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  std::size_t const begin = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace

std::vector<appearance> read_appearances(context const& ctx, std::string const& path,
                                         std::span<std::string const> names) {
  std::unordered_map<std::string_view, std::size_t> id_of;
  for (std::size_t x = 0; x < names.size(); ++x) id_of.emplace(names[x], x);
  std::string const name = datasets::display_name(path);
  datasets::line_stream lines(datasets::text_stream::open(ctx, path));
  std::vector<appearance> where;
  bool first = true;
  std::vector<std::uint64_t> line_of(names.size());
  while (lines.next()) {
    std::string_view const line = trimmed(lines.line());
    if (line.empty()) continue;
    auto const offset = static_cast<std::uint64_t>(line.data() - lines.line().data());
    auto const fail = [&](std::size_t at, std::string const& message) {
      throw error({name, lines.number(), offset + at + 1}, message);
    };
    std::size_t const blank = line.find_last_of(blanks);
    std::size_t const at = blank == line.npos ? 0 : blank + 1;
    auto const which = appearance_from(line.substr(at));
    if (!which)
      fail(at, fmt::format("found {}, expected antecedent, consequent, both or neither",
                           rulerank::quoted(line.substr(at))));
    std::string_view const item_name = trimmed(line.substr(0, at));
    if (first) {
      if (!item_name.empty())
        fail(0, fmt::format("found item {}, expected first a line for all other items: antecedent, "
                            "consequent, both or neither",
                            rulerank::quoted(item_name)));
      first = false;
      where.assign(names.size(), *which);
      continue;
    }
    auto const id = id_of.find(item_name);
    if (id == id_of.end())
      fail(0, fmt::format("found {}, expected an item of the transactions and antecedent, "
                          "consequent, both or neither",
                          rulerank::quoted(item_name)));
    if (line_of[id->second] != 0)
      fail(0, fmt::format("found item {} again (first on line {}), expected each item once",
                          rulerank::quoted(item_name), line_of[id->second]));
    line_of[id->second] = lines.number();
    where[id->second] = *which;
  }
  if (first)
    throw error(
        {name, 1, 1},
        "found an empty file, expected a line with antecedent, consequent, both or neither");
  return where;
}

}  // namespace rulerank::rules
