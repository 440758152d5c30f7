#pragma once

#include "core/device_memory.hpp"
#include "core/stream.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/flat_part_cuda.cuh"
#include "knn/dense/flat_search_cuda.cuh"
#include "knn/packed_arrays.hpp"
#include "knn/staged_memory.cuh"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

// Batches of queries of `flat` on a device: memory that successive batches reuse, and the order of
// the kernels.
namespace rulerank::inline v0::knn {

/// The plan of a search, from k and the number of queries.
struct flat_plan {
  flat_plan(std::size_t k, std::size_t queries, std::size_t capacity_wanted = 0);
  /// Returns the plan with space for so many candidates per query, as far as a batch allows.
  flat_plan with_space_for(std::uint32_t handed) const;

  bool scans = true;            ///< false: all rows are computed and sorted
  std::uint32_t sample_of = 1;  ///< a sample has one in so many rows
  std::size_t all_sampled = 0;  ///< if the rows have at most so many values, a sample has all rows
  std::uint32_t groups = 0;     ///< fewest groups of a sample
  std::uint32_t capacity = 0;   ///< most candidates of a query
  /// A sample is taken if there are more rows.
  std::uint32_t sample_above = 0;
  std::uint32_t sorted = 0;  ///< candidates that are computed
};

/// The queries of a request that form a batch.
struct flat_batch_request {
  dense_request const* request = nullptr;
  std::span<std::uint32_t const> queries;  ///< their numbers
  std::span<float const> limits;           ///< [queries] that are known, or empty
  bool last = false;                       ///< if there is too little space, compute all rows
};

/// Receives the results of queries; the lists of a query's parts grow by `add`.
struct flat_sink {
  /// Keys and rows (numbers in the part), nearest first. If the batch scans, the results of a query
  /// that was not widened stay valid until the batch is used again.
  std::function<void(std::uint32_t query, double const* keys, std::uint32_t const* rows,
                     std::size_t count)>
      add;
  /// A query to search again below a limit, counted as widened, with its number of candidates.
  std::function<void(std::uint32_t query, float limit, std::uint32_t handed)> again;
  std::function<void(std::uint32_t query)> widened;
};

/// Made and used with its device current, by one thread at a time.
class flat_batch {
 public:
  flat_batch() : limits_(allow_scans()) {}

  /// Whether bounds separate near rows from far ones; otherwise all rows are computed for each
  /// query.
  static bool scans(flat_plan const& plan, std::size_t dimensions) {
    return plan.scans && dimensions <= most_shadow_dimensions;
  }
  /// The largest number of queries in a batch.
  static std::size_t most_queries(flat_plan const& plan, dense_request const& request,
                                  std::size_t dimensions, std::size_t rows);

  /// Searches the rows of a part for the queries.
  void search(flat_part const& part, flat_plan const& plan, flat_batch_request const& of,
              flat_sink const& to, dense_search_work& work);

 private:
  void stage(flat_part const& part, flat_plan const& plan, flat_batch_request const& of);
  void lay_out(shadow_rows const& rows, flat_plan const& plan);
  void run(flat_part const& part, flat_plan const& plan, bool scans);
  void settle_crowded(flat_part const& part);
  void compute(flat_part const& part, std::uint32_t q, std::uint32_t query, flat_sink const& to);

  scan_limits limits_;
  stream on_;
  event begin_, end_;
  staged_memory input_, output_;
  device_buffer<std::byte> space_;
  device_buffer<float> maxima_;
  device_buffer<std::byte> sort_space_;
  flat_queries queries_;
  flat_results results_;
  packed_array<double> keys_;
  packed_array<std::uint32_t> rows_, found_, computed_;
  packed_array<query_state> state_;
  packed_array<float> better_;
  std::size_t output_bytes_ = 0;
};

}  // namespace rulerank::knn
