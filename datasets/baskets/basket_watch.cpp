#include "datasets/baskets/basket_watch.hpp"

#include "datasets/delimited/label_cells.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/number.hpp"
#include "datasets/text/document_members.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::string_view inner_separators = ",;|\t";

bool is_title_of(std::string_view name, std::span<std::string_view const> titles) {
  std::string plain = plain_name(name);
  while (!plain.empty() && plain.back() >= '0' && plain.back() <= '9') plain.pop_back();
  return std::find(titles.begin(), titles.end(), plain) != titles.end();
}

/// Returns whether a column with this name may hold basket ids.
bool is_id_title(std::string_view name) {
  constexpr std::string_view titles[] = {
      "order",  "orderid",  "ordernumber",  "orderno",   "transaction",  "transactionid",
      "tid",    "basket",   "basketid",     "invoice",   "invoiceno",    "invoiceid",
      "id",     "customer", "customerid",   "user",      "userid",       "session",
      "billno", "cart",     "cartid",       "receipt",   "receiptid",    "sessionid",
      "member", "memberid", "membernumber", "visitorid", "transactionno"};
  return is_title_of(name, titles);
}

/// Returns whether a column with this name may hold items.
bool is_item_title(std::string_view name) {
  constexpr std::string_view titles[] = {"item",      "items",           "item(s)",   "itemid",
                                         "itemname",  "itemdescription", "product",   "products",
                                         "productid", "productname",     "stockcode", "sku"};
  return is_title_of(name, titles);
}

bool says_yes_or_no(std::string_view text) {
  constexpr std::string_view words[] = {"0", "1", "true", "false", "t", "f", "yes", "no", "y", "n"};
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return same_word(text, word); });
}

bool is_empty_value(std::string_view text) {
  constexpr std::string_view words[] = {"nan", "na", "n/a", "<na>", "none", "null", "?"};
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return same_word(text, word); });
}

bool is_quantity(std::string_view text) {
  double value = 0;
  return read_number(text, value) == number_kind::finite;
}

/// Returns whether an item is a name and a number: `milk:2`, `milk=2`, `1(0.5)`.
bool has_quantity(std::string_view item) {
  std::size_t const at = item.find_last_of(":=(");
  if (at == item.npos || at == 0) return false;
  if (item[at] == '(' && !item.ends_with(')')) return false;
  return is_quantity(item.substr(at + 1, item.size() - at - (item[at] == '(' ? 2 : 1)));
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != text.npos;
}

/// Returns whether a line is the names that pandas (`0,1,2`) or R (`V1,V2,V3`) give to columns.
bool are_default_names(std::span<basket_cell const> cells) {
  auto const are = [&](std::string_view letter, std::size_t first) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (cells[c].text != fmt::format("{}{}", letter, first + c)) return false;
    return cells.size() > 1;
  };
  return are("", 0) || are("V", 1);
}

bool is_in_brackets(std::string_view text) {
  if (text.size() < 2) return false;
  if (text.front() == '(') return text.find(')') == text.size() - 1;
  return (text.front() == '{' && text.back() == '}') || (text.front() == '[' && text.back() == ']');
}

/// Returns whether an item begins a list of Python or R: `('milk'`, `set(['milk'`, `c("milk"`.
bool begins_list(std::string_view item) {
  std::size_t const at = item.find('(');
  return at < item.size() - 1 && std::string_view("'\"[").find(item[at + 1]) != item.npos &&
         item.find_first_of(" \t") > at;
}

/// Returns whether an item is a rule's arrow or contains one, as `bread -> milk`. `T1 -> milk` may
/// also be a basket's id and an item.
bool has_arrow(std::string_view item) {
  std::size_t const at = item.find(" -> ");
  return item == "=>" || item == "->" || item.find(" => ") != item.npos ||
         (at != item.npos && !has_digit(item.substr(0, at)));
}

