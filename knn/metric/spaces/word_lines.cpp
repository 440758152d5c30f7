#include "knn/metric/spaces/word_lines.hpp"

#include "core/error.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/number.hpp"
#include "datasets/text/document_members.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::string_view line_blanks = " \t\r";
constexpr std::size_t fewest_of_list = 3;  // words on the only line of a file
constexpr std::size_t fewest_of_counted_list = 2;
constexpr std::string_view column_separators[] = {"\t", ",", ";", "|", ":", "=", line_blanks};

std::string_view trimmed(std::string_view text, std::string_view blanks = line_blanks) {
  std::size_t const begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Returns the end of the quoted cell that a text begins with, or 0.
std::size_t end_of_quoted(std::string_view text) {
  if (!text.starts_with('"')) return 0;
  for (std::size_t at = 1; (at = text.find('"', at)) != text.npos; at += 2)
    if (at + 1 == text.size() || text[at + 1] != '"') return at + 1;
  return 0;
}

bool is_quoted(std::string_view text) {
  return text.size() > 1 && end_of_quoted(text) == text.size();
}

bool is_in(std::string_view text, char begin, char end) {
  return text.size() > 1 && text.front() == begin && text.back() == end;
}

/// Accepts 12, -0.5, 1e-5, 1,234 or 0,5, 12%, (12) and [12].
bool is_number(std::string_view text) {
  if (is_quoted(text) || is_in(text, '(', ')') || is_in(text, '[', ']'))
    text = text.substr(1, text.size() - 2);
  if (text.ends_with('%')) text.remove_suffix(1);
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  if (text.find_first_not_of("0123456789,.") == text.npos) return true;
  double value = 0;
  return datasets::read_number(text, value) == datasets::number_kind::finite;
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Splits a line into trimmed cells; a run of spaces is one separator.
void split(std::string_view line, std::string_view by, std::vector<std::string_view>& cells) {
  cells.clear();
  bool const by_blanks = by == line_blanks;
  line = trimmed(line, by == "\t" ? " \r" : line_blanks);
  for (bool more = true; more;) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::size_t const end = std::min(line.find_first_of(by, end_of_quoted(line)), line.size());
    std::string_view cell = trimmed(line.substr(0, end));
    if (by_blanks && cell.size() > 1 && (cell.ends_with(',') || cell.ends_with(';')))
      cell.remove_suffix(1);
    cells.push_back(cell);
    more = end < line.size();
    line.remove_prefix(std::min(end + 1, line.size()));
    if (by_blanks) line = trimmed(line);
  }
}

/// Returns whether a cell is a word and a part of a number, `the 1` or `234 the`, as where a comma,
/// colon or `=` splits `the 1,234` or `1,234 the`.
bool has_part_of_number(std::string_view cell) {
  if (is_quoted(cell)) return false;
  std::size_t const first = cell.find(' '), last = cell.rfind(' ');
  return first != cell.npos &&
         (is_number(cell.substr(0, first)) || is_number(cell.substr(last + 1)));
}

/// Returns whether all cells are a word and its count, as `the:10`.
bool are_counted_words(std::vector<std::string_view> const& cells) {
  return std::all_of(cells.begin(), cells.end(), [](std::string_view cell) {
    std::size_t const at = cell.find_last_of(":=");
    return at != cell.npos && at > 0 && is_number(cell.substr(at + 1));
  });
}

/// Returns the column that a header names as that of words, or the number of columns.
std::size_t titled_column(std::vector<std::string_view> const& titles) {
  constexpr std::string_view of_words[] = {"word",  "words", "term",  "terms",
                                           "token", "form",  "entry", "lemma"};
  if (std::none_of(titles.begin(), titles.end(), is_number))
    for (std::string_view const& title : of_words)
      for (std::size_t c = 0; c < titles.size(); ++c)
        if (datasets::is_one_of(datasets::without_quotes(titles[c]), {&title, 1})) return c;
  return titles.size();
}

bool is_comment(std::string_view line) {
  return line.starts_with("# ") || line.starts_with("#\t");
}

/// Calls work(line, number) for each line except empty lines and comments, until it returns false.
template <class Work>
void for_each_entry(std::string_view text, Work&& work) {
  bool goes_on = true;
  datasets::for_each_line(text, [&](std::string_view line, std::uint64_t number) {
    if (goes_on && !is_comment(line) && !trimmed(line).empty()) goes_on = work(line, number);
  });
}

/// Returns whether a line may contain more than a word: a word and a number, cells between tabs or
/// several blanks, quotes, the mark of a list.
bool is_odd(std::string_view line, std::vector<std::string_view>& cells) {
  line = trimmed(line);
  if (is_quoted(line) || is_in(line, '\'', '\'') || line.find('\t') != line.npos ||
      line.find("  ") != line.npos || line.starts_with("- ") || line.starts_with("* "))
    return true;
  if (!has_digit(line)) return false;
  for (std::string_view const by :
       {std::string_view(","), std::string_view(";"), std::string_view("="), line_blanks}) {
    split(line, by, cells);
    std::string_view const last = cells.back();
    bool const has_count = cells.size() > 1 && (last.ends_with(')') || last.ends_with(']'));
    if (has_count && is_number(last)) return true;
    if (cells.size() == 2 && (is_number(cells[0]) || is_number(cells[1]))) return true;
  }
  return false;
}

word_fault unclear_columns(std::size_t line, std::size_t columns, std::size_t words) {
  return {line, 1,
          fmt::format("found {} columns in each line, {} of them with words; expected one word on "
                      "each line (in quotes if it has blanks), or a header such as word,count",
                      columns, words)};
}

/// Returns the number of words on the only line of a file if it seems to be a list, otherwise 0.
std::size_t words_of_list(std::string_view line, std::vector<std::string_view>& cells) {
  for (std::string_view const by : {std::string_view(","), std::string_view(";"), line_blanks}) {
    split(line, by, cells);
    if (cells.size() >= (are_counted_words(cells) ? fewest_of_counted_list : fewest_of_list))
      return cells.size();
  }
  return 0;
}

/// Returns whether a line is Hunspell's word with flags: `the/SM`.
bool has_flags(std::string_view line) {
  line = trimmed(line);
  std::size_t const at = line.find('/');
  if (at == 0 || at == line.npos || at + 1 == line.size()) return false;
  return line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1) == line.npos;
}

}  // namespace

