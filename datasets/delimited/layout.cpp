#include "datasets/delimited/layout.hpp"

#include "core/error.hpp"
#include "datasets/delimited/documents.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/delimited/read.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/number.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/faults.hpp"
#include "datasets/svmlight/values.hpp"
#include "datasets/text/document_members.hpp"
#include "datasets/text/encoding.hpp"
#include "datasets/text/text_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::string_view label_title = "label";
constexpr std::string_view qid_title = "qid";
constexpr std::string_view docid_title = "docid";
constexpr std::string_view no_title = "0123456789+-. \t#";  // a header does not begin with these
// All titles of these columns as results of `plain_name`; those of docids are `document_id_titles`,
// those of qids `query_id_titles` and the ones here.
// Query texts serve as ids if no other column has ids.
constexpr std::string_view usual_labels[] = {"label", "relevance", "relevancelabel"};
constexpr std::string_view other_qids[] = {"groupid", "srchid"};
constexpr std::string_view usual_texts[] = {"query"};

bool ends_with_type(std::string_view name, std::string_view type) {
  for (std::string_view const packed : {".gz", ".zst"})
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  return name.ends_with(type);
}

bool has_known_column(std::string_view line, char delimiter, read_options const& options = {}) {
  record head;
  try {
    record_reader(delimiter).read(line, head);
  } catch (line_fault const&) {
    return false;
  }
  return std::ranges::any_of(head.cells, [&](cell const& c) {
    std::string const title = c.str();
    return is_one_of(title, usual_labels) || is_one_of(title, query_id_titles) ||
           is_one_of(title, other_qids) || is_one_of(title, usual_texts) ||
           is_one_of(title, document_id_titles) ||
           (!c.text.empty() && (c.text == options.label_column || c.text == options.qid_column));
  });
}

/// Throws an error about a column.
[[noreturn]] void fail(std::string const& name, record const& head, std::size_t column,
                       std::string const& found_and_expected) {
  auto const [line, at] = place_in(head.text, head.cells[column].offset);
  throw error({name, head.lines_before + line + 1, at}, found_and_expected);
}

std::string_view words_for(char delimiter) {
  switch (delimiter) {
    case '\t':
      return "a tab";
    case ',':
      return "','";
    case ';':
      return "';'";
    default:
      return "'|'";
  }
}

/// Throws if a header of one cell has several cells with another delimiter.
void expect_delimiter(std::string const& name, record const& head, char delimiter) {
  if (head.cells.size() != 1) return;
  for (char const other : {';', ',', '\t', '|'}) {
    std::size_t const at = head.text.find(other);
    if (other == delimiter || at == head.text.npos || !has_known_column(head.text, other)) continue;
    auto const [line, column] = place_in(head.text, at);
    throw error({name, head.lines_before + line + 1, column},
                fmt::format("found {} between columns, expected {}", words_for(other),
                            words_for(delimiter)));
  }
}

/// Returns whether pandas writes an index under this title: `index`, `level_0`, `Unnamed: 0.1`.
bool is_pandas_index(std::string_view title) {
  if (title == "index") return true;
  for (std::string_view const begin : {"level_", "Unnamed: "})
    if (title.starts_with(begin) && title.size() > begin.size() &&
        title.find_first_not_of("0123456789.", begin.size()) == title.npos)
      return true;
  return false;
}

void expect_title(std::string const& name, record const& head, std::size_t column,
                  std::string const& title) {
  if (title.empty())
    fail(name, head, column, "found a column without a name, expected a name in the header");
  if (has_control_characters(title))
    fail(name, head, column,
         fmt::format("column {} has a control character or a mark of direction in its name, "
                     "expected plain text",
                     rulerank::quoted(title)));
  if (first_not_utf8(title) != title.npos) fail(name, head, column, name_not_utf8(title));
}

/// The titles of the columns that are no features; empty if there is no such column.
struct special_titles {
  std::string label, qid, docid;
};

column_role::kind kind_of(std::string const& title, special_titles const& titles,
                          read_options const& options) {
  using enum column_role::kind;
  if (std::ranges::find(options.skip_columns, title) != options.skip_columns.end())
    return passed_over;
  return title == titles.label    ? label
         : title == titles.qid    ? qid
         : title == titles.docid  ? docid
         : title == text_sums_key ? text_sums
                                  : feature;
}

/// Returns the title of the column with a common name, with a note if it is not `own`; empty if
/// there is none. Throws if several columns qualify; `option`, unless empty, selects one of them.
std::string title_of(std::string const& name, record const& head, std::string_view own,
                     std::span<std::string_view const> usual, std::string_view option,
                     read_options const& options, std::vector<std::string>& notes) {
  std::string found;
  for (std::size_t c = 0; c < head.cells.size(); ++c) {
    std::string const title(unguarded_formula(head.cells[c].str()));
    if (!is_one_of(title, usual) ||
        std::ranges::find(options.skip_columns, title) != options.skip_columns.end())
      continue;
    if (!found.empty() && found != title)
      fail(name, head, c,
           fmt::format("found the columns {0} and {1}, expected {2}one of them", printable(found),
                       printable(title),
                       options.options_are_arguments ? ""
                       : option.empty()              ? "--skip-columns with "
                                        : fmt::format("{2} {0} or {2} {1}, or --skip-columns with ",
                                                      printable(found), printable(title), option)));
    found = title;
  }
  if (!found.empty() && found != own)
    notes.push_back(fmt::format("read the column {} as {}", printable(found), own));
  return found;
}

