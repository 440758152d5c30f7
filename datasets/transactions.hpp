#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
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
/// integers, which are the names. Throws `error` for anything else, and for a file without lines.
transactions read_fimi(context const& ctx, std::string const& path);

/// Reads items by name: one transaction a line, names between blanks, or between `separator` with
/// the blanks around them cut off. Else as read_fimi; ids follow the names in the order of their
/// bytes. Throws `error` for an empty name and a file without lines.
transactions read_baskets(context const& ctx, std::string const& path, char separator = ' ');

/// Documents as transactions: their items, named by feature and range (`12:[0.25,0.5)`,
/// `12:missing`), and with `labels` one more for each label that occurs (`label=2`), behind the
/// others. `fitted` is what made `data`.
transactions transactions_of(binned_dataset const& data, discretizer const& fitted, bool labels);

}  // namespace rulerank::datasets
