#include "datasets/delimited/label_cells.hpp"

#include "core/control_characters.hpp"
#include "core/error.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/lines.hpp"

#include <algorithm>
#include <array>

namespace rulerank::inline v0::datasets {

namespace {

constexpr char guard = '\'';
constexpr char cell_quote = '"';
/// Beginnings that spreadsheets take for a formula; the full-width forms are those of = + - @.
constexpr std::array<std::string_view, 11> formula_begins{
    "=",           "+", "-", "@", "\t", "\r", "'", "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
    "\xEF\xBC\xA0"};

bool begins_formula(std::string_view text) {
  return std::ranges::any_of(formula_begins,
                             [&](std::string_view begin) { return text.starts_with(begin); });
}

bool is_ascii_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
}

/// Returns whether every spreadsheet reads an id as text: three letters followed by a digit may be
/// a month in some language.
bool is_plain_id(std::string_view id) {
  // Booleans in several languages of spreadsheets.
  constexpr std::array<std::string_view, 10> truth_values{
      "true", "false",     "wahr",  "falsch", "vrai",
      "faux", "verdadero", "falso", "vero",   "verdadeiro"};
  if (id.empty() || !is_ascii_letter(id.front())) return false;
  auto const letters = static_cast<std::size_t>(
      std::find_if_not(id.begin(), id.end(), is_ascii_letter) - id.begin());
  bool const has_digit = id.find_first_of("0123456789", letters) != id.npos;
  if (letters > 2 && has_digit) return false;
  return std::ranges::none_of(truth_values,
                              [id](std::string_view word) { return same_word(id, word); });
}

/// Reads one record from the front of `rest`, including line ends; only one line if `lines` is
/// false.
void read_record(std::string_view& rest, char delimiter, bool lines, std::uint64_t& line,
                 std::vector<label_cell>& cells) {
  cells.clear();
  std::uint64_t column = 1;
  auto const ends_cell = [&](std::size_t at) {
    return at == rest.size() || rest[at] == delimiter || rest[at] == '\n' ||
           (rest[at] == '\r' && (at + 1 == rest.size() || rest[at + 1] == '\n'));
  };
  for (;;) {
    std::size_t end = 0;
    std::string text;
    std::uint64_t feeds = 0;
    if (rest.starts_with(cell_quote)) {
      std::size_t at = 1;
      while ((at = rest.find(cell_quote, at)) != rest.npos && at + 1 < rest.size() &&
             rest[at + 1] == cell_quote)
        at += 2;
      if (at != rest.npos && ends_cell(at + 1)) {
        text = without_quotes(rest.substr(0, at + 1));
        feeds = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
        if (lines || feeds == 0) end = at + 1;
      }
    }
    if (end == 0) {
      feeds = 0;
      while (!ends_cell(end)) ++end;
      std::string_view plain = rest.substr(0, end);
      while (plain.starts_with(' ')) plain.remove_prefix(1);
      while (plain.ends_with(' ')) plain.remove_suffix(1);
      text = plain;
    }
    cells.push_back({std::move(text), line, column});
    line += feeds;
    column += end + 1;
    bool const more = end < rest.size() && rest[end] == delimiter;
    rest.remove_prefix(more ? end + 1 : end);
    if (more) continue;
    if (rest.starts_with('\r')) rest.remove_prefix(1);
    if (rest.starts_with('\n')) {
      rest.remove_prefix(1);
      ++line;
    }
    return;
  }
}

}  // namespace

bool has_hidden_end(std::string_view text) {
  constexpr std::string_view hidden[] = {"\xc2\xa0",     "\xc2\xad",     "\xe2\x80\x8b",
                                         "\xe2\x80\xaf", "\xe3\x80\x80", "\xef\xbb\xbf"};
  return std::any_of(std::begin(hidden), std::end(hidden), [&](std::string_view one) {
    return text.starts_with(one) || text.ends_with(one);
  });
}

std::string without_controls(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    bool const kept = std::string_view("\t\n\r").find(text.front()) != std::string_view::npos;
    std::size_t const control = kept ? 0 : control_size(text);
    plain += control > 0 ? ' ' : text.front();
    text.remove_prefix(std::max<std::size_t>(control, 1));
  }
  return plain;
}

std::string without_quotes(std::string_view text) {
  if (text.size() < 2 || text.front() != cell_quote || text.back() != cell_quote)
    return std::string(text);
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    plain += text[i];
    if (text[i] == cell_quote && i + 2 < text.size() && text[i + 1] == cell_quote) ++i;
  }
  return plain;
}

std::string guarded(std::string_view text) {
  return guarded_formula(without_controls(text));
}

std::string guarded_id(std::string_view id) {
  std::string cell(id);
  return is_plain_id(id) ? cell : guard + cell;
}

std::string_view unguarded_id(std::string_view cell) {
  bool const is_guarded = cell.size() > 1 && cell.front() == guard && !is_plain_id(cell.substr(1));
  return is_guarded ? cell.substr(1) : cell;
}

std::string_view unguarded(std::string_view cell) {
  if (cell.starts_with(guard)) cell.remove_prefix(1);
  return cell;
}

std::string guarded_formula(std::string_view text) {
  std::string cell(text);
  return begins_formula(cell) ? guard + cell : cell;
}

std::string_view unguarded_formula(std::string_view cell) {
  return cell.starts_with(guard) && begins_formula(cell.substr(1)) ? cell.substr(1) : cell;
}

std::vector<label_cell> split_cells(std::string_view line, std::uint64_t number) {
  std::vector<label_cell> cells;
  read_record(line, '\t', false, number, cells);
  return cells;
}

label_records::label_records(std::string_view text) : rest_(text) {
  remove_byte_order_mark(rest_);
  std::string_view header = rest_.substr(0, rest_.find('\n'));
  if (header.starts_with("sep=") && header.size() > 4) {
    delimiter_ = header[4];
    rest_.remove_prefix(std::min(header.size() + 1, rest_.size()));
    ++line_;
    return;
  }
  for (char const c : {'\t', ',', ';'})
    if (header.find(c) != header.npos) {
      delimiter_ = c;
      return;
    }
}

bool label_records::next() {
  remove_byte_order_mark(rest_);
  if (rest_.empty()) return false;
  read_record(rest_, delimiter_, true, line_, cells_);
  return true;
}

}  // namespace rulerank::datasets
