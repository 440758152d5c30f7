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

// Documents to scores: the cuts and rankers of a model, and how their scores become one.
namespace rulerank::inline v0::l2r {

/// The mean and standard deviation of the scores of one query's list.
struct list_moments {
  double mean = 0;
  double deviation = 0;  ///< 0 where all scores are equal, but for rounding
};

/// Sums run in the order of the scores.
list_moments moments_of(std::span<double const> scores);

/// How many deviations a score lies above its list's mean; 0 where there is no deviation.
inline double standardized(double score, list_moments const& list) {
  return list.deviation == 0 ? 0 : (score - list.mean) / list.deviation;
}

/// One ranking of several: the mean of the members' scores, each standardized within its query's
/// list. Averaging reduces the variance of equally good rankers.
/// (Montague and Aslam, Relevance score normalization for metasearch, CIKM 2001: ZMUV, with the
/// sum of Fox and Shaw, Combination of multiple searches, TREC-2, 1994: CombSUM.)
///
/// `members`: scores [documents] of each; `queries` cover them. One member alone is given back as
/// it is. Throws `usage_error` without members and where sizes differ.
std::vector<double> combine(std::span<datasets::query_group const> queries,
                            std::span<std::vector<double> const> members);

/// Query lists whose documents are items already.
struct binned_lists {
  std::span<datasets::query_group const> queries;  ///< together they cover the documents
  /// The same documents by the cuts of each member, in the members' order; or one for all members,
  /// where all have the same cuts. Not null.
  std::vector<datasets::binned_dataset const*> items;
};

/// Scores documents by a model. Members are prepared once. The score of a document is that of the
/// one member, or the members' scores combined within the document's list (struct model): a
/// function of the model and the list, the same bits on all engines and any number of threads.
///
/// Threads: all functions may be called from any number of threads at once, each call with a
/// context of its own; see class ranker for which engines then run side by side.
class scorer {
 public:
  /// Throws `usage_error` for a model without members and for what class ranker refuses,
  /// `device_error` for an engine that cannot run where the context says.
  scorer(context const& ctx, l2r::model model, engine_options const& options = {});
  ~scorer();
  scorer(scorer&&) noexcept;
  scorer& operator=(scorer&&) noexcept;

  /// The scores [documents] of raw documents, query by query; labels are not looked at. Cuts that
  /// are equal among members are applied once. Counts and times are sums over the members.
  scored score(context const& ctx, datasets::dataset const& documents) const;
  /// The same of documents that are items already. Throws `usage_error` where the numbers of
  /// members or documents are others, and for a member that scores raw documents alone (`linear`).
  scored score(context const& ctx, binned_lists const& documents) const;
  /// What each member gives, before scores are combined.
  std::vector<scored> score_each(context const& ctx, datasets::dataset const& documents) const;

  l2r::model const& fitted() const noexcept;
  /// The engine that runs, that of the first member that has rules; `automatic` where none has.
  l2r::engine engine() const noexcept;
  double prepare_s() const noexcept;

 private:
  friend struct scorer_access;
  struct state;
  std::unique_ptr<state const> state_;
};

/// Returns what scorer(ctx, by, options).score(ctx, documents) returns, but prepares one member at
/// a time: for documents that are scored once.
scored score(context const& ctx, model const& by, datasets::dataset const& documents,
             engine_options const& options = {});
scored score(context const& ctx, model const& by, binned_lists const& documents,
             engine_options const& options = {});

}  // namespace rulerank::l2r
