#pragma once
// Data sets from arrays in memory.

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// A matrix of values, row by row; rows are documents, columns are features. NaN: missing.
/// `Value` is float or double.
template <class Value>
struct dense_rows {
  Value const* values = nullptr;  ///< row d begins at `values + d * stride`
  std::size_t documents = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;  ///< values from one row to the next, at least `columns`
};

/// The same in compressed sparse rows: the entries of row d are [row[d], row[d + 1]) of `columns`
/// and `values`, columns in any order and distinct. What has no entry is unlisted, not 0.
/// `Index` is std::int32_t or std::int64_t.
template <class Value, class Index>
struct csr_rows {
  std::span<Index const> row;      ///< [N + 1], from 0, not falling
  std::span<Index const> columns;  ///< [entries], from 0
  std::span<Value const> values;   ///< [entries]
};

/// What documents have beside their values. An empty list: none of them has one.
struct document_arrays {
  std::span<std::int32_t const> labels;        ///< [N] 0 or more, or `unlabelled`
  std::span<std::string_view const> qids;      ///< [N] a query's rows are together; or
  std::span<std::size_t const> group_sizes;    ///< documents of queries 1, 2, ...
  std::span<std::string_view const> ids;       ///< [N] without blanks; "": none
  std::span<std::string_view const> comments;  ///< [N]
  std::span<std::uint32_t const> features;     ///< of the columns, ascending; default: 1, 2, ...
  std::string name = "arrays";                 ///< for messages
  /// Also makes the lines, `LABEL qid:QID FEATURE:VALUE ... # COMMENT`, which `write_lines` writes.
  bool lines = false;
};

/// A data set of the rows: each value is copied once, in parallel, into memory of its own; with
/// neither qids nor group sizes all documents are the query "1". An id becomes `docid = ID` in
/// front of the comment that has not got it, so that `write_svmlight` writes a text that reads back
/// as the same documents. Throws `error` (its line is the row, from 1) for an infinite value, a
/// column out of range or listed twice, a negative label, a qid, id or comment that a line cannot
/// hold, and a query whose rows are apart; `usage_error` for lengths that do not agree.
/// Several threads may call it at once.
template <class Value>
dataset make_dataset(context const& ctx, dense_rows<Value> const& rows,
                     document_arrays const& about);
template <class Value, class Index>
dataset make_dataset(context const& ctx, csr_rows<Value, Index> const& rows,
                     document_arrays const& about);

/// Labels that come as numbers, for `eval::labelled_queries`.
struct numeric_labels {
  std::vector<std::int32_t> whole;  ///< [N] rounded down; `unlabelled` for -1
  std::vector<double> fractional;   ///< [N] as they came, or empty where all are whole
};

/// Throws `error` (its file is `name`, its line the row, from 1) for a label that is NaN, infinite,
/// beyond std::int32_t or below 0 and not -1. Several threads may call it at once.
numeric_labels labels_from(std::span<double const> values, std::string const& name);

}  // namespace rulerank::datasets