/// Uses these separators if all lines have the same number of columns between them.
bool word_lines::are_columns(std::string_view text, std::string_view by) {
  std::size_t count = 0, first = 0, titled = 0;
  std::string_view titles;
  std::vector<std::string_view> cells;
  std::vector<bool> is_of_numbers;
  bool splits_numbers = by == "," || by == ":" || by == "=";
  for_each_entry(text, [&](std::string_view line, std::uint64_t number) {
    split(line, by, cells);
    if (is_of_numbers.empty()) {
      is_of_numbers.assign(cells.size(), true);
      titled = titled_column(cells);
      if (titled < cells.size() && cells.size() > 1) {
        titles = line;
        return true;
      }
    }
    if (count++ == 0) first = number;
    if (cells.size() != is_of_numbers.size() || cells.size() == 1) {
      count = 0;
      return false;
    }
    for (std::size_t c = 0; c < cells.size(); ++c)
      is_of_numbers[c] = is_of_numbers[c] && is_number(cells[c]);
    splits_numbers = splits_numbers && std::any_of(cells.begin(), cells.end(), has_part_of_number);
    return true;
  });
  if (count == 0 || (count == 1 && titles.empty() && by != "\t")) return false;
  std::size_t const n = is_of_numbers.size();
  auto const words = static_cast<std::size_t>(std::ranges::count(is_of_numbers, false));
  if (splits_numbers && titles.empty() && words < n) {
    odd = lines;
    first_odd = first;
    return false;
  }
  bool const by_mark = by == "|" || by == ":" || by == "=";
  bool const may_be_text = by_mark || by == line_blanks;
  if (may_be_text && (words == n || (words != 1 && by_mark && n == 2))) return false;
  if (!titles.empty()) {
    column = titled;
  } else if (words == 1 || (words == 0 && n == 2)) {
    column =
        static_cast<std::size_t>(std::ranges::find(is_of_numbers, false) - is_of_numbers.begin()) %
        n;
  } else if (words == 0 && may_be_text) {
    return false;
  } else if (words == n && by != "\t") {
    odd = lines;
    first_odd = first;
    return true;
  } else {
    fault = unclear_columns(first, n, words);
  }
  separators = by;
  columns = n;
  are_counted = n == 2 && words < 2;
  header = titles;
  lines = count;
  return true;
}

