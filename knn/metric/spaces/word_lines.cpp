#include "knn/metric/spaces/word_lines.hpp"

#include "core/error.hpp"
#include "datasets/fields.hpp"
#include "datasets/label_cells.hpp"
#include "datasets/number.hpp"
#include "datasets/text/document_members.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::string_view line_blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  std::size_t const begin = std::min(text.find_first_not_of(line_blanks), text.size());
  return text.substr(begin, text.find_last_not_of(line_blanks) + 1 - begin);
}

bool is_quoted(std::string_view word) {
  return word.size() > 1 && word.front() == '"' && word.back() == '"';
}

/// 12, 0.5, 1e-5, and 1,234 or 0,5.
bool is_count(std::string_view text) {
  if (is_quoted(text)) text = text.substr(1, text.size() - 2);
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  if (text.find_first_not_of("0123456789,.") == text.npos) return true;
  double value = 0;
  return datasets::read_number(text, value) == datasets::number_kind::finite;
}

using two_cells = std::array<std::string_view, 2>;

/// The two cells of a line, between a tab, blanks, a comma or a semicolon, that `are_meant`; empty:
/// there are none.
template <class AreMeant>
two_cells cells_of(std::string_view line, AreMeant&& are_meant) {
  std::size_t const from = is_quoted(line.substr(0, line.find('"', 1) + 1)) ? line.find('"', 1) : 0;
  for (std::string_view const separators :
       {std::string_view("\t"), line_blanks, std::string_view(","), std::string_view(";")}) {
    std::size_t const at = line.find_first_of(separators, from);
    if (at == line.npos) continue;
    two_cells cells{trimmed(line.substr(0, at)), trimmed(line.substr(at + 1))};
    if (cells[0].ends_with(',') || cells[0].ends_with(';')) cells[0].remove_suffix(1);
    if (cells[1].find_first_of(separators) == cells[1].npos && are_meant(cells)) return cells;
  }
  return {};
}

/// The word of a line that is a word and a number; empty: it is not.
std::string_view counted_word(std::string_view line) {
  if (std::none_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return {};
  auto const [first, second] =
      cells_of(line, [](two_cells const& c) { return is_count(c[0]) || is_count(c[1]); });
  return is_count(second) ? first : second;
}

constexpr std::string_view word_titles[] = {"word",  "words", "term",  "terms",
                                            "token", "form",  "lemma", "entry"};
constexpr std::string_view count_titles[] = {"count", "counts", "frequency", "freq",
                                             "tf",    "df",     "n",         "occurrences"};

bool is_header(std::string_view line) {
  auto const has = [](two_cells const& cells, std::span<std::string_view const> titles) {
    return std::any_of(cells.begin(), cells.end(), [&](std::string_view cell) {
      return datasets::is_one_of(datasets::without_quotes(cell), titles);
    });
  };
  two_cells const titles = cells_of(line, [&](two_cells const& cells) {
    return has(cells, word_titles) && has(cells, count_titles);
  });
  return !titles[0].empty();
}

}  // namespace

word_lines::word_lines(std::string_view text) {
  std::size_t counted = 0, quoted = 0, first_counted = 0, first_quoted = 0;
  datasets::for_each_line(text, [&](std::string_view line, std::uint64_t number) {
    line = trimmed(line);
    if (line.empty()) return;
    if (number == 1 && is_header(line)) {
      has_header = true;
      return;
    }
    ++lines;
    std::string_view const word = counted_word(line);
    if (!word.empty() && counted++ == 0) first_counted = number;
    if (is_quoted(word.empty() ? line : word) && quoted++ == 0) first_quoted = number;
  });
  are_counted = counted == lines && lines > (has_header ? 0U : 1U);
  are_quoted = quoted == lines && lines > 1;
  has_header = has_header && are_counted;
  if (!are_counted && (lines > 1 || has_header)) odd = counted, first_odd = first_counted;
  if (!are_counted && !are_quoted && odd == 0) odd = quoted, first_odd = first_quoted;
}

std::string word_lines::word_of(std::string_view line) const {
  if (!are_counted && !are_quoted) return std::string(line);
  line = trimmed(line);
  if (are_counted && !line.empty()) line = counted_word(line);
  return datasets::without_quotes(line);
}

std::string word_lines::note() const {
  if (odd > 0)
    return fmt::format(
        ":{}: {} of {} have a number beside a word or are in quotes, this one first; "
        "the whole line is the word",
        first_odd, odd, counted(lines, "line"));
  if (are_counted)
    return fmt::format(
        ": each line is a word and a number, read as words with counts, which are left out{}",
        has_header ? ", and so is the header" : "");
  return are_quoted ? ": each line is in quotes, which are left out" : "";
}

}  // namespace rulerank::knn
