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

/// A matrix of values in row-major order; rows are documents, columns are features. NaN: missing.
/// `Value` is float or double.
template <class Value>
struct dense_rows {
  Value const* values = nullptr;  ///< row d begins at `values + d * stride`
  std::size_t documents = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;  ///< values from one row to the next, at least `columns`
};

/// A matrix in compressed sparse rows: the entries of row d are [row[d], row[d + 1]) of `columns`
/// and `values`, columns distinct and in any order. A feature without an entry is unlisted, not 0.
/// `Index` is std::int32_t or std::int64_t.
template <class Value, class Index>
struct csr_rows {
  std::span<Index const> row;      ///< [N + 1], from 0, not decreasing
  std::span<Index const> columns;  ///< [entries], from 0
  std::span<Value const> values;   ///< [entries]
};

/// The attributes of documents besides their values. An empty list: no document has the attribute.
struct document_arrays {
  std::span<std::int32_t const> labels;        ///< [N] 0 or more, or `unlabelled`
  std::span<std::string_view const> qids;      ///< [N] the rows of a query must be contiguous; or
  std::span<std::size_t const> group_sizes;    ///< documents of queries 1, 2, ...
  std::span<std::string_view const> ids;       ///< [N] without spaces; "": none
  std::span<std::string_view const> comments;  ///< [N]
  /// Numbers of the columns, ascending; default: 1, 2, ...
  std::span<std::uint32_t const> features;
  feature_names const* names = nullptr;  ///< of the features, by number; null: none has a name
  std::string name = "arrays";           ///< for messages
  /// Also generate the lines, `LABEL qid:QID FEATURE:VALUE ... # COMMENT`, which `write_lines`
  /// writes.
  bool lines = false;
};

/// Makes a data set of the rows. Each value is copied once, in parallel. Without qids and group
/// sizes, all documents belong to query "1". An id is inserted as `docid = ID` at the front of a
/// comment that lacks it, so the output of `write_svmlight` reads back as the same documents.
/// Throws `error` (its line is the row, from 1) for an infinite value, a column out of range or
/// listed twice, a negative label, a qid, id or comment that a line cannot hold, and a query whose
/// rows are not contiguous; throws `usage_error` for inconsistent lengths. Several threads may call
/// it at once.
template <class Value>
dataset make_dataset(context const& ctx, dense_rows<Value> const& rows,
                     document_arrays const& about);
template <class Value, class Index>
dataset make_dataset(context const& ctx, csr_rows<Value, Index> const& rows,
                     document_arrays const& about);

/// Labels from numbers, for `eval::labelled_queries`.
struct numeric_labels {
  std::vector<std::int32_t> whole;  ///< [N] rounded down; `unlabelled` for -1
  std::vector<double> fractional;   ///< [N] the given numbers, or empty if all are integers
};

/// Converts labels. Throws `error` (its file is `name`, its line the row, from 1) for a label that
/// is NaN, infinite, beyond std::int32_t, or negative and not -1. Several threads may call it at
/// once.
numeric_labels labels_from(std::span<double const> values, std::string const& name);

}  // namespace rulerank::datasets
