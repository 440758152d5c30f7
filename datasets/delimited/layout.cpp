#include "datasets/delimited/layout.hpp"

#include "core/error.hpp"
#include "datasets/delimited/documents.hpp"
#include "datasets/delimited/read.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/fields.hpp"
#include "datasets/label_cells.hpp"
#include "datasets/svmlight/faults.hpp"
#include "datasets/svmlight/values.hpp"
#include "datasets/text/text_sums.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::string_view label_title = "label";
constexpr std::string_view qid_title = "qid";
constexpr std::string_view docid_title = "docid";

bool ends_with_type(std::string_view name, std::string_view type) {
  for (std::string_view const packed : {".gz", ".zst"})
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  return name.ends_with(type);
}

/// Also in another case, which `read_layout` names.
bool has_known_column(std::string_view line, char delimiter) {
  record head;
  try {
    record_reader(delimiter).read(line, head);
  } catch (line_fault const&) {
    return false;
  }
  return std::ranges::any_of(head.cells, [](cell const& c) {
    return same_word(c.text, label_title) || same_word(c.text, qid_title);
  });
}

/// Throws what is wrong with a column.
[[noreturn]] void fail(std::string const& name, record const& head, std::size_t column,
                       std::string const& found_and_expected) {
  auto const [line, at] = place_in(head.text, head.cells[column].offset);
  throw error({name, head.lines_before + line + 1, at}, found_and_expected);
}

std::string_view words_for(char delimiter) {
  return delimiter == '\t' ? "a tab" : delimiter == ',' ? "','" : "';'";
}

/// Throws where a header that is one cell is several between other delimiters.
void expect_delimiter(std::string const& name, record const& head, char delimiter) {
  if (head.cells.size() != 1) return;
  for (char const other : {';', ',', '\t'}) {
    std::size_t const at = head.text.find(other);
    if (other == delimiter || at == head.text.npos || !has_known_column(head.text, other)) continue;
    auto const [line, column] = place_in(head.text, at);
    throw error({name, head.lines_before + line + 1, column},
                fmt::format("found {} between columns, expected {}", words_for(other),
                            words_for(delimiter)));
  }
}

/// Throws where the case of letters alone keeps a column from being what its title says.
void expect_titles(std::string const& name, record const& head,
                   std::vector<std::string> const& titles) {
  for (std::string_view const title : {label_title, qid_title, docid_title}) {
    if (std::ranges::find(titles, title) != titles.end()) continue;
    auto const meant = std::ranges::find_if(
        titles, [&](std::string const& found) { return same_word(found, title); });
    if (meant != titles.end())
      fail(name, head, static_cast<std::size_t>(meant - titles.begin()),
           fmt::format("found column {}, expected {}", rulerank::quoted(*meant), title));
  }
}

/// Gives each column that is a feature its number.
void number_features(delimited_layout& layout, record const& head, std::string const& name,
                     line_rules const& rules) {
  std::map<std::string_view, std::size_t> by_name;
  std::map<std::uint32_t, std::size_t> by_number;
  feature_form form = feature_form::unknown;
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    column_role& role = layout.columns[c];
    if (role.what != column_role::kind::feature) continue;
    std::string_view const title = layout.titles[c];
    feature_form const its = is_feature_number(title) ? feature_form::numbers : feature_form::names;
    if (form == feature_form::unknown) form = its;
    if (form != its) fail(name, head, c, other_form(its));
    if (form == feature_form::names) {
      by_name[title] = c;
      continue;
    }
    if (std::string const fault = read_feature_number(title, rules, role.feature); !fault.empty())
      fail(name, head, c, fault);
    if (!by_number.emplace(role.feature, c).second)
      fail(name, head, c,
           fmt::format("feature {} is listed twice, expected each feature once", role.feature));
  }
  for (auto const& [title, c] : by_name) {
    auto const number = static_cast<std::uint32_t>(by_number.size() + 1);
    layout.columns[c].feature = number;
    layout.names.emplace(number, title);
    by_number.emplace(number, c);
  }
  for (auto const& [number, c] : by_number) layout.columns[c].rank = layout.features++;
}

