#include "report/paper_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace rulerank::inline v0::report {

namespace {

using style = eval::column::style;

/// Capitals and non-ASCII characters are wider than digits; other letters average a digit's width.
double width_of(std::string_view text) {
  double width = 0;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    bool const goes_on = (byte & 0xC0U) == 0x80;
    if (!goes_on) width += (c >= 'A' && c <= 'Z') || c == '@' || byte >= 0x80 ? 1.5 : 1;
  }
  return width;
}

double longest_word(std::string_view text) {
  double longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find(' ', begin), text.size());
    longest = std::max(longest, width_of(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return longest;
}

double column_width(eval::table const& of, std::size_t i, paper_line const& line) {
  eval::column const& column = of.columns[i];
  bool const broken = line.most_names > 0;
  double width = 0;
  for (auto const& row : of.rows) width = std::max(width, width_of(eval::shown(row[i], column)));
  if (broken && column.shown == style::text)
    width = std::clamp(width, line.least_names, line.most_names);
  return line.between + std::max(width, broken ? longest_word(column.name) : width_of(column.name));
}

/// The name columns and the columns from `begin` to `end`.
eval::table part_of(eval::table const& of, std::size_t names, std::size_t begin, std::size_t end) {
  auto const taken = [&](auto const& from) {
    auto const at = [&](std::size_t i) { return from.begin() + static_cast<std::ptrdiff_t>(i); };
    auto some = std::remove_cvref_t<decltype(from)>(at(0), at(names));
    some.insert(some.end(), at(begin), at(end));
    return some;
  };
  eval::table part{.title = begin == names ? of.title : std::string(),
                   .columns = taken(of.columns)};
  for (auto const& row : of.rows) part.rows.push_back(taken(row));
  return part;
}

}  // namespace

std::vector<eval::table> parts_on_paper(eval::table const& of, paper_line const& line) {
  auto const is = [](style one) { return [=](eval::column const& c) { return c.shown == one; }; };
  auto const first_number = std::ranges::find_if(of.columns, is(style::fixed));
  auto const names = static_cast<std::size_t>(first_number - of.columns.begin());
  if (names == 0 || std::any_of(first_number, of.columns.end(), is(style::text))) return {of};
  double room = line.room;
  for (std::size_t i = 0; i < names; ++i) room -= column_width(of, i, line);
  if (room <= 0) return {of};
  std::vector<eval::table> parts;
  std::size_t begin = names;
  double taken = 0;
  for (std::size_t i = names; i < of.columns.size(); ++i) {
    double const width = column_width(of, i, line);
    if (i > begin && taken + width > room) {
      parts.push_back(part_of(of, names, begin, i));
      begin = i;
      taken = 0;
    }
    taken += width;
  }
  if (parts.empty()) return {of};
  parts.push_back(part_of(of, names, begin, of.columns.size()));
  return parts;
}

}  // namespace rulerank::report