/// Returns the first cell of a set in braces, `{bread`, `milk}` or `T1 {bread`, `milk}`, or of a
/// rule, `bread => milk`. Cells in quotes are items. Returns null if there is none.
basket_cell const* set_or_rule(std::span<basket_cell const> cells) {
  basket_cell const* begin = nullptr;
  for (basket_cell const& c : cells) {
    if (c.has_quotes) continue;
    if (has_arrow(c.text)) return &c;
    std::size_t const brace = c.text.find('{');
    bool const begins_set =
        brace == 0 || (brace != c.text.npos &&
                       std::string_view("( \t").find(c.text[brace - 1]) != std::string_view::npos);
    if (begin == nullptr && begins_set) begin = &c;
    if (begin != nullptr && (c.text.ends_with('}') || c.text.ends_with("})"))) return begin;
  }
  return nullptr;
}

/// Returns whether a line has SPMF's form `1 2:7:3 4`: items, the sum of their utilities, and the
/// utilities.
bool has_utilities(std::string_view line) {
  std::vector<field> parts[3];
  for (std::size_t p = 0; p < 3; ++p) {
    std::size_t const end = std::min(line.find(':'), line.size());
    if ((end == line.size()) != (p == 2)) return false;
    split_fields(line.substr(0, end), parts[p]);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  if (parts[0].size() < 2 || parts[1].size() != 1 || parts[2].size() != parts[0].size())
    return false;
  double sum = 0, of_item = 0;
  for (field const& one : parts[0])
    if (one.text.find_first_not_of("0123456789") != one.text.npos) return false;
  for (field const& one : parts[2]) {
    if (read_number(one.text, of_item) != number_kind::finite) return false;
    sum += of_item;
  }
  double all = 0;
  return read_number(parts[1][0].text, all) == number_kind::finite &&
         std::abs(all - sum) <= 1e-6 * std::max(1.0, std::abs(sum));
}

}  // namespace

std::optional<pair_columns> pair_columns_of(std::span<basket_cell const> header) {
  auto const find = [&](bool (*is_title)(std::string_view)) {
    return static_cast<std::size_t>(
        std::find_if(header.begin(), header.end(),
                     [&](basket_cell const& c) { return is_title(c.text); }) -
        header.begin());
  };
  pair_columns const found{find(is_id_title), find(is_item_title), header.size()};
  if (std::max(found.id, found.item) == header.size()) return std::nullopt;
  return found;
}

bool is_basket_header(std::span<basket_cell const> cells) {
  return std::all_of(cells.begin(), cells.end(), [](basket_cell const& c) {
    return is_id_title(c.text) || is_item_title(c.text);
  });
}

char separator_of_header(std::string_view line) {
  for (char const separator : inner_separators) {
    std::vector<basket_cell> cells;
    for (std::size_t at = 0; at <= line.size();) {
      std::size_t const end = std::min(line.find(separator, at), line.size());
      std::string_view cell = line.substr(at, end - at);
      while (!cell.empty() && std::string_view(" \r\"").find(cell.front()) != cell.npos)
        cell.remove_prefix(1);
      while (!cell.empty() && std::string_view(" \r\"").find(cell.back()) != cell.npos)
        cell.remove_suffix(1);
      cells.push_back({cell, at + 1});
      at = end + 1;
    }
    if (pair_columns_of(cells)) return separator;
  }
  return 0;
}

char inner_separator(std::string_view text) {
  std::size_t const at = text.find_first_of(inner_separators);
  return at == text.npos ? 0 : text[at];
}

std::string separator_option(char separator) {
  return fmt::format("--separator '{}'", separator == '\t' ? "\\t" : std::string(1, separator));
}

bool expect_no_list(std::string_view line, std::span<basket_cell const> cells,
                    source_position const& place) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  bool const has_list = std::any_of(cells.begin(), cells.end(), [](basket_cell const& c) {
    return c.has_quotes ? is_in_brackets(c.text) && inner_separator(c.text) != 0
                        : begins_list(c.text);
  });
  bool const in_brackets = is_in_brackets(line);
  bool const begins_quoted = line.size() > 1 && (line[1] == '\'' || line[1] == '"');
  if (has_list || (in_brackets && (line.find_first_of(",;") != line.npos || begins_quoted)))
    throw error({place.file, place.line, 1},
                fmt::format("found {}, a list in brackets, expected items between separators",
                            rulerank::quoted(line)));
  if (basket_cell const* const c = in_brackets && cells.size() == 1 ? nullptr : set_or_rule(cells))
    throw error({place.file, place.line, c->column},
                fmt::format("found {}, which is a set in braces or a rule with => or ->, expected "
                            "items alone; quotes around an item keep its braces",
                            rulerank::quoted(c->text)));
  return in_brackets;
}

