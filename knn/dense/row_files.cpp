#include "knn/dense/row_files.hpp"

#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "datasets/fields.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Calls `use(line, place)` for each line of a file, without its line end.
template <class Use>
void each_line(context const& ctx, std::string const& path, Use const& use) {
  auto const text = datasets::open_text(ctx, path);
  std::string const name = datasets::display_name(path);
  datasets::for_each_line(text->bytes(), [&](std::string_view line, std::uint64_t number) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line, source_position{name, number, 0});
  });
  datasets::expect_unchanged(*text, name);
}

datasets::vectors searchable(context const& ctx, datasets::vectors const& some) {
  using enum datasets::element;
  if (some.type() == float64)
    return datasets::converted(ctx, some, float32, datasets::rounding::nearest);
  if (some.type() == int32) return datasets::converted(ctx, some, float32);
  return some;
}

/// The row of a number, alone in its line.
std::size_t row_of(std::string_view line, source_position at, std::size_t rows) {
  std::vector<datasets::field> fields;
  datasets::split_fields(line, fields);
  std::string_view const found = fields.at(0).text;
  std::size_t row = 0;
  auto const end = found.data() + found.size();
  auto const [last, wrong] = std::from_chars(found.data(), end, row);
  at.column = fields[0].column;
  if (wrong != std::errc() || last != end || row >= rows)
    throw error(at, fmt::format("found {}, expected the number of a row below {}",
                                rulerank::quoted(found), rows));
  at.column = fields.size() > 1 ? fields[1].column : 0;
  if (fields.size() > 1)
    throw error(
        at, fmt::format("found {}, expected one number a line", rulerank::quoted(fields[1].text)));
  return row;
}

}  // namespace

datasets::vectors read_search_vectors(context const& ctx, std::string const& path,
                                      datasets::vectors_format format) {
  return searchable(ctx, datasets::read_vectors(ctx, path, {.format = format}));
}

datasets::vectors_part read_search_rows(context const& ctx, std::string const& path,
                                        std::size_t part, std::size_t parts,
                                        datasets::vectors_format format) {
  auto read = datasets::read_vectors_part(
      ctx, path, [&](std::size_t rows) { return rulerank::even_range(rows, parts, part); },
      {.format = format});
  read.rows = searchable(ctx, read.rows);
  return read;
}

row_ids::row_ids(context const& ctx, std::string const& path, std::size_t expected,
                 std::string_view what) {
  if (path.empty()) return;
  each_line(ctx, path, [&](std::string_view line, source_position const& at) {
    if (line.empty()) throw error(at, "found an empty line, expected an id");
    bytes_ += line;
    begin_.push_back(bytes_.size());
  });
  std::size_t const found = begin_.size() - 1;
  if (found != expected)
    throw error({datasets::display_name(path), std::min(found, expected) + 1, 0},
                fmt::format("found {}, expected one for each of {} {}", counted(found, "id"),
                            expected, what));
}

std::vector<std::int64_t> row_ids::numbers(std::string const& path) const {
  std::vector<std::int64_t> numbers(begin_.size() - 1);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    std::string_view const id = at(row);
    auto const [last, wrong] = std::from_chars(id.data(), id.data() + id.size(), numbers[row]);
    if (wrong != std::errc() || last != id.data() + id.size() || std::to_string(numbers[row]) != id)
      throw error({datasets::display_name(path), row + 1, 1},
                  fmt::format("found the id {}, expected a whole number of 64 bits, as an index "
                              "keeps it; an index of rows with other ids is made without --ids "
                              "and searched with them",
                              rulerank::quoted(id)));
  }
  return numbers;
}

std::vector<std::uint64_t> read_filter(context const& ctx, std::string const& path,
                                       std::size_t rows,
                                       std::function<std::string(std::uint32_t)> const& id_of) {
  if (path.empty()) return {};
  std::vector<std::uint64_t> words((rows + 63) / 64);
  auto const allow = [&](std::size_t row) { words[row / 64] |= std::uint64_t{1} << (row % 64); };
  std::map<std::string, std::uint64_t, std::less<>> line_of;  // of an id that is still to be found
  std::set<std::string, std::less<>> found;
  each_line(ctx, path, [&](std::string_view line, source_position const& at) {
    if (line.find_first_not_of(" \t") == line.npos) return;
    if (id_of)
      line_of.emplace(line, at.line);
    else
      allow(row_of(line, at, rows));
  });
  if (!id_of) return words;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string const id = id_of(static_cast<std::uint32_t>(row));
    auto const at = line_of.find(id);
    if (at == line_of.end() && !found.contains(id)) continue;
    allow(row);
    if (at != line_of.end()) found.insert(line_of.extract(at).key());
  }
  if (line_of.empty()) return words;
  auto const first = std::min_element(
      line_of.begin(), line_of.end(),
      [](auto const& one, auto const& other) { return one.second < other.second; });
  throw error({datasets::display_name(path), first->second, 1},
              fmt::format("found {}, expected the id of a row", rulerank::quoted(first->first)));
}

std::vector<std::int32_t> read_labels(context const& ctx, std::string const& path,
                                      std::size_t expected, std::string_view what) {
  if (path.empty()) return {};
  auto labels = datasets::read_classes(ctx, path);
  if (labels.size() != expected)
    throw error({path, 0, 0}, fmt::format("found {}, expected one for each of {} {}",
                                          counted(labels.size(), "label"), expected, what));
  return labels;
}

}  // namespace rulerank::knn
