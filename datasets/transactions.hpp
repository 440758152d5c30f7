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

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

/// Sets of items. Item ids run from 0; those of transaction t are
/// `items[row[t] .. row[t + 1])`, ascending and distinct.
struct transactions {
  std::string name;                  ///< the path, for messages
  std::vector<std::size_t> row{0};   ///< [N + 1]
  std::vector<std::uint32_t> items;  ///< all transactions, one after the other
  std::vector<std::string> names;    ///< of each item

  std::size_t size() const noexcept { return row.empty() ? 0 : row.size() - 1; }
  std::span<std::uint32_t const> transaction(std::size_t t) const {
    return std::span(items).subspan(row[t], row[t + 1] - row[t]);
  }
};

/// Reads FIMI's form: integers from 0 to 4294967295 separated by blanks, one transaction a line. An
/// item that a line lists twice counts once; a line without items is a transaction. Ids follow the
/// integers, which are the names. SPMF's lines that begin with `#`, `%` or `@` are no transactions,
/// and blank lines right behind them neither; `@ITEM=1=apple` names an item. Throws `error` for
/// anything else, for a table of 0 and 1 (as many in all lines, some twice), and for a file without
/// lines. `warn` hears of text that is not UTF-8.
transactions read_fimi(context const& ctx, std::string const& path,
                       std::function<void(std::string const&)> const& warn = {});

struct basket_options {
  char separator = ' ';            ///< between names; a blank: any run of blanks
  bool pairs = false;              ///< a line is a basket's id and one of its items, in any order
  std::size_t skip_lines = 0;      ///< of the file's begin
  std::optional<bool> comments{};  ///< lines that begin with `#`, `%` or `@`: whether they are none
  std::function<void(std::string const&)> warn{};  ///< may be empty
};

/// Reads items by name: one transaction a line, names between blanks, or between `separator` with
/// the blanks around them cut off. A name that begins with a double quote ends with one; within, a
/// quote stands doubled. Separators at the end of a line are passed over. Ids follow the names in
/// the order of their bytes. Comments are lines of `#` or `%` and a blank, and SPMF's of `@` and
/// capitals, with blank lines right behind them; `warn` gets their number. Otherwise as read_fimi.
/// Throws `error` for an empty name between others, a quote that is not closed, another line that
/// begins with `#`, `%` or `@` where `comments` does not say what it is, a control character, lists
/// in brackets, a header of usual names, a table of yes and no, and a file without lines. `warn`
/// hears of lines that look like pairs or a table below a header, of other separators within items,
/// of first items that number lines or items or end with ':', of items that all end with a number,
/// and of `nan` and its like. Pairs may have a header of usual names, which may have more columns
/// than those of ids and items; `warn` gets the others.
transactions read_baskets(context const& ctx, std::string const& path,
                          basket_options const& options = {});

/// Documents as transactions: their items, named by feature and range (`12:[0.25,0.5)`,
/// `12:missing`), and with `labels` one more for each label that occurs (`label=2`), behind the
/// others. `fitted` is what made `data`.
transactions transactions_of(binned_dataset const& data, discretizer const& fitted, bool labels);

}  // namespace rulerank::datasets