void expect_no_control(std::string_view line, source_position const& place) {
  auto const at = std::find_if(line.begin(), line.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r';
  });
  if (at != line.end())
    throw error({place.file, place.line, static_cast<std::uint64_t>(at - line.begin()) + 1},
                fmt::format("found a byte of value {}, expected text", static_cast<int>(*at)));
}

void matrix_watch::expect_none(source_position const& first) const {
  if (could_be_ && repeats_ && lines_ > 1)
    throw error(
        first,
        "found a table with a column for each item, expected the items of a basket on each line");
}

id_watch::id_watch(char separator) : separator_(separator) {
  for (char const mark : {'\t', '|', ';', ':', ',', '=', '>', '.', ')'})
    if (mark != separator) candidates_.push_back({mark, {}, {}});
}

void id_watch::take(std::string_view line) {
  ++lines_;
  std::erase_if(candidates_, [&](candidate& one) {
    std::size_t const at = line.find(one.mark);
    if (at == line.npos || line.find(one.mark, at + 1) != line.npos) return true;
    // Before the mark may be an arrow or a blank: T1 -> bread, T1 : bread.
    std::string_view const id = line.substr(0, line.find_last_not_of(" \t-=", at - 1) + 1);
    std::string_view const rest =
        line.substr(std::min(line.find_first_not_of(" \t", at + 1), line.size()));
    bool const may_be_decimal = one.mark == '.' && line.substr(at + 1).find_first_of(" \t") != 0;
    if (at == 0 || !has_digit(id) || id.find_first_of(" \t\"") != id.npos ||
        id.find(separator_) != id.npos || rest.empty() || may_be_decimal)
      return true;
    if (lines_ == 1) one.first = line.substr(0, at + 1);
    has_several_ = has_several_ || rest.find(separator_) != rest.npos || inner_separator(rest) != 0;
    return !one.ids.emplace(id).second;
  });
}

void id_watch::expect_none(source_position const& first) const {
  if (lines_ < 2 || !has_several_ || candidates_.empty()) return;
  char const mark = candidates_.front().mark;
  throw error(first,
              fmt::format("found {} and such ids at the beginning of all lines, expected items "
                          "alone; cut {}-f2- removes the ids",
                          rulerank::quoted(candidates_.front().first),
                          mark == '\t' ? "" : fmt::format("-d'{}' ", mark)));
}

void first_pair_watch::take(std::string_view line, std::string_view id, std::string_view item,
                            source_position const& place) {
  if (pairs_++ == 0) {
    line_ = line.substr(0, line.find('\r'));
    id_ = id;
    item_ = item;
    number_ = place.line;
    return;
  }
  occurs_again_ = occurs_again_ || id == id_ || item == item_;
  others_have_digits_ = others_have_digits_ && has_digit(id);
  others_are_numbers_ = others_are_numbers_ && is_quantity(id);
}

void first_pair_watch::finish(std::string const& name,
                              std::function<void(std::string const&)> const& warn) const {
  bool const is_other =
      (others_have_digits_ && !has_digit(id_)) || (others_are_numbers_ && !is_quantity(id_));
  if (pairs_ < 3 || occurs_again_ || (has_digit(id_) && !is_other)) return;
  if (is_other)
    throw error({name, number_, 1},
                fmt::format("found the header {}, expected a basket's id and an item; --skip-lines "
                            "{} leaves out a header, --skip-lines 0 reads it as a pair",
                            rulerank::quoted(line_), number_));
  if (warn)
    warn(
        fmt::format("{}:{}: neither {} nor {} occurs again; if the line is a header, use "
                    "--skip-lines {}",
                    name, number_, rulerank::quoted(id_), rulerank::quoted(item_), number_));
}

