#pragma once

#include <cmath>

// Estimates of search times in seconds, for `worth_gpus` (core/device_rule.hpp). The rates were
// fitted once to the measurements that the comments name; nothing is calibrated at run time.
namespace rulerank::inline v0::knn {

/// Bytes of English text per word, including separators.
inline constexpr double bytes_a_term = 6;

/// Estimates the time of a text search on one CPU thread. `terms`: total over all queries.
inline double text_search_seconds(double documents, double terms) {
  constexpr double pairs_a_second = 5e10;
  return documents * terms / pairs_a_second;
}

/// Estimates the time of a dense search on one CPU thread, in batches of 128 queries. A single
/// query takes longer, on the CPU and with the copy of the rows to a GPU.
inline double dense_search_seconds(double rows, double dimensions, double queries) {
  constexpr double products_a_second = 4e10;
  return rows * dimensions * queries / products_a_second;
}

/// The estimated time of a search in a metric space: on one CPU thread with the index that `auto`
/// chooses, and on one GPU without CUDA's start.
struct search_seconds {
  double thread_s = 0;
  double gpu_s = 0;
};

/// Words under the edit distance. `radius`: infinite for a search of the nearest words.
inline search_seconds word_search_work(double words, double queries, double radius) {
  // Pairs of a query and a word per second, most of which the index excludes: for some nearest
  // words, for radii of 2 or more, and for smaller radii (bench/results/metric-gpu, edit-distance).
  constexpr double nearest_rate = 1e9, wide_rate = 1.8e9, narrow_rate = 7.5e9;
  // One H200, from queries to results on the host (bench/results/metric-gpu). The slowest measured
  // case: the 32 nearest words, and words within 3.
  constexpr double gpu_nearest_rate = 3e10, gpu_range_rate = 7e9;
  double const pairs = words * queries;
  if (std::isinf(radius)) return {pairs / nearest_rate, pairs / gpu_nearest_rate};
  return {pairs / (radius < 2 ? narrow_rate : wide_rate), pairs / gpu_range_rate};
}

/// Vectors under a metric; `l2`: under Euclidean distance, which dense search computes.
inline search_seconds metric_search_work(double rows, double dimensions, double queries, bool l2) {
  // Rows × dimensions × queries per second: in an index that excludes two thirds of the objects (lc
  // for the 10 nearest, bench/results/metric), and under l2 by dense search (the 10 nearest,
  // bench/results/metric-dense).
  constexpr double rate = 7e9, l2_rate = 2.1e10;
  // One H200, as above, for a search that returns 0.1 % of the vectors.
  constexpr double gpu_rate = 4e11;
  double const values = rows * dimensions * queries;
  return {values / (l2 ? l2_rate : rate), values / gpu_rate};
}

}  // namespace rulerank::knn