std::string or_else(std::string const& given, std::string_view otherwise) {
  return given.empty() ? std::string(otherwise) : given;
}

/// Returns the columns that the options name, otherwise those with common names.
special_titles titles_of(std::string const& name, record const& head, read_options const& options,
                         bool with_label, std::vector<std::string>& notes) {
  auto const find = [&](std::string_view own, std::span<std::string_view const> usual,
                        std::string_view option) {
    return title_of(name, head, own, usual, option, options, notes);
  };
  special_titles titles{options.label_column, options.qid_column, ""};
  if (titles.label.empty() && with_label)
    titles.label = find(label_title, usual_labels, "--label-column");
  for (std::span<std::string_view const> const usual :
       {std::span<std::string_view const>(query_id_titles), {other_qids}, {usual_texts}})
    if (titles.qid.empty() && options.group_file.empty())
      titles.qid = find(qid_title, usual, "--qid-column");
  titles.label = or_else(titles.label, label_title);
  titles.qid = or_else(titles.qid, qid_title);
  titles.docid = or_else(find(docid_title, document_id_titles, ""), docid_title);
  return titles;
}

/// Throws if a named column is missing.
void expect_columns(std::string const& name, record const& head,
                    std::map<std::string, std::size_t> const& seen, read_options const& options) {
  std::vector<std::pair<std::string_view, std::string>> wanted{
      {"--label-column", options.label_column}, {"--qid-column", options.qid_column}};
  for (std::string const& title : options.skip_columns)
    wanted.emplace_back("--skip-columns", title);
  for (auto const& [option, title] : wanted)
    if (!title.empty() && !seen.contains(title) &&
        (option == "--qid-column" || !options.optional_labels))
      fail(name, head, 0,
           fmt::format("found no column {} of {}, expected it in the header {}",
                       rulerank::quoted(title), option, rulerank::quoted(head.text)));
}

/// Throws if an option names a column of text that has none.
void expect_no_columns(std::string_view name, read_options const& options) {
  std::string_view const option = !options.label_column.empty()   ? "--label-column"
                                  : !options.qid_column.empty()   ? "--qid-column"
                                  : !options.skip_columns.empty() ? "--skip-columns"
                                                                  : "";
  if (!option.empty())
    throw error({std::string(name), 1, 1},
                fmt::format("found SVMlight's form, which has no columns, expected CSV or TSV with "
                            "a header for {}",
                            option));
}

/// Returns the name of a form that is neither delimited text nor SVMlight, or an empty text.
std::string_view other_form_of(std::string_view first_line) {
  first_line.remove_prefix(std::min(first_line.find_first_not_of(" \t"), first_line.size()));
  if (first_line.empty() || no_title.find(first_line[0]) != no_title.npos) return {};
  if (first_line[0] == '{' || first_line[0] == '[') return "JSON";
  if (first_line[0] == '<') return "HTML or XML";
  if (first_line[0] == '@') return "ARFF";
  if (first_line.substr(0, first_line.find_first_of(" \t")).find(':') != first_line.npos)
    return {};  // SVMlight's line without a label
  if (has_known_column(first_line, '|')) return "'|' between columns";
  return has_known_column(first_line, ' ') ? "blanks between columns" : "";
}

/// Numbers the columns that are features.
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
           fmt::format("found feature {} twice, expected each feature once", role.feature));
  }
  for (auto const& [title, c] : by_name) {
    auto const number = static_cast<std::uint32_t>(by_number.size() + 1);
    layout.columns[c].feature = number;
    layout.names.emplace(number, title);
    by_number.emplace(number, c);
  }
  for (auto const& [number, c] : by_number) layout.columns[c].rank = layout.features++;
}

/// Reads the header at the beginning of a text, after `lines_before` other lines of the file.
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