/// Reads the header that begins a text, behind `lines_before` others of the file.
record read_head(std::string_view text, char delimiter, std::string const& name,
                 std::size_t lines_before) {
  record head;
  head.lines_before = lines_before;
  if (text.empty()) throw error({name, lines_before + 1, 1}, no_records);
  try {
    record_reader(delimiter).read(text, head);
  } catch (line_fault const& fault) {
    auto const [line, column] = place_in(text, fault.offset);
    throw error({name, lines_before + line + 1, column}, fault.found_and_expected);
  }
  return head;
}

}  // namespace

separator_line separator_of(std::string_view text) {
  constexpr std::string_view key = "sep=";
  if (!text.starts_with(key) || text.size() <= key.size()) return {};
  char const delimiter = text[key.size()];
  if (delimiter != ',' && delimiter != ';' && delimiter != '\t') return {};
  std::string_view const rest = text.substr(key.size() + 1);
  std::size_t const end = rest.starts_with("\r\n") ? 2 : rest.starts_with('\n') ? 1 : 0;
  if (end == 0 && !rest.empty() && rest != "\r") return {};
  return {delimiter, key.size() + 1 + std::max(end, rest == "\r" ? std::size_t{1} : 0)};
}

char delimiter_of(std::string_view name, std::string_view first_line) {
  if (separator_line const told = separator_of(first_line); told.size > 0) return told.delimiter;
  if (ends_with_type(name, ".tsv")) return '\t';
  if (ends_with_type(name, ".csv"))
    return !has_known_column(first_line, ',') && has_known_column(first_line, ';') ? ';' : ',';
  if (first_line.empty() ||
      std::string_view("0123456789+-. \t#").find(first_line[0]) != std::string_view::npos)
    return 0;
  for (char const delimiter : {'\t', ',', ';'})
    if (has_known_column(first_line, delimiter)) return delimiter;
  return 0;
}

delimited_layout read_layout(std::string_view text, char delimiter, std::string const& name,
                             read_options const& options, std::span<std::string const> columns) {
  std::size_t const told = separator_of(text).size;
  record const head = read_head(text.substr(told), delimiter, name, told > 0 ? 1 : 0);
  delimited_layout layout;
  layout.delimiter = delimiter;
  layout.header = head.text;
  layout.size = told + head.size;
  layout.feeds = head.lines_before + head.feeds;
  expect_delimiter(name, head, delimiter);
  bool has_label = false;
  std::map<std::string, std::size_t> seen;
  for (std::size_t c = 0; c < head.cells.size(); ++c) {
    std::string const cell = head.cells[c].str();
    std::string const title(unguarded_formula(cell));
    bool const is_id = title == qid_title || title == docid_title;
    if (!columns.empty() && !is_id && std::ranges::find(columns, title) == columns.end()) {
      layout.columns.push_back({column_role::kind::passed_over, 0, 0});
      layout.titles.push_back(title);
      continue;
    }
    if (title.empty()) fail(name, head, c, "a column without a name, expected one in the header");
    if (has_control_characters(title))
      fail(
          name, head, c,
          fmt::format(
              "column {} has a control character or a mark of direction in its name, expected text",
              rulerank::quoted(title)));
    if (!seen.emplace(title, c).second)
      fail(name, head, c,
           fmt::format("column {} occurs twice, expected each column once",
                       rulerank::quoted(title)));
    using enum column_role::kind;
    auto const what = title == label_title     ? label
                      : title == qid_title     ? qid
                      : title == docid_title   ? docid
                      : title == text_sums_key ? text_sums
                                               : feature;
    has_label = has_label || what == label;
    layout.has_qid = layout.has_qid || what == qid;
    layout.columns.push_back({what, 0, 0});
    layout.titles.push_back(title);
  }
  for (std::string const& title : columns)
    if (!seen.contains(title))
      throw error(
          {name, head.lines_before + 1, 1},
          fmt::format("found no column {}, expected it in the header", rulerank::quoted(title)));
  expect_titles(name, head, layout.titles);
  if (!has_label && !options.optional_labels && !options.unlabelled)
    throw error({name, head.lines_before + 1, 1},
                "no column label found, expected one" +
                    unlabelled_hint(rules_of(options), "if no label is known"));
  number_features(layout, head, name, rules_of(options));
  return layout;
}

std::optional<std::size_t> label_column(std::string_view header, char delimiter) {
  record head;
  record_reader(delimiter).read(header, head);
  auto const found = std::ranges::find(head.cells, label_title, &cell::text);
  if (found == head.cells.end()) return std::nullopt;
  return static_cast<std::size_t>(found - head.cells.begin());
}

}  // namespace rulerank::datasets
