#pragma once

#include "core/context.hpp"
#include "datasets/trec.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

// Several runs as one. Threads: functions may be called from any number of threads at once; an
// object may be read by several threads at once, or changed by one.
namespace rulerank::inline v0::knn {

/// What a document's scores in several runs become: s_r is the score in run r times the run's
/// weight, and n runs have the document. The definitions are those of ranx (Bassani and Romelli
/// 2022, ranx.fuse: a Python library for metasearch; ranx 0.3.21). Sums run over the runs in their
/// order.
enum class fusion_method : std::uint8_t {
  rrf,       ///< sum of 1 / (rrf_k + rank) (Cormack, Clarke and Büttcher 2009)
  isr,       ///< n times the sum of 1 / rank^2 (Mourão, Martins and Magalhães 2015)
  comb_sum,  ///< sum of s_r (Fox and Shaw 1994, Combination of multiple searches, as those below)
  comb_mnz,  ///< n times the sum
  comb_anz,  ///< the sum over n
  comb_max,  ///< the largest
  comb_min,  ///< the smallest
  comb_med,  ///< the median; of an even number the mean of the two in the middle
};

/// What the scores of a query in a run become before they are fused, over its m documents there;
/// a divisor below 1e-9 is 1e-9. A document that the run lacks has no score, or 0 where a sum asks
/// for one; but with borda it has one.
enum class score_norm : std::uint8_t {
  none,
  min_max,  ///< (s - min) / (max - min)
  max,      ///< s / max
  sum,      ///< (s - min) / (sum - m min)
  zmuv,     ///< (s - mean) / standard deviation: zero mean, unit variance
  rank,     ///< 1 - (rank - 1) / m
  borda,    ///< 1 - (rank - 1) / c, where c documents are in any of the runs; one that the run
            ///< lacks has 1/2 - (m - 1) / (2 c), unless the run has none for the query
};

/// rrf, isr, combsum, combmnz, combanz, combmax, combmin, combmed. Throws `usage_error` that lists
/// the names.
fusion_method fusion_method_from(std::string_view name);
std::string_view name_of(fusion_method method);
std::span<std::string_view const> fusion_method_names();
/// none, min-max, max, sum, zmuv, rank, borda. Throws `usage_error` that lists the names.
score_norm score_norm_from(std::string_view name);
std::string_view name_of(score_norm norm);
std::span<std::string_view const> score_norm_names();

/// Whether a method goes by ranks alone, whatever the scores are.
constexpr bool ignores_scores(fusion_method method) {
  return method == fusion_method::rrf || method == fusion_method::isr;
}

struct fusion_options {
  fusion_method method = fusion_method::rrf;
  score_norm norm = score_norm::min_max;  ///< not of rrf and isr
  double rrf_k = 60;                      ///< rrf; 0 and more
  std::vector<double> weights{};          ///< one a run, 0 and more; empty: all 1
  std::size_t depth = 0;                  ///< documents of a query that are kept; 0: all
  /// One a run, whether its scores are distances: the smallest is the best, and a score is fused as
  /// its negative. Empty: none are. Not with the norm `max`, which needs scores above 0.
  std::vector<bool> distances{};
};

/// One run of two or more. Ranks are by score, descending, from 1; of equal scores the document
/// that stands first in its run comes first. Fused documents are in the order of their fused
/// scores, descending, equal ones in the order of the first run that has them, those of an earlier
/// run first. Queries are in the order in which the runs, one after the other, first have them; a
/// run without a query has no documents for it. The same bits for any number of threads.
///
/// Throws `usage_error` for fewer than two runs and for options that make no sense; `error` that
/// names the run for a document that a query has twice, a score that is not finite, and scores so
/// far apart that doubles do not hold what they become.
datasets::run fuse(context const& ctx, std::span<datasets::run const> runs,
                   fusion_options const& options = {});

/// Whether the scores of a run ascend in each of its queries, in some of them strictly: they are
/// distances, or the run is upside down.
bool ascends(datasets::run const& run);

}  // namespace rulerank::knn