void basket_watch::take(std::string_view line, std::span<basket_cell const> cells,
                        source_position const& place) {
  if (expect_no_list(line, cells, place) && lists_++ == 0) list_line_ = place.line;
  if (has_utilities(line))
    throw error(
        {place.file, place.line, 1},
        fmt::format("found {}, which is SPMF's form for items with utilities, expected items alone",
                    rulerank::quoted(line.substr(0, line.find('\r')))));
  if (cells.size() > 1 && cells.back().text == "-2")
    throw error({place.file, place.line, cells.back().column},
                "found -2 at the end of the line, which is SPMF's form for sequences, expected "
                "items alone");
  for (basket_cell const& c : cells)
    if (c.text.size() > 2 && c.text.starts_with('#') && c.text.ends_with(':') && !c.has_quotes)
      throw error({place.file, place.line, c.column},
                  fmt::format("found {}, which is SPMF's form for results, expected items alone",
                              rulerank::quoted(c.text)));
  if (++lines_ == 1) first_line_ = place.line;
  ids_.take(line);
  watch_quotes(cells, place.line);
  watch_first_items(cells);
  watch_header(cells);
  watch_matrix(cells);
  watch_pairs(cells);
  watch_separators(cells, place.line);
}

void basket_watch::watch_quotes(std::span<basket_cell const> cells, std::uint64_t line) {
  are_quoted_ = are_quoted_ && cells.size() == 1 && cells[0].has_quotes;
  if (are_quoted_ && quoted_line_ == 0 && inner_separator(cells[0].text) != 0) quoted_line_ = line;
}

void basket_watch::watch_first_items(std::span<basket_cell const> cells) {
  std::string_view const first = cells.empty() ? "" : cells[0].text;
  if (lines_ == 1) {
    std::from_chars(first.data(), first.data() + first.size(), begin_);
    if (first != std::to_string(begin_)) begin_ = 1;
  }
  bool const has_more = cells.size() > 1;
  has_several_ = has_several_ || has_more;
  is_numbered_ = is_numbered_ && has_more && first == std::to_string(begin_ + lines_ - 1);
  is_counted_ = is_counted_ && has_more && first == std::to_string(cells.size() - 1);
  is_prefixed_ = is_prefixed_ && has_more && first.ends_with(':');
  are_ids_ = are_ids_ && has_digit(first) && first_items_.emplace(first).second &&
             std::none_of(cells.begin() + 1, cells.end(),
                          [](basket_cell const& c) { return has_digit(c.text); });
  have_quantities_ =
      have_quantities_ && std::all_of(cells.begin(), cells.end(),
                                      [](basket_cell const& c) { return has_quantity(c.text); });
}

void basket_watch::watch_header(std::span<basket_cell const> cells) {
  if (lines_ > 1)
    for (basket_cell const& c : cells)
      has_default_names_ = has_default_names_ && !header_.contains(std::string(c.text));
  if (lines_ == 1) {
    columns_ = cells.size();
    for (basket_cell const& c : cells) header_.emplace(c.text);
    has_default_names_ = are_default_names(cells);
  } else if (cells.size() != columns_) {
    columns_ = 0;
  } else if (columns_ > 1) {
    for (basket_cell const& c : cells)
      has_header_ = has_header_ && !header_.contains(std::string(c.text));
  }
  if (columns_ < 2) return;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::size_t const column = column_of_.try_emplace(std::string(cells[c].text), c).first->second;
    has_columns_ = has_columns_ && column == c;
  }
  if (!has_header_ && !has_columns_) columns_ = 0;
}

void basket_watch::watch_matrix(std::span<basket_cell const> cells) {
  if (!matrix_.wants(cells.size()) || lines_ == 1) return;  // the first line may have names
  std::unordered_set<std::string_view> distinct;
  for (basket_cell const& c : cells) distinct.insert(c.text);
  matrix_.take(std::all_of(cells.begin() + 1, cells.end(),
                           [](basket_cell const& c) { return says_yes_or_no(c.text); }),
               distinct.size() < cells.size());
}

void basket_watch::watch_pairs(std::span<basket_cell const> cells) {
  could_be_pairs_ = could_be_pairs_ && cells.size() == 2;
  if (!could_be_pairs_) return;
  std::string const first(cells[0].text);
  if (first == last_) {
    repeats_ = true;
  } else {
    could_be_pairs_ = firsts_.insert(first).second;
    last_ = first;
  }
  seconds_.emplace(cells[1].text);
}

