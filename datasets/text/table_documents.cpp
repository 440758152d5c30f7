#include "core/error.hpp"
#include "datasets/delimited/documents.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/svmlight/fields.hpp"
#include "datasets/text/document_members.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns the cells of the record that begins on the current line. Tabs end cells regardless of
/// quotes; other records may have several lines.
std::vector<std::string> cells_at(document_lines& lines, char delimiter) {
  std::vector<std::string> cells;
  if (delimiter == '\t') {
    for (label_cell& one : split_cells(lines.line(), lines.number()))
      cells.push_back(std::move(one.text));
    return cells;
  }
  std::uint64_t const begin = lines.number();
  std::string text(lines.line());
  while (std::ranges::count(text, '"') % 2 == 1 && lines.next()) (text += '\n') += lines.line();
  text += '\n';
  record now;
  try {
    record_reader(delimiter).read(text, now);
  } catch (line_fault const& fault) {
    line_place const place = place_in(text, fault.offset);
    lines.fail_at(begin + place.line, place.column, fault.found_and_expected);
  }
  for (cell const& one : now.cells) cells.push_back(one.str());
  return cells;
}

}  // namespace

char header_delimiter(std::string_view line, text_options const& options) {
  for (char const delimiter : {'\t', ',', ';'}) {
    std::size_t ids = 0, texts = 0, begin = 0;
    for (std::size_t end = 0; end != line.npos; begin = end + 1) {
      end = line.find(delimiter, begin);
      std::string const name = header_title(line.substr(begin, end - begin), begin == 0, options);
      ids += is_table_id(name, options);
      texts += is_wanted_text(name, options);
    }
    if (ids > 0 && texts > 0) return delimiter;
  }
  return 0;
}

void read_table(document_lines& lines, text_options const& options) {
  char const delimiter = header_delimiter(lines.line(), options);
  std::vector<std::string> titles = cells_at(lines, delimiter);
  std::vector<std::string> const header = titles;
  titles[0] = header_title(titles[0], true, options);
  for (std::size_t c = 0; c < titles.size(); ++c)
    if (std::ranges::find(titles.begin(), titles.begin() + static_cast<std::ptrdiff_t>(c),
                          titles[c]) != titles.begin() + static_cast<std::ptrdiff_t>(c))
      lines.fail(0, fmt::format("found the column {} again, expected each column once",
                                rulerank::quoted(titles[c])));
  for (std::size_t c = 0; c < titles.size(); ++c)
    if (titles[c].empty()) titles[c] = fmt::format("column {}", c + 1);
  member_reader members(lines, options);
  while (lines.next()) {
    if (is_blank(lines.line())) continue;
    std::uint64_t const line = lines.number();
    std::vector<std::string> cells = cells_at(lines, delimiter);
    if (cells.size() != titles.size())
      lines.fail_at(line, 0,
                    fmt::format("found {}, expected {} as in the header",
                                counted(cells.size(), "cell"), titles.size()));
    if (cells == header) lines.fail_at(line, 1, "found the header again, expected a document");
    std::vector<document_member> found;
    for (std::size_t c = 0; c < cells.size(); ++c)
      found.push_back({titles[c], std::move(cells[c])});
    members.give(std::move(found), line);
  }
  members.finish();
  if (lines.given() == 0)
    throw error({lines.name(), 1, 1}, "found a header alone, expected documents below the header");
}

}  // namespace rulerank::datasets
