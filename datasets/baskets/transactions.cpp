#include "datasets/transactions.hpp"

#include "core/error.hpp"
#include "datasets/baskets/basket_watch.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/text/encoding.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <list>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::datasets {
namespace {

constexpr std::size_t lines_a_report = 1 << 16;

bool is_separator_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// Appends the integers of a line to `out`.
void read_integers(char const* const begin, char const* const end, source_position const& line,
                   std::vector<std::uint32_t>& out) {
  for (char const* at = begin; at != end;) {
    if (is_separator_blank(*at)) {
      ++at;
      continue;
    }
    char const* const word = at;
    std::uint64_t value = 0;
    while (at != end && *at >= '0' && *at <= '9' &&
           value <= std::numeric_limits<std::uint32_t>::max())
      value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
    if (at == word || (at != end && !is_separator_blank(*at)) ||
        value > std::numeric_limits<std::uint32_t>::max()) {
      std::string_view const rest(
          word, static_cast<std::size_t>(std::find_if(word, end, is_separator_blank) - word));
      bool const is_name = std::isalpha(static_cast<unsigned char>(rest[0])) != 0;
      throw error(
          {line.file, line.line, static_cast<std::uint64_t>(word - begin) + 1},
          fmt::format("found {}, expected an item, an integer from 0 to 4294967295{}",
                      rulerank::quoted(rest), is_name ? "; --form baskets reads names" : ""));
    }
    out.push_back(static_cast<std::uint32_t>(value));
  }
}

/// Sorts the items from `begin` on and removes duplicates.
void make_set(std::vector<std::uint32_t>& items, std::size_t begin) {
  auto const first = items.begin() + static_cast<std::ptrdiff_t>(begin);
  if (std::adjacent_find(first, items.end(), std::greater_equal<>()) == items.end()) return;
  std::sort(first, items.end());
  items.erase(std::unique(first, items.end()), items.end());
}

/// Replaces items by their ranks among the distinct items, which are returned.
std::vector<std::uint32_t> rank(std::vector<std::uint32_t>& items) {
  std::uint32_t const largest = items.empty() ? 0 : *std::max_element(items.begin(), items.end());
  std::vector<std::uint32_t> distinct;
  if (largest / 4 <= items.size()) {
    std::vector<std::uint32_t> rank_of(std::size_t{largest} + 1);
    for (std::uint32_t const x : items) rank_of[x] = 1;
    for (std::size_t x = 0; x < rank_of.size(); ++x) {
      if (rank_of[x] == 0) continue;
      rank_of[x] = static_cast<std::uint32_t>(distinct.size());
      distinct.push_back(static_cast<std::uint32_t>(x));
    }
    if (!items.empty())
      for (std::uint32_t& x : items) x = rank_of[x];
    else
      distinct.clear();
    return distinct;
  }
  distinct = items;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (std::uint32_t& x : items)
    x = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), x) -
                                   distinct.begin());
  return distinct;
}

}  // namespace

