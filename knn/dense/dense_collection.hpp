#pragma once

#include "datasets/vectors.hpp"
#include "datasets/vectors/part.hpp"
#include "knn/dense/row_files.hpp"
#include "knn/dense/search.hpp"
#include "knn/searched_collection.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::inline v0::knn {

/// The rows of a file that this process indexes.
struct dense_rows_part {
  datasets::vectors_part part;
  std::vector<std::int64_t> ids;  ///< one per row; empty: none
};
/// Reads the rows of a file: all, or this process's part if `is_split`. `ids`: the file of the
/// rows' ids, all integers; empty: none. Throws `error`, and `usage_error` for 2^32 - 1 or more
/// rows.
dense_rows_part read_dense_rows(context const& ctx, std::string const& path,
                                datasets::vectors_format format, std::string const& ids,
                                bool is_split);

/// Dense rows: one index, or indexes of parts.
class dense_collection final : public item_collection {
 public:
  /// Whether an engine can search an index in parts: only engines with exactly the defined values
  /// and order.
  static bool searches_parts(dense_engine engine);
  explicit dense_collection(dense_index whole);
  /// Holds consecutive parts: all or, with `is_split`, those of this process. Throws as `open`.
  dense_collection(context const& ctx, std::vector<std::shared_ptr<dense_index const>> parts,
                   bool is_split);
  /// Opens the index in a file, or in parts; `is_split` as in `open_parts`. Throws `error`, and
  /// `usage_error` for an engine that does not search parts.
  static dense_collection open(context const& ctx, std::string const& path, dense_engine engine,
                               bool is_split = false);
  /// Returns the number of values in the rows that `open` gives this process, from the sizes of
  /// files. Throws `error`.
  static double expected_values(context const& ctx, std::string const& path, bool is_split);
  /// Opens an index in parts: this process's share if `is_split`, otherwise all. Throws `error`.
  static dense_collection open_parts(context const& ctx, index_parts const& all,
                                     dense_engine engine, bool is_split);
  /// Indexes rows in memory: all, or this process's part if `is_split`. `ids`: of these rows, or
  /// empty.
  dense_collection(context const& ctx, datasets::vectors_part part, bool is_split,
                   dense_index_options const& options, std::vector<std::int64_t> ids);

  /// Writes the index to a file. If the collection is split, writes this process's part and the
  /// list of parts.
  void save(context const& ctx, std::string const& path) const;

  /// The index of the first part here; requires `has_parts`.
  dense_index const& first_index() const { return *indexes_.front(); }
  /// Whether rows are named by their numbers.
  bool has_numbers() const { return names_.empty() && !has_ids_; }
  /// Names all rows by `names`, instead of the ids in the index.
  void call_rows(row_ids names) { names_ = std::move(names); }

  std::optional<std::string> id_of(std::uint32_t row) const override;
  bool has_ids_in_parts() const override { return is_split_ && names_.empty() && has_ids_; }

 private:
  dense_collection() = default;
  friend class dense_search;
  void add(std::size_t first, dense_index index);
  std::vector<std::shared_ptr<dense_index const>> indexes_;  // one per part
  bool has_ids_ = false;                                     // the index has ids of rows
  row_ids names_;
};

/// Returns the sum of the counts of all processes, also of the engine's own, on each process. The
/// seconds and devices are those of this process. Collective.
dense_search_work work_of_all(context const& ctx, dense_search_work work);

/// A search for vectors among dense rows. The collection and the work must outlive it.
class dense_search : public collection_with_radius {
 public:
  /// Adds its work to `*work`; several threads may search at once only if it is null.
  dense_search(dense_collection const& rows, datasets::vectors queries,
               dense_search_work* work = nullptr)
      : collection_with_radius(rows), rows_(rows), queries_(std::move(queries)), work_(work) {}

  std::size_t queries() const noexcept override { return queries_.size(); }
  std::optional<std::string> id_of(std::uint32_t row) const override { return rows_.id_of(row); }
  bool has_ids_in_parts() const override { return rows_.has_ids_in_parts(); }
  /// False for engines whose processes divide the queries evenly.
  bool may_be_dealt() const override { return !has_even_shares(); }
  batch_limits limits(context const& ctx) const override;

 private:
  bool has_even_shares() const;
  bool applies_filter() const override { return true; }
  neighbours nearest_of_whole(context const& ctx, index_range queries,
                              std::size_t k) const override;
  std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                std::size_t k) const override;
  rows_in_range within_whole(context const& ctx, index_range queries, double radius) const override;
  std::vector<part_rows_in_range> within_parts(context const& ctx, index_range queries,
                                               double radius) const override;

  dense_collection const& rows_;
  datasets::vectors queries_;
  dense_search_work* work_;
};

}  // namespace rulerank::knn
