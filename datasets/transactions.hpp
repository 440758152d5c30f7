#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::datasets {

/// Sets of items. Item ids begin at 0; those of transaction t are `items[row[t] .. row[t + 1])`,
/// ascending and distinct.
struct transactions {
  std::string name;                  ///< the path, for messages
  std::vector<std::size_t> row{0};   ///< [N + 1]
  std::vector<std::uint32_t> items;  ///< all transactions, one after the other
  std::vector<std::string> names;    ///< one per item

  std::size_t size() const noexcept { return row.empty() ? 0 : row.size() - 1; }
  std::span<std::uint32_t const> transaction(std::size_t t) const {
    return std::span(items).subspan(row[t], row[t + 1] - row[t]);
  }
};

/// Reads FIMI's format: integers from 0 to 4294967295 separated by spaces, one transaction per
/// line. A duplicate item in a line counts once; a line without items is a transaction. Ids are in
/// the order of the integers, which are the names. SPMF's lines that begin with `#`, `%` or `@` are
/// no transactions, nor are empty lines directly after them; `@ITEM=1=apple` names an item. Throws
/// `error` for anything else, for a table of 0 and 1 (equally many in all lines, with duplicates in
/// some), and for a file without lines. `warn` receives a message if the text is not UTF-8.
transactions read_fimi(context const& ctx, std::string const& path,
                       std::function<void(std::string const&)> const& warn = {});

struct basket_options {
  char separator = ' ';  ///< between names; a space: any run of spaces and tabs
  bool pairs = false;    ///< each line is a basket id and one of its items, in any order
  /// Lines to skip at the beginning of the file. Without a value, the first line may be a header;
  /// with 0, it never is.
  std::optional<std::size_t> skip_lines{};
  std::optional<bool> comments{};  ///< whether lines that begin with `#`, `%` or `@` are comments
  std::function<void(std::string const&)> warn{};  ///< may be empty
};

/// Reads items by name: one transaction per line, names between spaces, or between `separator` and
/// trimmed. A name that begins with a double quote ends with one; quotes inside are doubled.
/// Separators at the end of a line are ignored. Ids are in byte order of the names. Lines that
/// begin with `#` or `%` and a space are comments, as are SPMF's lines that begin with `@` and
/// capitals, and empty lines directly after comments; `warn` reports their number. Otherwise as
/// read_fimi.
///
/// Throws `error` for an empty name between others, an unclosed quote, any other line that begins
/// with `#`, `%` or `@` unless `comments` decides, a control character, lists in brackets, sets
/// in braces, rules with `=>`, an id before the items, a header of common names, a table of yes and
/// no, and a file without lines; for pairs, also for an id such as `NA`. `warn` reports lines that
/// look like pairs or a table with a header, other separators within items, first items that number
/// lines or items or end with ':', items that all end with a number, and `nan` and similar values.
/// Pairs may have a header of common names, with further columns besides ids and items, which
/// `warn` reports.
transactions read_baskets(context const& ctx, std::string const& path,
                          basket_options const& options = {});

/// Converts documents to transactions: their items, named by feature and range (`12:[0.25,0.5)`,
/// `12:missing`), and with `labels` one item for each label that occurs (`label=2`), after the
/// others. `fitted` must be the discretizer that made `data`.
transactions transactions_of(binned_dataset const& data, discretizer const& fitted, bool labels);

}  // namespace rulerank::datasets