namespace {

/// Calls read_line(begin, end, position of the line, items) for each line of a file; it returns
/// whether the line is a transaction.
template <class ReadLine>
transactions read_lines(context const& ctx, std::string const& path, ReadLine&& read_line,
                        std::function<void(std::string const&)> const& warn = {}) {
  auto const text = open_text(ctx, path);
  std::string_view const bytes = text->bytes();
  transactions read;
  read.name = display_name(path);
  if (std::string const note = warn ? encoding_note(bytes) : ""; !note.empty())
    warn(read.name + note);
  source_position line{read.name, 0, 0};
  bool const has_returns = bytes.find('\r') != bytes.npos;
  for (std::size_t begin = 0; begin < bytes.size();) {
    std::size_t const end = std::min(bytes.find('\n', begin), bytes.size());
    if (++line.line % lines_a_report == 0) ctx.report("read", begin, bytes.size());
    std::string_view items = bytes.substr(begin, end - begin);
    remove_byte_order_mark(items);
    if (std::size_t const at = has_returns ? inner_return(items) : items.npos; at != items.npos)
      throw error({read.name, line.line, at + 1}, inner_return_fault);
    if (read_line(items.data(), items.data() + items.size(), line, read.items)) {
      make_set(read.items, read.row.back());
      read.row.push_back(read.items.size());
    }
    begin = end + 1;
  }
  expect_unchanged(*text, read.name);
  if (read.size() == 0)
    throw error({read.name, 1, 1}, "found no transactions, expected one on each line");
  return read;
}

/// Numbers names in the order of their first occurrence.
class name_numbers {
 public:
  std::uint32_t of(std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }
  /// Returns the names in byte order; `place` gets the new index of each number.
  std::vector<std::string> sorted(std::vector<std::uint32_t>& place) const {
    std::vector<std::string> names;
    place.resize(numbers_.size());
    for (auto const& [name, number] : std::map(numbers_.begin(), numbers_.end())) {
      place[number] = static_cast<std::uint32_t>(names.size());
      names.push_back(name);
    }
    return names;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

bool is_blank_line(char const* begin, char const* end) {
  return std::all_of(begin, end, is_separator_blank);
}

bool begins_note(char const* begin, char const* end) {
  return begin != end && (*begin == '#' || *begin == '%' || *begin == '@');
}

/// Skips lines that are no transactions, and empty lines directly after them.
class passed_notes {
 public:
  /// Returns whether a line is skipped, as a note or after one.
  bool take(bool is_note, char const* begin, char const* end, std::uint64_t line) {
    within_ = is_note || (within_ && is_blank_line(begin, end));
    if (within_ && count_++ == 0) first_ = line;
    return within_;
  }
  void report(std::string const& name, std::function<void(std::string const&)> const& warn) const {
    if (count_ > 0 && warn)
      warn(fmt::format("{}:{}: left out {} of comments (this is the first)", name, first_,
                       counted(count_, "line")));
  }

 private:
  bool within_ = false;
  std::size_t count_ = 0;
  std::uint64_t first_ = 0;
};

/// Cuts lines into names.
class basket_lines {
 public:
  explicit basket_lines(char separator) : separator_(separator), by_blanks_(separator == ' ') {}

  /// Returns the cells of a line without trailing empty ones; valid until the next call.
  std::vector<basket_cell> const& cells(std::string_view line, source_position const& place) {
    cells_.clear();
    kept_.clear();
    for (std::size_t at = 0; at <= line.size();) {
      while (at < line.size() && is_separator_blank(line[at]) && line[at] != separator_) ++at;
      basket_cell cell{{}, at + 1, at < line.size() && line[at] == '"'};
      if (cell.has_quotes)
        at = read_quoted(line, at, place, cell.text);
      else
        at = read_plain(line, at, cell.text);
      if (!cell.text.empty() || !by_blanks_) cells_.push_back(cell);
      ++at;  // the separator
    }
    while (!cells_.empty() && cells_.back().text.empty()) cells_.pop_back();
    return cells_;
  }

  bool by_blanks() const { return by_blanks_; }

 private:
  bool ends(char c) const { return by_blanks_ ? is_separator_blank(c) : c == separator_; }

  std::size_t read_plain(std::string_view line, std::size_t at, std::string_view& text) const {
    std::size_t const begin = at;
    while (at < line.size() && !ends(line[at])) ++at;
    text = line.substr(begin, at - begin);
    while (!text.empty() && is_separator_blank(text.back())) text.remove_suffix(1);
    return at;
  }

  std::size_t read_quoted(std::string_view line, std::size_t begin, source_position const& place,
                          std::string_view& text) {
    std::string name;
    std::size_t at = begin + 1;
    for (;; ++at) {
      if (at == line.size())
        throw error({place.file, place.line, begin + 1},
                    "found a quote that is not closed, expected a second quote on the line");
      if (line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')) break;
      if (line[at] == '"') ++at;
      name += line[at];
    }
    ++at;
    while (at < line.size() && is_separator_blank(line[at]) && !ends(line[at])) ++at;
    if (at < line.size() && !ends(line[at]))
      throw error({place.file, place.line, at + 1},
                  fmt::format("found {} after a quote, expected a separator or the line's end",
                              rulerank::quoted(line.substr(at, 1))));
    text = kept_.emplace_back(std::move(name));
    return at;
  }

  char separator_;
  bool by_blanks_;
  std::vector<basket_cell> cells_;
  std::list<std::string> kept_;
};

/// Returns whether a line that begins with `#`, `%` or `@` is a note.
bool is_basket_note(std::string_view line, source_position const& place,
                    basket_options const& options) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (options.comments) return *options.comments;
  std::string_view const rest = line.substr(1);
  bool const is_clear =
      line[0] == '@' ? !rest.empty() && rest[0] >= 'A' && rest[0] <= 'Z' &&
                           rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == rest.find('=')
                     : rest.empty() || is_separator_blank(rest[0]) || rest[0] == line[0];
  if (!is_clear)
    throw error({place.file, place.line, 1},
                fmt::format("found {}, which can be a comment or an item; expected --comments skip "
                            "or --comments keep",
                            rulerank::quoted(line.substr(0, line.find_first_of(" \t,;")))));
  return true;
}

/// Reads the lines of baskets, or of pairs.
class basket_reader {
 public:
  basket_reader(basket_options const& options)
      : options_(options), lines_(options.separator), watch_(options.separator) {}

  bool read_line(char const* begin, char const* end, source_position const& place,
                 std::vector<std::uint32_t>& out) {
    std::string_view const line(begin, static_cast<std::size_t>(end - begin));
    if (place.line <= options_.skip_lines.value_or(0)) return false;
    bool const is_note = begins_note(begin, end) && is_basket_note(line, place, options_);
    if (notes_.take(is_note, begin, end, place.line)) return false;
    if (is_blank_line(begin, end)) return !options_.pairs;
    expect_no_control(line, place);
    auto const& cells = lines_.cells(line, place);
    if (std::exchange(is_first_, false) && !options_.skip_lines &&
        take_header(line, cells, place)) {
      header_ = line;
      return false;
    }
    if (!header_.empty() && line == header_)
      throw error({place.file, place.line, 1},
                  "found the header again, expected a basket's id and an item");
    if (options_.pairs) return add_pair(line, cells, place, out);
    for (basket_cell const& cell : cells) expect_name(cell, place);
    watch_.take(line, cells, place);
    for (basket_cell const& cell : cells) out.push_back(numbers_.of(cell.text));
    return true;
  }

  transactions finish(transactions&& read) {
    notes_.report(read.name, options_.warn);
    if (options_.pairs) gather(read);
    std::vector<std::uint32_t> place;
    read.names = numbers_.sorted(place);
    watch_.finish(read.name, read.names, options_.warn);
    for (std::uint32_t& x : read.items) x = place[x];
    for (std::size_t t = 0; t < read.size(); ++t)
      std::sort(read.items.begin() + static_cast<std::ptrdiff_t>(read.row[t]),
                read.items.begin() + static_cast<std::ptrdiff_t>(read.row[t + 1]));
    return std::move(read);
  }

 private:
  /// Returns whether the first line is a header to skip. Throws if items are expected there.
  bool take_header(std::string_view line, std::vector<basket_cell> const& cells,
                   source_position const& place) {
    auto const columns = pair_columns_of(cells);
    bool const is_header = is_basket_header(cells);
    char const separator = columns || is_header ? 0 : separator_of_header(line);
    bool const is_table = columns && (is_header || !lines_.by_blanks());
    if (options_.pairs && separator == 0) {
      if (columns) columns_ = *columns;
      if (columns_.cells > 2) note_columns(cells, place.file);
      return columns || is_header;
    }
    if (is_table || is_header || separator != 0)
      throw error(
          {place.file, place.line, 1},
          fmt::format("found the header {}, expected items; if a line is a basket's id and an "
                      "item, use --form pairs{}{}; --skip-lines 1 leaves out a header",
                      rulerank::quoted(line.substr(0, line.find('\r'))), separator != 0 ? " " : "",
                      separator != 0 ? separator_option(separator) : ""));
    return false;
  }

  void note_columns(std::vector<basket_cell> const& cells, std::string const& name) const {
    std::vector<std::string> left_out;
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (c != columns_.id && c != columns_.item) left_out.push_back(printable(cells[c].text));
    if (options_.warn)
      options_.warn(fmt::format("{}: read the columns {} and {}, left out {}", name,
                                printable(cells[columns_.id].text),
                                printable(cells[columns_.item].text), fmt::join(left_out, ", ")));
  }

  static void expect_name(basket_cell const& cell, source_position const& place) {
    if (cell.text.empty())
      throw error({place.file, place.line, cell.column},
                  "found nothing between two separators, expected a name");
  }

  bool add_pair(std::string_view line, std::vector<basket_cell> const& cells,
                source_position const& place, std::vector<std::uint32_t>& out) {
    std::size_t const least = std::max(columns_.id, columns_.item) + 1;
    bool const fits = cells.size() >= least && cells.size() <= columns_.cells;
    basket_cell const pair[] = {fits ? cells[columns_.id] : basket_cell(),
                                fits ? cells[columns_.item] : basket_cell()};
    expect_no_list(line, fits ? std::span<basket_cell const>(pair) : cells, place);
    if (!fits) {
      char const other = cells.size() == 1 ? inner_separator(line) : '\0';
      throw error(
          {place.file, place.line,
           cells.size() > columns_.cells ? cells[columns_.cells].column : 1},
          fmt::format("found {}, expected {}{}{}", counted(cells.size(), "cell"),
                      columns_.cells == 2 ? "2 (a basket's id and an item)"
                                          : fmt::format("{} as in the header", columns_.cells),
                      other != 0 ? "; if they are split at another character, use " : "",
                      other != 0 ? separator_option(other) : ""));
    }
    expect_name(cells[columns_.id], place);
    expect_name(cells[columns_.item], place);
    if (basket_cell const& id = cells[columns_.id]; is_missing_word(id.text))
      throw error({place.file, place.line, id.column}, missing_id_fault("id", id.text));
    first_pair_.take(line, cells[columns_.id].text, cells[columns_.item].text, place);
    of_line_.push_back(baskets_.of(cells[columns_.id].text));
    out.push_back(numbers_.of(cells[columns_.item].text));
    return true;
  }

  /// Makes a transaction of the items of each basket, in the order of their first lines.
  void gather(transactions& read) {
    std::vector<std::vector<std::uint32_t>> baskets;
    for (std::size_t line = 0; line < of_line_.size(); ++line) {
      if (of_line_[line] == baskets.size()) baskets.emplace_back();
      baskets[of_line_[line]].push_back(read.items[line]);
    }
    read.items.clear();
    read.row.assign(1, 0);
    if (header_.empty() && !options_.skip_lines) first_pair_.finish(read.name, options_.warn);
    if (options_.warn && baskets.size() > 1 && baskets.size() == of_line_.size())
      options_.warn(fmt::format(
          "{}: no basket has two lines; if a cell holds several items, write a line for each",
          read.name));
    for (auto const& items : baskets) {
      read.items.insert(read.items.end(), items.begin(), items.end());
      make_set(read.items, read.row.back());
      read.row.push_back(read.items.size());
    }
  }

  basket_options const& options_;
  basket_lines lines_;
  passed_notes notes_;
  basket_watch watch_;
  pair_columns columns_;
  first_pair_watch first_pair_;
  name_numbers numbers_, baskets_;
  std::vector<std::uint32_t> of_line_;  // the basket of each pair
  bool is_first_ = true;
  std::string header_;
};

/// Reads SPMF's `@ITEM=1=apple`; ignores other notes.
void read_item_name(std::string_view line, source_position const& place,
                    std::unordered_map<std::uint32_t, std::string>& names) {
  constexpr std::string_view key = "@ITEM=";
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.starts_with(key)) return;
  std::size_t const mark = std::min(line.find('=', key.size()), line.size());
  std::string_view const number = line.substr(key.size(), mark - key.size());
  std::uint32_t item = 0;
  auto const [end, status] = std::from_chars(number.data(), number.data() + number.size(), item);
  if (status != std::errc() || end != number.data() + number.size() || mark + 1 >= line.size())
    throw error({place.file, place.line, key.size() + 1},
                fmt::format("found {}, expected an item and its name, as in @ITEM=1=apple",
                            rulerank::quoted(line.substr(key.size()))));
  if (!names.try_emplace(item, line.substr(mark + 1)).second)
    throw error({place.file, place.line, key.size() + 1},
                fmt::format("found the name of item {} again, expected it once", item));
}

/// Appends the names of a feature's items.
void name_ranges(feature_cuts const& of, std::string const& feature, bool missing,
                 std::vector<std::string>& names) {
  for (std::size_t b = 0; b <= of.cuts.size(); ++b)
    names.push_back(fmt::format("{}:{}{})", feature,
                                b == 0 ? "(-inf," : fmt::format("[{},", of.cuts[b - 1]),
                                b == of.cuts.size() ? "inf" : fmt::format("{}", of.cuts[b])));
  if (missing) names.push_back(fmt::format("{}:missing", feature));
}

}  // namespace

transactions read_fimi(context const& ctx, std::string const& path,
                       std::function<void(std::string const&)> const& warn) {
  passed_notes notes;
  std::unordered_map<std::uint32_t, std::string> names;
  matrix_watch matrix;
  id_watch ids(' ');
  bool any_notes = false;
  std::uint64_t first_line = 0;
  transactions read = read_lines(
      ctx, path,
      [&](auto const begin, auto const end, auto const& line, auto& out) {
        bool const is_note = begins_note(begin, end);
        any_notes = any_notes || is_note;
        if (any_notes && notes.take(is_note, begin, end, line.line)) {
          read_item_name({begin, static_cast<std::size_t>(end - begin)}, line, names);
          return false;
        }
        if (first_line == 0) first_line = line.line;
        std::size_t const before = out.size();
        ids.take({begin, static_cast<std::size_t>(end - begin)});
        read_integers(begin, end, line, out);
        auto const items = std::span(out).subspan(before);
        if (matrix.wants(items.size())) {
          auto const ones = std::count(items.begin(), items.end(), 1U);
          auto const zeros = std::count(items.begin(), items.end(), 0U);
          bool const first = items[0] <= 1;
          matrix.take(ones + zeros + (first ? 0 : 1) == std::ssize(items), ones > 1 || zeros > 1);
        }
        return true;
      },
      warn);
  matrix.expect_none({read.name, first_line, 1});
  ids.expect_none({read.name, first_line, 1});
  for (std::uint32_t const x : rank(read.items)) {
    auto const named = names.find(x);
    read.names.push_back(named == names.end() ? std::to_string(x) : named->second);
  }
  return read;
}

transactions read_baskets(context const& ctx, std::string const& path,
                          basket_options const& options) {
  basket_reader reader(options);
  return reader.finish(read_lines(
      ctx, path,
      [&](auto const begin, auto const end, auto const& line, auto& out) {
        return reader.read_line(begin, end, line, out);
      },
      options.warn));
}

transactions transactions_of(binned_dataset const& data, discretizer const& fitted, bool labels) {
  transactions made;
  for (std::size_t f = 0; f < data.feature_count(); ++f) {
    auto const of = std::find_if(fitted.features.begin(), fitted.features.end(),
                                 [&](auto const& c) { return c.feature == data.features[f]; });
    if (of == fitted.features.end())
      throw usage_error(
          fmt::format("found feature {} without cuts, expected cuts", data.features[f]));
    name_ranges(*of, name_of(of->feature, fitted.names), data.has_missing_item[f], made.names);
  }
  std::map<std::int32_t, std::uint32_t> item_of_label;
  if (labels) {
    for (std::int32_t const l : data.labels)
      if (l != unlabelled) item_of_label[l] = 0;
    for (auto& [label, its_item] : item_of_label) {
      its_item = static_cast<std::uint32_t>(made.names.size());
      made.names.push_back(fmt::format("label={}", label));
    }
  }
  for (std::size_t d = 0; d < data.documents; ++d) {
    for (std::size_t f = 0; f < data.feature_count(); ++f)
      if (std::uint8_t const c = data.code(f, d); c != no_item)
        made.items.push_back(data.item_begin[f] + c);
    if (labels && data.labels[d] != unlabelled)
      made.items.push_back(item_of_label.at(data.labels[d]));
    made.row.push_back(made.items.size());
  }
  return made;
}

}  // namespace rulerank::datasets