char delimiter_of(std::string_view name, std::string_view first_line, read_options const& options) {
  if (separator_line const told = separator_of(first_line); told.size > 0) return told.delimiter;
  if (ends_with_type(name, ".tsv")) return '\t';
  if (ends_with_type(name, ".csv"))
    return !has_known_column(first_line, ',', options) && has_known_column(first_line, ';', options)
               ? ';'
               : ',';
  if (!first_line.empty() && no_title.find(first_line[0]) == no_title.npos)
    for (char const delimiter : {'\t', ',', ';'})
      if (has_known_column(first_line, delimiter, options)) return delimiter;
  if (std::string_view const other = other_form_of(first_line); !other.empty())
    throw error({std::string(name), 1, 1},
                fmt::format("found {}, expected CSV or TSV with a header, or SVMlight's lines "
                            "<label> qid:<id> <feature>:<value> ...",
                            other));
  expect_no_columns(name, options);
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
  special_titles const special = titles_of(name, head, options, columns.empty(), layout.notes);
  if (special.label != label_title) layout.label_title = special.label;
  layout.qid_is_text = options.qid_column.empty() && is_one_of(special.qid, usual_texts);
  bool has_label = false;
  std::map<std::string, std::size_t> seen;
  for (std::size_t c = 0; c < head.cells.size(); ++c) {
    std::string const cell = head.cells[c].str();
    std::string const title(unguarded_formula(cell));
    bool const is_id = title == special.qid || title == special.docid;
    if (!columns.empty() && !is_id && std::ranges::find(columns, title) == columns.end()) {
      layout.columns.push_back({column_role::kind::passed_over, 0, 0});
      layout.titles.push_back(title);
      continue;
    }
    auto const what = kind_of(title, special, options);
    bool const is_unnamed = title.empty() && c == 0;
    if (head.cells.size() > 1 && what == column_role::kind::feature && columns.empty() &&
        (is_unnamed || is_pandas_index(title))) {
      layout.columns.push_back({column_role::kind::passed_over, 0, 0});
      layout.titles.push_back(title);
      layout.notes.push_back(is_unnamed ? "left out the first column, which has no name"
                                        : fmt::format("left out the column {}, which is an index "
                                                      "of pandas; rename it to make it a feature",
                                                      title));
      continue;
    }
    expect_title(name, head, c, title);
    if (!seen.emplace(title, c).second)
      fail(
          name, head, c,
          fmt::format("found column {} twice, expected each column once", rulerank::quoted(title)));
    has_label = has_label || what == column_role::kind::label;
    layout.has_qid = layout.has_qid || what == column_role::kind::qid;
    layout.columns.push_back({what, 0, 0});
    layout.titles.push_back(title);
  }
  for (std::string const& title : columns)
    if (!seen.contains(title))
      throw error(
          {name, head.lines_before + 1, 1},
          fmt::format("found no column {}, expected it in the header", rulerank::quoted(title)));
  if (columns.empty()) expect_columns(name, head, seen, options);
  if (!has_label && !options.optional_labels && !options.unlabelled)
    throw error({name, head.lines_before + 1, 1},
                fmt::format("found no column label, expected one{}{}",
                            options.options_are_arguments ? "" : ", or --label-column NAME",
                            unlabelled_hint(rules_of(options), "if no label is known")));
  number_features(layout, head, name, rules_of(options));
  return layout;
}

bool read_word_value(std::string_view text, double& value) {
  if (same_word(text, "true") || same_word(text, "false")) {
    value = text.size() == 4 ? 1 : 0;
    return true;
  }
  value = std::numeric_limits<double>::quiet_NaN();
  constexpr std::string_view missing[] = {"na", "n/a", "<na>", "#n/a", "none"};
  return std::ranges::any_of(missing, [&](std::string_view word) { return same_word(text, word); });
}

std::vector<std::string> text_columns(std::string_view records, delimited_layout const& layout) {
  constexpr std::size_t most_records = 100;
  std::vector<bool> has_number(layout.columns.size()), has_words(layout.columns.size());
  record_reader const reader(layout.delimiter);
  record now;
  for (std::size_t i = 0; i < most_records && !records.empty(); ++i) {
    try {
      reader.read(records, now);
    } catch (line_fault const&) {
      break;
    }
    records.remove_prefix(now.size);
    for (std::size_t c = 0; c < std::min(now.cells.size(), layout.columns.size()); ++c) {
      std::string_view const text = now.cells[c].text;
      double value = 0;
      if (text.empty()) continue;
      number_kind const kind = read_number(text, value);
      if (kind == number_kind::malformed && !read_word_value(text, value))
        has_words[c] = has_words[c] || std::isalpha(static_cast<unsigned char>(text[0])) != 0 ||
                       static_cast<signed char>(text[0]) < 0;
      else if (kind != number_kind::missing && !std::isnan(value))
        has_number[c] = true;
    }
  }
  std::vector<std::string> titles;
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    if (layout.columns[c].what == column_role::kind::feature && has_words[c] && !has_number[c])
      titles.push_back(layout.titles[c]);
  return titles;
}

std::optional<std::size_t> label_column(std::string_view header, char delimiter,
                                        std::string_view title) {
  record head;
  record_reader(delimiter).read(header, head);
  auto const found =
      std::ranges::find(head.cells, title.empty() ? label_title : title, &cell::text);
  if (found == head.cells.end()) return std::nullopt;
  return static_cast<std::size_t>(found - head.cells.begin());
}

}  // namespace rulerank::datasets
