#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Reads features that are to be joined, as `read_dataset` does: rows in any order, labels or none.
/// `chosen`: the features that are wanted; of delimited text the other columns, and labels, may
/// hold anything, text with line ends too. Empty: all. Throws as `read_dataset` does, and `error`
/// for a chosen column of delimited text that is not there.
dataset read_columns(context const& ctx, std::string const& path,
                     std::span<std::string const> chosen = {},
                     std::function<void(std::string const&)> const& warn = {});
/// The same from memory.
dataset parse_columns(context const& ctx, std::string text, std::string name,
                      std::span<std::string const> chosen = {},
                      std::function<void(std::string const&)> const& warn = {});

/// Data sets whose documents have more features than before.
struct joined_features {
  dataset data;                        ///< without lines, in the pool's form
  std::vector<std::string> columns;    ///< that were joined, by the features' numbers
  std::vector<std::uint32_t> numbers;  ///< [columns] those of these features in `data`
  std::size_t matched = 0;             ///< documents of the pool that the columns have a row for
  std::size_t unknown = 0;             ///< rows of the columns that no document is of
  std::optional<std::size_t> first_unknown;  ///< one of them
};

/// Gives the documents of a pool the features of others with the same qid and docid. A document
/// that has none there has them as missing values (NaN); labels of `columns` are not looked at.
/// Columns with names that come to features by number get the next numbers, in the order of their
/// names.
/// `chosen`: the names of the features that are joined; empty: all. Throws `error` with the place
/// for a row without a docid, a pair of qid and docid that comes twice in `columns`, columns
/// without a qid, a docid or a feature, a chosen one that is not there, one that the pool has
/// already, and for columns by number that come to features by name. Several threads may call it at
/// once.
joined_features join_features(dataset const& pool, dataset const& columns,
                              std::span<std::string const> chosen = {});

}  // namespace rulerank::datasets
