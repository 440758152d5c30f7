#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/model/model.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/rules/ranker.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

// Scores documents by a model: applies cuts and rankers, and combines the members' scores.
namespace rulerank::inline v0::l2r {

/// The mean and standard deviation of the scores of one query's list.
struct list_moments {
  double mean = 0;
  double deviation = 0;  ///< 0 if all scores are equal up to rounding
};

/// Mean and deviation, summed in the order of the scores.
list_moments moments_of(std::span<double const> scores);

/// (score - mean) / deviation; 0 if the deviation is 0.
inline double standardized(double score, list_moments const& list) {
  return list.deviation == 0 ? 0 : (score - list.mean) / list.deviation;
}

/// Combines several rankings: the mean of the members' scores, each standardized within its query's
/// list. Averaging reduces the variance of equally good rankers. (Montague and Aslam, Relevance
/// score normalization for metasearch, CIKM 2001: ZMUV, with CombSUM of Fox and Shaw, Combination
/// of multiple searches, TREC-2, 1994.)
///
/// `members`: scores [documents] of each member; `queries` cover the documents. The scores of a
/// single member are returned unchanged. Throws `usage_error` for no members and for differing
/// sizes.
std::vector<double> combine(std::span<datasets::query_group const> queries,
                            std::span<std::vector<double> const> members);

/// Query lists of documents given as items.
struct binned_lists {
  std::span<datasets::query_group const> queries;  ///< cover the documents
  /// The documents binned by each member's cuts, in the members' order; one entry if all members
  /// have the same cuts. Not null.
  std::vector<datasets::binned_dataset const*> items;
};

/// Scores documents by a model. Members are prepared once. A document's score is that of the only
/// member, or the members' scores combined within the document's list (struct model). It depends on
/// the model and the list alone: the same bits on all engines and for any number of threads.
///
/// Threads: all functions may be called from any number of threads at once, each call with its own
/// context. Class ranker says which engines run concurrently.
class scorer {
 public:
  /// Throws `usage_error` for a model without members and as class ranker does, `device_error` if
  /// the engine cannot run on the context's devices.
  scorer(context const& ctx, l2r::model model, engine_options const& options = {});
  ~scorer();
  scorer(scorer&&) noexcept;
  scorer& operator=(scorer&&) noexcept;

  /// Scores raw documents [documents], query by query; ignores labels. Equal cuts of several
  /// members are applied once. Counts and times are sums over the members.
  scored score(context const& ctx, datasets::dataset const& documents) const;
  /// Scores documents given as items. Throws `usage_error` if the numbers of members or documents
  /// do not match, and for a member that only scores raw documents (`linear`).
  scored score(context const& ctx, binned_lists const& documents) const;
  /// The scores of each member, before they are combined.
  std::vector<scored> score_each(context const& ctx, datasets::dataset const& documents) const;

  l2r::model const& fitted() const noexcept;
  /// The engine of the first member with rules; `automatic` if there is none.
  l2r::engine engine() const noexcept;
  double prepare_s() const noexcept;

 private:
  friend struct scorer_access;
  struct state;
  std::unique_ptr<state const> state_;
};

/// Same result as scorer(ctx, by, options).score(ctx, documents), but prepares one member at a
/// time: for documents that are scored once.
scored score(context const& ctx, model const& by, datasets::dataset const& documents,
             engine_options const& options = {});
scored score(context const& ctx, model const& by, binned_lists const& documents,
             engine_options const& options = {});

}  // namespace rulerank::l2r
