#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "datasets/vectors.hpp"
#include "knn/neighbours.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// What makes vectors near here: l2, inner_product or cosine, by the names that `search dense
/// --metric` takes: l2, ip, cosine. Throws `usage_error` that lists the names.
///
/// The value of two vectors x and y is defined to the bit. In double precision, without fused
/// operations, over rising dimensions from 0 on: l2 is the root of the sum of (x_i - y_i)^2;
/// inner_product the sum of x_i y_i; cosine that sum over the product of the roots of the sums of
/// x_i^2 and y_i^2, 0 where one of these is 0. Nearest first: l2 by the sum before the root.
similarity dense_similarity_from(std::string_view name);

/// `flat` gives the defined values and order, bit for bit. The others are published ones, for GPUs
/// and, mpi_knn, for processes of one thread each that share out the queries (builds with MPI):
/// they sum in single precision, and their order may be another where values are nearer than its
/// rounding (docs/reference/modules/knn-dense.md has the bounds); where it rounds nothing, as with
/// small integers, their order and the values of l2 and inner products are the defined ones.
enum class dense_engine { automatic, flat, ppk, ppb, sbq, gs, mpi_knn };

struct dense_index_options {
  similarity metric = similarity::l2;
  dense_engine engine = dense_engine::automatic;
};

using dense_engine_info = engine_info<dense_engine>;
/// The engines of this build.
std::span<dense_engine_info const> dense_engines();
/// "auto" for `automatic`.
std::string_view name_of(dense_engine e);
/// Throws `usage_error` that lists the names.
dense_engine dense_engine_from(std::string_view name);

/// Which rows may be found: bit r % 64 of word r / 64 stands for row r, (rows + 63) / 64 words.
/// A row must be in all filters that are given.
struct dense_filter {
  std::span<std::uint64_t const> rows;      ///< of every query; empty: all
  std::span<std::uint64_t const> of_query;  ///< [queries][words]; empty: all
};

/// The work of a search. Of a run with several threads the numbers may differ from run to run.
struct dense_search_work {
  std::uint64_t recomputed = 0;  ///< flat: pairs of query and row computed by the definition
  /// flat: queries with more rows than expected that bounds could not tell apart: on the CPU some
  /// were computed by the definition before the last row was seen; on GPUs more than a block sorts,
  /// or all, were computed, or the rows were searched again.
  std::uint64_t widened = 0;
  /// gs: batches of queries whose neighbours were selected by searches for the minimum
  /// (`by_minima`) and by bitonic sorts (`by_sorting`). Published engines: nanoseconds of their
  /// kernels, of all devices (`kernel_ns`), and of these of sbq's K-selection or gs's selection
  /// (`selection_ns`).
  engine_counts counts{};
  /// flat on GPUs: seconds from the first copy to the last of each batch, on the slowest device.
  double device_s = 0;
  /// flat on GPUs: devices that searched for some query of a call; the most of all calls.
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

/// Vectors made ready to be searched, exactly: rows of one type, float32, float16, bfloat16, int8
/// or uint8.
///
/// Several threads may call all const functions of an index at once; `add` is called alone.
class dense_index {
 public:
  /// Keeps `rows`, which share their memory, and a number of each. `ids`: labels that `id_of` gives
  /// back, one a row, any numbers; empty: the numbers of the rows. Throws `usage_error` for another
  /// type of values, 2^32 - 1 rows and more, or ids that are not one a row; `error` naming the
  /// first row with a value that is NaN or infinite.
  dense_index(context const& ctx, datasets::vectors rows, dense_index_options const& options = {},
              std::vector<std::int64_t> ids = {});
  ~dense_index();
  dense_index(dense_index&&) noexcept;

  /// Writes rows, ids and metric to a file that `open` reads: whole or not at all. The only file of
  /// rows of bfloat16. Throws `output_error`.
  void save(context const& ctx, std::string const& path) const;
  /// Reads a file that `save` wrote into memory, and compares what it read with the checksums: the
  /// file may change afterwards. Throws `error` naming the file where it is not what was written or
  /// memory does not hold it, and as the constructor does.
  static dense_index open(context const& ctx, std::string const& path,
                          dense_engine engine = dense_engine::automatic);

  /// Appends a copy of rows, of the type and the dimensions that the index has; an index without
  /// rows takes both from the first that are added. With ids where the other rows have some, and
  /// only there. What is found is what an index made of all rows at once finds. Throws as the
  /// constructor does, and leaves the index as it was.
  void add(context const& ctx, datasets::vectors const& rows,
           std::span<std::int64_t const> ids = {});

  std::size_t size() const noexcept;
  std::size_t dimensions() const noexcept;
  datasets::element type() const noexcept;
  similarity metric() const noexcept;
  dense_engine engine() const noexcept;
  /// Whether rows have labels of their own; else the label of a row is its number.
  bool has_ids() const noexcept;
  /// The label of a row; `row` is below `size()`.
  std::int64_t id_of(std::uint32_t row) const;
  /// The labels of rows that were found, -1 for `no_neighbour`.
  std::vector<std::int64_t> ids_of(std::span<std::uint32_t const> rows) const;

  /// The k nearest rows of each query. Queries may be of another type than the rows, of those that
  /// rows may have. Where there are fewer than k rows, or fewer in the filters, `no_neighbour`
  /// stands behind them; the k nearest are the first k of those that a larger k finds. Throws
  /// `usage_error` for a k of 0, queries of other dimensions, filters of another size, or
  /// neighbours that memory does not hold; `error` naming the first query with a value that is NaN
  /// or infinite. `work`: where the work is added up, or null.
  neighbours search(context const& ctx, datasets::vectors const& queries, std::size_t k,
                    dense_filter const& filter = {}, dense_search_work* work = nullptr) const;

  /// The rows whose value is at most `radius` under l2, at least `radius` under the others.
  /// Throws as `search` does, and `usage_error` for a radius that is NaN, or below 0 under l2, or
  /// that has more rows inside than memory holds.
  rows_in_range search_range(context const& ctx, datasets::vectors const& queries, double radius,
                             dense_filter const& filter = {},
                             dense_search_work* work = nullptr) const;

 private:
  friend struct dense_index_access;
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace rulerank::knn
