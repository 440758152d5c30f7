#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "datasets/vectors.hpp"
#include "knn/neighbours.hpp"
#include "knn/searcher.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// Parses a similarity of dense search by its name in `search dense --metric`: l2, ip
/// (inner_product) or cosine. Throws `usage_error` that lists the names.
///
/// The value of two vectors x and y is defined to the bit, in double precision, without fused
/// operations, over dimensions in ascending order: l2 is the root of the sum of (x_i - y_i)^2;
/// inner_product is the sum of x_i y_i; cosine is that sum divided by the product of the roots of
/// the sums of x_i^2 and y_i^2, or 0 if one of these is 0. Under l2, rows are ordered by the sum
/// before the root.
similarity dense_similarity_from(std::string_view name);

/// `flat` gives the defined values and order, bit for bit. The other engines are published ones,
/// for GPUs and, mpi_knn, for processes of one thread each that divide the queries (builds with
/// MPI). They sum in single precision, so their order may differ if values are closer than its
/// rounding error (docs/reference/modules/knn-dense.md has the bounds). Without rounding, as with
/// small integers, their order and their values of l2 and inner products are the defined ones.
enum class dense_engine { automatic, flat, ppk, ppb, sbq, gs, mpi_knn };

struct dense_index_options {
  similarity metric = similarity::l2;
  dense_engine engine = dense_engine::automatic;
};

using dense_engine_info = engine_info<dense_engine>;
/// Lists the engines of this build.
std::span<dense_engine_info const> dense_engines();
/// Returns "auto" for `automatic`.
std::string_view name_of(dense_engine e);
/// Throws `usage_error` that lists the names.
dense_engine dense_engine_from(std::string_view name);

/// The rows that a search may return: bit r % 64 of word r / 64 is row r; (rows + 63) / 64 words. A
/// row must be in all given filters.
struct dense_filter {
  std::span<std::uint64_t const> rows;      ///< for every query; empty: all
  std::span<std::uint64_t const> of_query;  ///< [queries][words]; empty: all
};

/// Counts of a search's work. With several threads, the counts may vary between runs.
struct dense_search_work {
  std::uint64_t recomputed = 0;  ///< flat: pairs of query and row computed by the definition
  /// flat: queries with more candidates than expected. On the CPU, some were computed by the
  /// definition before the last row was read. On GPUs, more rows than a block sorts were computed,
  /// or all rows, or the rows were searched again.
  std::uint64_t widened = 0;
  /// Counts of an engine's own, by name; `flat` has none.
  engine_counts counts{};
  /// flat on GPUs: seconds from the first to the last copy of each batch, on the slowest device.
  double device_s = 0;
  /// flat on GPUs: devices that searched for at least one query of a call; the maximum over calls.
  std::uint64_t devices = 0;

  dense_search_work& operator+=(dense_search_work const& more) {
    recomputed += more.recomputed;
    widened += more.widened;
    add(counts, more.counts);
    device_s += more.device_s;
    devices = std::max(devices, more.devices);
    return *this;
  }
};

/// Vectors prepared for exact search: rows of one type, float32, float16, bfloat16, int8 or uint8.
///
/// Several threads may call all const functions of an index at once; no other call may run during
/// `add`.
class dense_index {
 public:
  /// Keeps `rows`, which share their memory, and one number for each row. `ids`: any integers that
  /// `id_of` returns, one per row; empty: row numbers. Throws `usage_error` for another type of
  /// values, for 2^32 - 1 or more rows, and if there is not one id per row. Throws `error` naming
  /// the first row with a value that is NaN or infinite.
  dense_index(context const& ctx, datasets::vectors rows, dense_index_options const& options = {},
              std::vector<std::int64_t> ids = {});
  ~dense_index();
  dense_index(dense_index&&) noexcept;

  /// Writes rows, ids and metric to a file that `open` reads, whole or not at all. Only this file
  /// format stores bfloat16 rows. Throws `output_error`.
  void save(context const& ctx, std::string const& path) const;
  /// Reads a file that `save` wrote into memory and verifies its checksums, so later changes of the
  /// file have no effect. Throws `error` naming the file if it differs from what was written or
  /// memory is too small, and as the constructor.
  static dense_index open(context const& ctx, std::string const& path,
                          dense_engine engine = dense_engine::automatic);

  /// Appends a copy of rows of the same type and dimensions; an empty index takes both from the
  /// first added rows. `ids` must be given if and only if the other rows have ids. A search returns
  /// the same as in an index made of all rows at once. Throws as the constructor, and then leaves
  /// the index unchanged.
  void add(context const& ctx, datasets::vectors const& rows,
           std::span<std::int64_t const> ids = {});

  std::size_t size() const noexcept;
  std::size_t dimensions() const noexcept;
  datasets::element type() const noexcept;
  similarity metric() const noexcept;
  dense_engine engine() const noexcept;
  /// Whether rows have their own ids; otherwise the id of a row is its number.
  bool has_ids() const noexcept;
  /// Returns the id of a row; `row` must be below `size()`.
  std::int64_t id_of(std::uint32_t row) const;
  /// Returns the ids of search results, -1 for `no_neighbour`.
  std::vector<std::int64_t> ids_of(std::span<std::uint32_t const> rows) const;

  /// Returns the k nearest rows of each query, filled with `no_neighbour` if there are fewer rows,
  /// or fewer in the filters. Queries may have any type that rows may have, even if the rows have
  /// another type. A larger k returns the same first k rows. Throws `usage_error` for a k of 0,
  /// queries of other dimensions, filters of another size, and results that exceed memory. Throws
  /// `error` naming the first query with a value that is NaN or infinite. Adds its work to `*work`
  /// unless it is null.
  neighbours search(context const& ctx, datasets::vectors const& queries, std::size_t k,
                    dense_filter const& filter = {}, dense_search_work* work = nullptr) const;

  /// Returns the rows whose value is at most `radius` under l2, or at least `radius` under other
  /// metrics. Throws as `search`, and `usage_error` for a radius that is NaN, negative under l2, or
  /// so large that the results exceed memory.
  rows_in_range search_range(context const& ctx, datasets::vectors const& queries, double radius,
                             dense_filter const& filter = {},
                             dense_search_work* work = nullptr) const;

 private:
  friend struct dense_index_access;
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

/// Makes a searcher for queries among the rows of indexes, which are consecutive parts of a
/// collection: all parts or, with `is_split`, the parts of this process of the context. Ids are
/// those of the indexes. Adds its work to `*work` unless it is null; several threads may use the
/// searcher at once only if it is null. Throws `usage_error` for several parts or `is_split` with
/// an engine other than `flat`. Collective if `is_split`.
std::unique_ptr<searcher> make_searcher(context const& ctx,
                                        std::vector<std::shared_ptr<dense_index const>> parts,
                                        datasets::vectors queries, bool is_split = false,
                                        dense_search_work* work = nullptr);

}  // namespace rulerank::knn
