#pragma once

#include "core/context.hpp"
#include "datasets/trec.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

// Fuses several runs into one. Threads: any thread may call these functions at any time. Several
// threads may read an object at once, or one may change it.
namespace rulerank::inline v0::knn {

/// The fused score of a document: s_r is its score in run r times the run's weight, and n is the
/// number of runs that contain the document. Definitions as in ranx (Bassani and Romelli 2022,
/// ranx.fuse: a Python library for metasearch; ranx 0.3.21). Sums add the runs in order.
enum class fusion_method : std::uint8_t {
  rrf,       ///< sum of 1 / (rrf_k + rank) (Cormack, Clarke and Büttcher 2009)
  isr,       ///< n times the sum of 1 / rank^2 (Mourão, Martins and Magalhães 2015)
  comb_sum,  ///< sum of s_r (Fox and Shaw 1994, Combination of multiple searches, as those below)
  comb_mnz,  ///< n times the sum
  comb_anz,  ///< the sum over n
  comb_max,  ///< the largest s_r
  comb_min,  ///< the smallest s_r
  comb_med,  ///< the median; the mean of the middle two for an even number
};

/// Normalizes the scores of a query in a run, over its m documents there, before fusion. A divisor
/// below 1e-9 becomes 1e-9. A document that the run lacks has no score (0 in sums), except with
/// borda.
enum class score_norm : std::uint8_t {
  none,
  min_max,  ///< (s - min) / (max - min)
  max,      ///< s / max
  sum,      ///< (s - min) / (sum - m min)
  zmuv,     ///< (s - mean) / standard deviation: zero mean, unit variance
  rank,     ///< 1 - (rank - 1) / m
  /// 1 - (rank - 1) / c for c documents in all runs together; 1/2 - (m - 1) / (2 c) for a document
  /// that the run lacks, unless the run lacks the query.
  borda,
};

/// Parses rrf, isr, combsum, combmnz, combanz, combmax, combmin or combmed. Throws `usage_error`
/// that lists these names.
fusion_method fusion_method_from(std::string_view name);
std::string_view name_of(fusion_method method);
std::span<std::string_view const> fusion_method_names();
/// Parses none, min-max, max, sum, zmuv, rank or borda. Throws `usage_error` that lists these
/// names.
score_norm score_norm_from(std::string_view name);
std::string_view name_of(score_norm norm);
std::span<std::string_view const> score_norm_names();

/// Returns whether a method uses only ranks.
constexpr bool ignores_scores(fusion_method method) {
  return method == fusion_method::rrf || method == fusion_method::isr;
}

struct fusion_options {
  fusion_method method = fusion_method::rrf;
  score_norm norm = score_norm::min_max;  ///< ignored by rrf and isr
  double rrf_k = 60;                      ///< constant of rrf; not negative
  std::vector<double> weights{};          ///< one per run, not negative; empty: all 1
  std::size_t depth = 0;                  ///< documents kept per query; 0: all
  /// One per run: whether its scores are distances. The smallest distance is the best; its negative
  /// is fused. Empty: no run has distances. Not allowed with the norm `max`, which needs scores
  /// above 0.
  std::vector<bool> distances{};
};

/// Fuses two or more runs into one. Ranks start at 1, by descending score; equal scores keep the
/// order of their run. Fused documents are ordered by descending fused score; equal ones by the
/// first run that contains them, then by their order there. Queries are in the order of their first
/// occurrence, run after run; a run without a query has no documents for it. The result is the
/// same, bit for bit, for any number of threads.
///
/// Throws `usage_error` for fewer than two runs and for contradictory options. Throws `error` that
/// names the run if a query contains a document twice, if a score is not finite, and if scores are
/// so far apart that their fused values exceed a double.
datasets::run fuse(context const& ctx, std::span<datasets::run const> runs,
                   fusion_options const& options = {});

/// Returns whether the scores of a run ascend within each query, in at least one strictly. Then
/// they are distances, or the run is reversed.
bool ascends(datasets::run const& run);

}  // namespace rulerank::knn
