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

// Batches of queries of `flat` on a device: memory that stays from one to the next, and the order
// of the kernels.
namespace rulerank::inline v0::knn {

/// How a search is done: by k and how many queries there are.
struct flat_plan {
  flat_plan(std::size_t k, std::size_t queries, std::size_t capacity_wanted = 0);
  /// The same with space for queries that have handed on so many rows, as far as a batch goes.
  flat_plan with_space_for(std::uint32_t handed) const;

  bool scans = true;            ///< else all rows are computed and sorted
  std::uint32_t sample_of = 1;  ///< a sample has a row in so many, or all
  std::size_t all_sampled = 0;  ///< values of rows of which it has all, at most
  std::uint32_t groups = 0;     ///< at least
  std::uint32_t capacity = 0;   ///< rows that a query may hand on
  /// Of more rows there is a sample.
  std::uint32_t sample_above = 0;
  std::uint32_t sorted = 0;  ///< rows of it that are computed
};

/// Queries of a request that a batch is made of.
struct flat_batch_request {
  dense_request const* request = nullptr;
  std::span<std::uint32_t const> queries;  ///< their numbers
  std::span<float const> limits;           ///< [queries] that are known, or empty
  bool last = false;  ///< where there is too little space, all rows are computed
};

/// What comes of a query: the lists of its parts grow by `add`.
struct flat_sink {
  /// Keys and rows by their number in the part, nearest first. Where the batch scans, those of a
  /// query that was not widened stay there until it is used again.
  std::function<void(std::uint32_t query, double const* keys, std::uint32_t const* rows,
                     std::size_t count)>
      add;
  /// A query to search again below a limit, counted as widened, which handed on so many rows.
  std::function<void(std::uint32_t query, float limit, std::uint32_t handed)> again;
  std::function<void(std::uint32_t query)> widened;
};

/// Made and used with its device current, by one thread at a time.
class flat_batch {
 public:
  flat_batch() : limits_(allow_scans()) {}

  /// Whether bounds tell rows apart; else all are computed for each query.
  static bool scans(flat_plan const& plan, std::size_t dimensions) {
    return plan.scans && dimensions <= most_shadow_dimensions;
  }
  /// How many queries a batch may have.
  static std::size_t most_queries(flat_plan const& plan, dense_request const& request,
                                  std::size_t dimensions, std::size_t rows);

  /// Searches for the queries in the rows of a part.
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