word_lines::word_lines(std::string_view text) {
  datasets::remove_byte_order_mark(text);
  std::size_t quoted = 0, flagged = 0, first_flagged = 0;
  bool begins_with_number = false;
  std::string_view first_entry, last;
  std::size_t first_number = 0, last_number = 0;
  std::vector<std::string_view> cells;
  datasets::for_each_line(text, [&](std::string_view line, std::uint64_t number) {
    if (is_comment(line) && comments++ == 0) first_comment = number;
    if (is_comment(line) || trimmed(line).empty()) return;
    auto const control = std::find_if(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r';
    });
    if (std::size_t const at = datasets::inner_return(line); at != line.npos && !fault)
      fault = {number, at + 1, datasets::inner_return_fault};
    if (control != line.end() && !fault)
      fault = {number, static_cast<std::size_t>(control - line.begin()) + 1,
               fmt::format("found a byte of value {}, expected words, one on each line",
                           static_cast<int>(*control))};
    bool const begins_list = (line.starts_with('{') || line.starts_with('[')) && line.size() > 1 &&
                             (line[1] == '"' || line[1] == '\'');
    if (begins_list && !fault)
      fault = {number, 1,
               fmt::format("found {}, expected words, one on each line",
                           line[1] == '"' ? "JSON" : "a list of Python")};
    if (++lines == 1) {
      first_entry = line;
      first_number = number;
      begins_with_number = trimmed(line).find_first_not_of("0123456789") == line.npos;
    }
    if (is_quoted(trimmed(line))) ++quoted;
    if (datasets::has_hidden_end(trimmed(line)) && hidden++ == 0) first_hidden = number;
    if (has_flags(line) && flagged++ == 0) first_flagged = number;
    bool const is_padded = trimmed(line).size() + line.ends_with('\r') < line.size();
    if (is_padded && padded++ == 0) first_padded = number;
    if (is_odd(line, cells) && odd++ == 0) first_odd = number;
    last = line;
    last_number = number;
  });
  if (fault || lines == 0) return;
  bool const most_are_flagged = lines > 1 && 2 * flagged > lines;
  if (most_are_flagged || (flagged > 0 && begins_with_number)) {
    fault = {first_flagged, 1,
             "found a word with the flags of a Hunspell dictionary, expected words alone; "
             "Hunspell's unmunch writes them"};
    return;
  }
  are_quoted = quoted == lines && lines > 1;
  if (are_quoted)
    odd = 0;
  else
    for (std::string_view const by : column_separators)
      if (are_columns(text, by)) return;
  if (!are_quoted && lines > 1 && titled_column({trimmed(first_entry)}) == 0)
    first_title = first_number;
  if (lines > 1 || is_quoted(trimmed(last))) return;
  words_on_it = words_of_list(last, cells);
  if (words_on_it > 0) only_line = last_number;
}

std::optional<std::string> word_lines::word_of(std::string_view line) const {
  if (is_comment(line) || (!header.empty() && line.data() == header.data())) return std::nullopt;
  line = trimmed(line, separators == "\t" ? " \r" : line_blanks);
  if (separators.empty() && !are_quoted) return std::string(line);
  if (!separators.empty() && !line.empty()) {
    std::vector<std::string_view> cells;
    split(line, separators, cells);
    line = cells[std::min(column, cells.size() - 1)];
  }
  return datasets::without_quotes(line);
}

std::vector<std::string> word_lines::notes() const {
  std::vector<std::string> said;
  std::string_view const and_header = header.empty() ? "" : ", and so is the header";
  if (comments > 0)
    said.push_back(fmt::format(":{}: left out {} of comments (this is the first)", first_comment,
                               counted(comments, "line")));
  if (hidden > 0)
    said.push_back(
        fmt::format(":{}: {} beginning or ending with a blank such as U+00A0, which is "
                    "a letter of the word (this is the first)",
                    first_hidden, counted(hidden, "line")));
  if (padded > 0 && separators.empty() && !are_quoted)
    said.push_back(fmt::format(
        ":{}: {} beginning or ending with blanks, which are left out (this is the first)",
        first_padded, counted(padded, "line")));
  if (are_counted)
    said.push_back(
        fmt::format(": each line is a word and a number, read as a word and its count; the counts "
                    "are left out{}",
                    and_header));
  else if (!separators.empty())
    said.push_back(fmt::format(
        ": each line has {} columns; column {} is read as words, the others are left out{}",
        columns, column + 1, and_header));
  else if (are_quoted)
    said.push_back(": each line is in quotes, which are left out");
  else if (odd > 0 && lines > 1)
    said.push_back(
        fmt::format(":{}: {} of {} have several columns, a number after a word, or quotes (this is "
                    "the first); each whole line is read as the word",
                    first_odd, odd, counted(lines, "line")));
  if (first_title > 0)
    said.push_back(fmt::format(
        ":{}: the first line names a column of words and is read as a word; remove it if it is a "
        "header",
        first_title));
  if (only_line > 0)
    said.push_back(fmt::format(
        ":{}: the only line has {} words and is read as one word; expected one word on each line",
        only_line, words_on_it));
  return said;
}

}  // namespace rulerank::knn
