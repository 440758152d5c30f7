#pragma once

#include "datasets/vectors.hpp"
#include "datasets/vectors/part.hpp"
#include "knn/dense/row_files.hpp"
#include "knn/dense/search.hpp"
#include "knn/searched_collection.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// The rows of a file that a process indexes.
struct dense_rows_part {
  datasets::vectors_part part;
  std::vector<std::int64_t> ids;  ///< one a row; empty: none
};
/// Reads the rows of a file: all, or where it is split this process's part. `ids`: the file of the
/// rows' ids, all of them whole numbers; empty: none. Throws `error`, and `usage_error` for
/// 2^32 - 1 rows and more.
dense_rows_part read_dense_rows(context const& ctx, std::string const& path,
                                datasets::vectors_format format, std::string const& ids,
                                bool is_split);

/// Dense rows: an index of all, or indexes of parts.
class dense_collection final : public item_collection {
 public:
  /// Whether an engine searches an index in parts: only one that gives the defined values and
  /// order.
  static bool searches_parts(dense_engine engine);
  explicit dense_collection(dense_index whole);
  /// The index in a file, or in parts: `is_split` as in `open_parts`. Throws `error`, and
  /// `usage_error` for an engine that does not search parts.
  static dense_collection open(context const& ctx, std::string const& path, dense_engine engine,
                               bool is_split = false);
  /// Values of the rows that `open` gives this process, by the sizes of files. Throws `error`.
  static double expected_values(context const& ctx, std::string const& path, bool is_split);
  /// An index in parts: `is_split`: this process's share of the parts, else all of them. Throws
  /// `error`.
  static dense_collection open_parts(context const& ctx, index_parts const& all,
                                     dense_engine engine, bool is_split);
  /// An index of rows that were read: of all, or where it is split of this process's part. `ids`:
  /// of these rows, or none.
  dense_collection(context const& ctx, datasets::vectors_part part, bool is_split,
                   dense_index_options const& options, std::vector<std::int64_t> ids);

  /// Writes the index to a file: of a part to that of this process, with the list of parts.
  void save(context const& ctx, std::string const& path) const;

  /// Of the first part here, where there is one (`has_parts`).
  dense_index const& first_index() const { return indexes_.front(); }
  /// Whether rows are called by their numbers.
  bool has_numbers() const { return names_.empty() && !has_ids_; }
  /// Calls all rows so, whatever ids the index has.
  void call_rows(row_ids names) { names_ = std::move(names); }

  std::optional<std::string> id_of(std::uint32_t row) const override;
  bool has_ids_in_parts() const override { return is_split_ && names_.empty() && has_ids_; }

 private:
  dense_collection() = default;
  friend class dense_search;
  void add(std::size_t first, dense_index index);
  std::vector<dense_index> indexes_;  // of the parts
  bool has_ids_ = false;              // rows have ids in the index
  row_ids names_;
};

/// A search for vectors among dense rows. The collection, the filter and the work outlive it.
class dense_search final : public collection_with_radius {
 public:
  /// `filter`: of all rows of the collection. `work`: where the work is added up, or null: then
  /// several threads may search at once. Throws `usage_error` for a filter of another size.
  dense_search(dense_collection const& rows, datasets::vectors queries,
               dense_filter const& filter = {}, dense_search_work* work = nullptr);

  std::optional<std::string> id_of(std::uint32_t row) const override { return rows_.id_of(row); }
  bool has_ids_in_parts() const override { return rows_.has_ids_in_parts(); }
  /// Not to processes of an engine that has even shares.
  bool may_be_dealt() const override { return !has_even_shares(); }
  batch_limits limits(context const& ctx) const override;

 private:
  bool has_even_shares() const;
  /// The filter of some queries among the rows of a part.
  struct part_filter {
    std::vector<std::uint64_t> rows, of_query;
    operator dense_filter() const { return {rows, of_query}; }
  };
  part_filter filter_of(extent const& part, index_range queries) const;
  dense_filter filter_of(index_range queries) const;
  neighbours nearest_of_whole(context const& ctx, index_range queries,
                              std::size_t k) const override;
  std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                std::size_t k) const override;
  rows_in_range within_whole(context const& ctx, index_range queries, double radius) const override;
  std::vector<part_rows_in_range> within_parts(context const& ctx, index_range queries,
                                               double radius) const override;

  dense_collection const& rows_;
  datasets::vectors queries_;
  dense_filter filter_;
  dense_search_work* work_;
};

}  // namespace rulerank::knn
