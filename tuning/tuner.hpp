#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "eval/significance.hpp"
#include "eval/table.hpp"
#include "l2r/model/model.hpp"
#include "l2r/rules/options.hpp"
#include "tuning/search_space.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerank::inline v0::tuning {

/// The documents to rank by and the whole validation set as items, binned by the same cuts.
struct prepared {
  datasets::binned_dataset training;
  datasets::binned_dataset validation;
};
/// Makes both for the given cuts. Called once per kind of cuts that a search tries, from the
/// searching thread.
using prepare_fn = std::function<prepared(cuts const&)>;

/// Adds the training documents' queries to judge candidates by: the context's seed deals them into
/// `folds`, and each fold is ranked by rules from the other folds. (Stone, Cross-validatory choice
/// and assessment of statistical predictions, 1974.) The cuts do not depend on labels and are those
/// of all documents.
struct cross_fitting {
  std::size_t folds = 0;  ///< 2 or more; 0: use only the validation queries
  /// The documents of `prepared::training`, in its order; must outlive the tuner. Unused if folds
  /// is 0 and all candidates are rules.
  datasets::dataset const* training = nullptr;
};

/// Options of a search by successive halving (Jamieson and Talwalkar, Non-stochastic best arm
/// identification and hyperparameter optimization, AISTATS 2016). Rung k of K uses a keep^(k + 1 -
/// K) share of the queries, at least one; the rungs' queries are nested, and the last rung uses
/// all. Each rung but the first tries the best of the previous one, one in `keep`, rounded up. One
/// rung is a grid search.
struct search_options {
  std::size_t rungs = 3;
  std::size_t keep = 2;
  /// The number of candidates to choose; l2r::combine combines their scores.
  std::size_t members = 1;
  /// Maximum number of trials over all rungs; 0: no budget. Candidates are sampled by the context's
  /// seed, as many as complete all rungs within the budget.
  std::size_t max_trials = 0;
  /// Time budget; 0: none. Candidates are tried in random order by the seed. Each rung has an equal
  /// share of the time and tries at least one candidate; a trial in progress is completed.
  double max_seconds = 0;
  std::function<double()> seconds;  ///< time since the start of the search; empty: by the steady
                                    ///< clock
};

/// Throws `usage_error` for invalid options.
void check(search_options const& options);

/// One candidate on one rung.
struct trial {
  std::size_t candidate = 0;
  std::size_t rung = 0;
  std::size_t queries = 0;     ///< number judged by, including those of lower rungs
  std::vector<double> values;  ///< [measures] averages over these queries
};

/// A search's choice compared with defaults, on all queries to judge by.
struct against_defaults {
  std::vector<std::size_t> candidates;  ///< the defaults; several are combined
  std::size_t queries = 0;
  std::vector<double> values;  ///< [measures] averages of the defaults
  std::vector<double> found;   ///< [measures] averages of the search's choice
  eval::mean_interval gain;    ///< difference by query, 95 % confidence
  bool kept = false;           ///< the defaults were kept: the deciding average is not above theirs
};

struct search_result {
  std::vector<trial> trials;  ///< in the order tried
  /// The chosen members, as trials of the highest rung: largest averages first, among equals the
  /// first candidate; fewer than requested if it tried fewer.
  std::vector<std::size_t> chosen;
  std::size_t candidates = 0;       ///< number of candidates
  std::size_t tried = 0;            ///< number tried on the first rung
  std::size_t compared_trials = 0;  ///< trailing trials outside the search, of defaults that were
                                    ///< kept
  std::optional<against_defaults> compared;
  /// The final choice compared with others that do not affect the choice.
  std::optional<against_defaults> beside;
};

/// Tries ways to rank: each candidate ranks the validation set by rules of the training documents;
/// with cross-fitting, also the training documents. A candidate's results by query are kept, so
/// that no rung, search or later run repeats them. A trial's values do not depend on threads,
/// engines or earlier trials.
///
/// Over processes (context::processes), `search` deals a rung's trials, eight per process at a
/// time, or one if there is a time budget; every process gets all values. `prepare` is called on
/// any process; the first one's `seconds` counts.
///
/// Threads: no concurrent calls on one tuner, not even of const functions; several tuners may work
/// at once, even on the same data sets.
class tuner {
 public:
  /// Keeps references to `validation`, the cross-fitting's training set and what `prepare` refers
  /// to. Uses only the engine and its memory from `how`. Samples queries by the context's seed.
  /// Throws `usage_error` for no candidates or measures, for more folds than training queries, and
  /// for candidates other than rules without documents to learn from; `error` naming the validation
  /// set for an unlabelled document.
  tuner(context const& ctx, datasets::dataset const& validation, std::vector<candidate> candidates,
        std::vector<eval::measure> measures, eval::profile rules, prepare_fn prepare,
        l2r::engine_options engine = {}, cross_fitting crossed = {});

  /// Searches by the `measure`-th measure. Calls `after` after each trial; over processes, once all
  /// have its values.
  search_result search(context const& ctx, std::size_t measure, search_options const& options,
                       std::function<void()> const& after = {});

  /// Compares a search's choice by the `measure`-th measure with defaults (one candidate, or
  /// several combined) and chooses the defaults instead if the search gained nothing. `compared`
  /// has the result; trials of each default that is not on the last rung are appended to `trials`.
  /// The choice used the same queries, so the gain is biased upwards. Throws `usage_error` without
  /// defaults.
  void compare(context const& ctx, std::size_t measure, std::vector<candidate> const& defaults,
               search_result& result);