/// Returns whether lines of two names appear to be pairs of an id and an item.
bool basket_watch::are_pairs() const {
  return could_be_pairs_ && repeats_ && lines_ > 2 &&
         std::none_of(firsts_.begin(), firsts_.end(),
                      [&](std::string const& one) { return seconds_.contains(one); });
}

void basket_watch::watch_separators(std::span<basket_cell const> cells, std::uint64_t line) {
  if (separator_ != ' ' && cells.size() != 1) return;
  char found = 0;
  for (basket_cell const& c : cells)
    if (found == 0 && !c.has_quotes) found = inner_separator(c.text);
  if (found != 0 && inner_lines_++ == 0) {
    inner_ = found;
    inner_line_ = line;
  }
}

/// Describes the first items of all lines if they appear to have another meaning; otherwise empty.
std::string basket_watch::first_items() const {
  if (lines_ < 2) return "";
  if (is_prefixed_) return "end with ':'";
  if (is_counted_) return "are the numbers of items that follow";
  if (is_numbered_ && lines_ > 2)
    return fmt::format("number the lines: {}, {}, ...", begin_, begin_ + 1);
  if (are_ids_ && lines_ > 2 && has_several_)
    return "differ in all lines, and no other item has a digit";
  return "";
}

void basket_watch::finish(std::string const& name, std::span<std::string const> items,
                          std::function<void(std::string const&)> const& warn) const {
  matrix_.expect_none({name, first_line_, 1});
  ids_.expect_none({name, first_line_, 1});
  if (are_quoted_ && quoted_line_ != 0)
    throw error({name, quoted_line_, 1},
                "found all items of a basket in quotes, expected quotes around single items; "
                "tr -d '\"' removes the quotes");
  if (lists_ > 1 && 2 * lists_ > lines_)
    throw error({name, list_line_, 1}, fmt::format("found {} of {} lines in brackets (this is the "
                                                   "first), expected items between separators",
                                                   lists_, lines_));
  if (!warn) return;
  if (has_default_names_ && lines_ > 1)
    warn(
        fmt::format("{}:{}: no item of the line occurs again, and pandas and R give such names to "
                    "columns; if it is a header, use --skip-lines {}",
                    name, first_line_, first_line_));
  else if (are_pairs())
    warn(
        fmt::format("{}: each line has two names, and no name occurs in both columns; if the first "
                    "is a basket's id, use --form pairs",
                    name));
  else if (std::string const first = first_items(); !first.empty())
    warn(fmt::format("{}: the first items {}; if they are not items, remove them", name, first));
  else if (columns_ > 1 && lines_ > 2 && has_header_)
    warn(
        fmt::format("{}: all lines have {} items, and no item of the first line occurs again; if "
                    "it is a header, use --skip-lines 1 and write each value with its column's "
                    "name, such as colour=red",
                    name, columns_));
  else if (columns_ > 1 && has_columns_ && 2 * column_of_.size() <= columns_ * lines_)
    warn(
        fmt::format("{}: all lines have {} items, and each item occurs in one column only; if it "
                    "is a table, write each value with its column's name, such as colour=red",
                    name, columns_));
  if (have_quantities_ && lines_ > 0 && !items.empty())
    warn(fmt::format("{}: each item ends with a number, such as {}; if it is a quantity, remove it",
                     name, items[0]));
  if (inner_lines_ > 0)
    warn(fmt::format("{}:{}: {} with items that contain '{}' (this is the first); {} splits them",
                     name, inner_line_, counted(inner_lines_, "line"),
                     inner_ == '\t' ? "\\t" : std::string(1, inner_), separator_option(inner_)));
  if (auto const item = std::find_if(items.begin(), items.end(), has_hidden_end);
      item != items.end())
    warn(
        fmt::format("{}: the item {} begins or ends with a blank such as U+00A0 and differs from "
                    "the item without it; remove the blank",
                    name, rulerank::quoted(*item)));
  for (std::string const& item : items)
    if (is_empty_value(item))
      warn(fmt::format("{}: {} counts as an item; if it means an empty cell, leave the cell empty",
                       name, item));
}

}  // namespace rulerank::datasets
