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

/// Reads features to join, as `read_dataset`: rows in any order, with or without labels. `chosen`:
/// the features to read; in delimited text, the other columns and the labels may hold anything,
/// including text with line ends. Empty: all. Throws as `read_dataset`, and `error` for a chosen
/// column that delimited text lacks.
dataset read_columns(context const& ctx, std::string const& path,
                     std::span<std::string const> chosen = {},
                     std::function<void(std::string const&)> const& warn = {});
/// Does this with text in memory.
dataset parse_columns(context const& ctx, std::string text, std::string name,
                      std::span<std::string const> chosen = {},
                      std::function<void(std::string const&)> const& warn = {});

/// The key of a row of columns to join: a query, a document, or a pair of both.
struct join_key {
  bool query = true, document = true;
};

/// A data set with additional features.
struct joined_features {
  dataset data;                        ///< without lines, in the pool's format
  std::vector<std::string> columns;    ///< joined features, by feature number
  std::vector<std::uint32_t> numbers;  ///< [columns] their numbers in `data`
  std::size_t matched = 0;             ///< documents of the pool that have a row in the columns
  std::size_t unknown = 0;             ///< rows of the columns without a document
  std::optional<std::size_t> first_unknown;  ///< one of them
  join_key key;
};

/// Adds features of the rows with the same qid and docid to the documents of a pool. Delimited
/// columns without a qid are joined by docid, those without a docid by qid. A document without such
/// a row gets missing values (NaN); labels of `columns` are ignored. Named columns that are added
/// to numbered features get the next numbers, in name order. `chosen`: the names of the features to
/// join; empty: all. Throws `error` with the position for a row without a docid, a duplicate key in
/// `columns`, columns without qid and docid or without a feature, a chosen feature that is missing,
/// a feature that the pool already has, and numbered columns for named features. Several threads
/// may call it at once.
joined_features join_features(dataset const& pool, dataset const& columns,
                              std::span<std::string const> chosen = {});

}  // namespace rulerank::datasets