  /// Compares the choice with others (one candidate, or several combined); changes only `beside`.
  /// Throws `usage_error` without others.
  void judge_beside(context const& ctx, std::size_t measure, std::vector<candidate> const& others,
                    search_result& result);

  /// [measures] averages of combined candidates over all queries to judge by.
  std::vector<double> judge(context const& ctx, std::span<std::size_t const> members);

  /// Number of folds of cross-fitting; 0: none.
  std::size_t folds() const noexcept { return crossed_.folds; }
  /// The given candidates, then further defaults that were compared with.
  std::vector<candidate> const& candidates() const noexcept { return candidates_; }
  std::vector<eval::measure> const& measures() const noexcept { return measures_; }

  /// All results so far, by query, as JSON text. `fingerprint`: identifies all other inputs of the
  /// values.
  std::string state(std::string const& fingerprint) const;
  /// Loads results of these candidates from an earlier run's `state`; returns the number of
  /// candidates found. Throws `error` naming `name` for invalid text or another fingerprint.
  std::size_t restore(std::string_view text, std::string const& fingerprint,
                      std::string const& name);

 private:
  /// Queries of one set that are ranked by the same documents. Query numbers run through the
  /// validation set, then the training set.
  struct query_batch {
    std::vector<std::size_t> queries;    // ascending
    std::vector<std::size_t> documents;  // of these queries, in their set, ascending
    datasets::dataset data;
    bool crossed = false;              // from the training set
    std::size_t fold = 0;              // if crossed: its number from 1
    std::vector<std::size_t> ranking;  // if crossed: the training documents to rank by
  };

  std::vector<std::size_t> plan(context const& ctx, search_options const& options) const;
  trial measure(context const& ctx, std::size_t candidate, std::size_t rung, std::size_t queries);
  void extend(context const& ctx, std::size_t candidate, std::size_t queries);
  /// extend() for several candidates on all processes.
  void share_out(context const& ctx, std::span<std::size_t const> candidates, std::size_t queries);
  std::vector<query_batch> const& batches_of(std::size_t from, std::size_t to);
  prepared const& prepared_for(cuts const& how);
  std::vector<double> score(context const& ctx, std::span<std::size_t const> members,
                            query_batch const& batch);
  /// A member of another kind than rules, fitted to the documents that rank the batch.
  l2r::model_member const& fitted_for(context const& ctx, std::size_t candidate,
                                      query_batch const& batch);
  void evaluate(context const& ctx, query_batch const& batch, std::vector<double> const& scores,
                std::vector<double>& values) const;
  std::vector<double> average(std::vector<double> const& values, std::size_t queries) const;
  /// [queries x measures] of combined candidates, by query.
  std::vector<double> values_of(context const& ctx, std::span<std::size_t const> members);
  std::size_t place_of(candidate const& of);
  against_defaults difference(context const& ctx, std::size_t by,
                              std::vector<candidate> const& defaults, search_result const& result);
  /// Index of a candidate's trial on all queries, on rung `last`; appended if missing.
  std::size_t trial_of(context const& ctx, std::size_t candidate, std::size_t last,
                       search_result& result);

  datasets::dataset const& validation_;
  std::vector<candidate> candidates_;
  std::size_t searched_ = 0;  // the leading ones, which were given
  std::vector<eval::measure> measures_;
  eval::profile rules_;
  prepare_fn prepare_;
  l2r::engine_options engine_;
  cross_fitting crossed_;
  std::vector<std::size_t> fold_;            // [training queries]
  std::vector<std::size_t> order_;           // permutation of the queries
  std::vector<std::size_t> done_;            // [candidates] number of queries of `order_` judged by
  std::vector<std::vector<double>> values_;  // [candidates] [queries x measures] by query
  std::map<std::pair<std::size_t, std::size_t>, std::vector<query_batch>> batches_;
  std::map<cuts, prepared> prepared_;
  std::map<std::pair<std::size_t, std::size_t>, l2r::model_member> fitted_;  // candidate, fold
};

/// A tuner's trials on disk. Loads an earlier run's trials; writes the file atomically every few
/// seconds, at the end, and when the search is interrupted. Over processes the first one has the
/// file and sends its content to the others. Threads: as for the tuner that it refers to.
class trials_file {
 public:
  /// Empty path: no file. Throws `error` for a file without trials, or with trials of other inputs.
  trials_file(tuner& t, std::string path, std::string fingerprint);
  /// The number of candidates that an earlier run had tried.
  std::size_t found() const noexcept { return found_; }
  /// Calls tuner::search, tuner::compare and, if `others` are given, tuner::judge_beside, and
  /// stores their trials; an exception propagates after they are written. Default `defaults`: the
  /// program's for rules.
  search_result search(context const& ctx, std::size_t measure, search_options const& options,
                       std::vector<candidate> const& defaults = {candidate{}},
                       std::vector<candidate> const& others = {});

 private:
  void write() const;

  tuner& tuner_;
  std::string path_;
  std::string fingerprint_;
  std::size_t found_ = 0;
  bool told_ = false;
};

/// A row per candidate tried: its settings, and the rung, queries and values of its last trial. The
/// highest rung first; within a rung by decreasing `by`-th measure, ties in candidate order. The
/// first rows are the search's choice.
eval::table trials_table(tuner const& t, search_result const& result, std::size_t by,
                         std::size_t rungs);

}  // namespace rulerank::tuning
