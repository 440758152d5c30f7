#include "knn/dense/row_files.hpp"

#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/trec.hpp"
#include "knn/file_lines.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

datasets::vectors searchable(context const& ctx, datasets::vectors const& some) {
  using enum datasets::element;
  if (some.type() == float64)
    return datasets::converted(ctx, some, float32, datasets::rounding::nearest);
  if (some.type() == int32) return datasets::converted(ctx, some, float32);
  return some;
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
    if (line.front() == ' ' || line.back() == ' ' || line.front() == '"')
      throw error(at,
                  fmt::format("found the id {}, expected one without quotes and blanks at its ends",
                              rulerank::quoted(line)));
    if (datasets::is_missing_word(line)) throw error(at, datasets::missing_id_fault("id", line));
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
      throw error(
          {datasets::display_name(path), row + 1, 1},
          fmt::format(
              "found the id {}, expected a whole number of 64 bits, because an index keeps such "
              "ids alone; for other ids, make the index without --ids and search it with --ids",
              rulerank::quoted(id)));
  }
  return numbers;
}

std::vector<std::string> read_labels(context const& ctx, std::string const& path,
                                     std::size_t expected, std::string_view what) {
  if (path.empty()) return {};
  auto const labels = datasets::read_classes(ctx, path);
  if (labels.size() != expected)
    throw error({path, 0, 0}, fmt::format("found {}, expected one for each of {} {}",
                                          counted(labels.size(), "label"), expected, what));
  std::vector<std::string> words;
  for (std::int32_t const label : labels) words.push_back(std::to_string(label));
  return words;
}

}  // namespace rulerank::knn
