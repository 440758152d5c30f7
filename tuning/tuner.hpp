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

/// The documents to rank by and the whole validation set as items, by the same cuts.
struct prepared {
  datasets::binned_dataset training;
  datasets::binned_dataset validation;
};
/// Makes both by the given cuts; called once for each way to cut that a search comes to, from the
/// thread that searches.
using prepare_fn = std::function<prepared(cuts const&)>;

/// More queries to judge candidates by: those of the training documents, dealt into `folds` by the
/// context's seed; each fold is ranked by the rules of the others' documents. (Stone,
/// Cross-validatory choice and assessment of statistical predictions, 1974.) The cuts, which do
/// not depend on labels, stay those of all documents.
struct cross_fitting {
  std::size_t folds = 0;  ///< 2 or more; 0: the validation queries alone
  /// The documents of `prepared::training`, in its order; outlives the tuner. Unused for 0 folds
  /// where all candidates are rules.
  datasets::dataset const* training = nullptr;
};

/// How to search. Rung k of K uses a keep^(k + 1 - K) share of the queries to judge by, at
/// least one; the rungs' queries are nested, the last rung has all. Each rung but the first tries
/// the best of the rung before it, one in `keep`, rounded up. One rung is a grid search.
/// (Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter
/// optimization, AISTATS 2016: successive halving.)
struct search_options {
  std::size_t rungs = 3;
  std::size_t keep = 2;
  /// The number of candidates that are chosen; l2r::combine makes one score of theirs.
  std::size_t members = 1;
  /// Trials of all rungs at most, 0: no budget. As many candidates are drawn, by the context's
  /// seed, as make whole rungs of that many trials.
  std::size_t max_trials = 0;
  /// 0: no budget. Candidates come in an order drawn by the seed, each rung has its equal share of
  /// the time and tries one candidate at least; a trial that has begun is ended.
  double max_seconds = 0;
  std::function<double()> seconds;  ///< since the search began; empty: by the steady clock
};

/// Throws `usage_error` for what makes no sense.
void check(search_options const& options);

/// One candidate on one rung.
struct trial {
  std::size_t candidate = 0;
  std::size_t rung = 0;
  std::size_t queries = 0;     ///< judged by, those of the rungs below included
  std::vector<double> values;  ///< average over these queries, one a measure
};

/// What a search chose beside defaults, on all queries to judge by.
struct against_defaults {
  std::vector<std::size_t> candidates;  ///< the defaults; several rank together
  std::size_t queries = 0;
  std::vector<double> values;  ///< averages of the defaults, one a measure
  std::vector<double> found;   ///< of what the search chose
  eval::mean_interval gain;    ///< of the differences by query, with 95 % confidence
  bool kept = false;           ///< the defaults: the average chosen by is not above theirs
};

struct search_result {
  std::vector<trial> trials;  ///< in the order tried
  /// The members: trials of the highest rung, the largest averages first, among equals the first
  /// candidate; fewer than asked for where it tried fewer.
  std::vector<std::size_t> chosen;
  std::size_t candidates = 0;       ///< those there are
  std::size_t tried = 0;            ///< those of the first rung
  std::size_t compared_trials = 0;  ///< the last ones: beside the search, of defaults that are kept
  std::optional<against_defaults> compared;
  /// What is chosen in the end, beside others that the choice does not depend on.
  std::optional<against_defaults> beside;
};

/// Tries ways to rank on the validation set: each one ranks it by the rules of the training
/// documents. With cross-fitting also on the training documents. What a candidate got on a query is
/// kept, so that no rung, search or later run does it again. A trial's values do not depend on
/// threads, engines or what was tried before it.
///
/// Over processes (context::processes) `search` deals the trials of a rung, eight a process at
/// a time, or one where there is a budget of seconds; each process has all values. `prepare` is
/// called on any of them, and the first one's `seconds` count.
///
/// Threads: one call at a time for one tuner, the constant functions included; several tuners may
/// work at once, also on the same data sets.
class tuner {
 public:
  /// `validation`, the cross-fitting's training set and what `prepare` refers to outlive it. Of
  /// `how` the engine and its memory alone are used. Queries are drawn by the context's seed.
  /// Throws `usage_error` without candidates or measures, for more folds than training queries, and
  /// for candidates of other kinds than rules without the documents to learn from,
  /// `error` naming the validation set for a document without a label.
  tuner(context const& ctx, datasets::dataset const& validation, std::vector<candidate> candidates,
        std::vector<eval::measure> measures, eval::profile rules, prepare_fn prepare,
        l2r::engine_options engine = {}, cross_fitting crossed = {});

  /// Searches by the `measure`-th measure. `after` is called after each trial, over processes when
  /// all have its values.
  search_result search(context const& ctx, std::size_t measure, search_options const& options,
                       std::function<void()> const& after = {});

  /// Compares what a search by the `measure`-th measure chose with defaults, one candidate or
  /// several that rank together, and chooses these instead where it gained nothing: `compared` says
  /// so, and `trials` ends with theirs, of each alone, where they are not on the last rung. The
  /// choice was made on the same queries, so that the gain is rather too large than too small.
  /// Throws `usage_error` without defaults.
  void compare(context const& ctx, std::size_t measure, std::vector<candidate> const& defaults,
               search_result& result);

  /// Compares what is chosen with others, one candidate or several that rank together, and changes
  /// nothing but `beside`. Throws `usage_error` without others.
  void judge_beside(context const& ctx, std::size_t measure, std::vector<candidate> const& others,
                    search_result& result);

  /// The averages of the combination of candidates over all queries to judge by, one a measure.
  std::vector<double> judge(context const& ctx, std::span<std::size_t const> members);

  /// Of cross-fitting; 0: none.
  std::size_t folds() const noexcept { return crossed_.folds; }
  /// Those given, and behind them defaults that are none of them, once they were compared with.
  std::vector<candidate> const& candidates() const noexcept { return candidates_; }
  std::vector<eval::measure> const& measures() const noexcept { return measures_; }

  /// What every candidate got so far, query by query, as JSON text. `fingerprint` stands for all
  /// that the values depend on besides the candidates.
  std::string state(std::string const& fingerprint) const;
  /// Takes over what an earlier run's `state` holds of these candidates; returns their number.
  /// Throws `error` naming `name` for another text or another fingerprint.
  std::size_t restore(std::string_view text, std::string const& fingerprint,
                      std::string const& name);

 private:
  /// Queries of one set that are ranked by the same documents. Queries are numbered through: those
  /// of the validation set come first, then those of the training set.
  struct query_batch {
    std::vector<std::size_t> queries;    // ascending
    std::vector<std::size_t> documents;  // theirs, in their set, ascending
    datasets::dataset data;
    bool crossed = false;              // of the training set
    std::size_t fold = 0;              // where crossed: its number from 1
    std::vector<std::size_t> ranking;  // where crossed: the training documents to rank by
  };

  std::vector<std::size_t> plan(context const& ctx, search_options const& options) const;
  trial measure(context const& ctx, std::size_t candidate, std::size_t rung, std::size_t queries);
  void extend(context const& ctx, std::size_t candidate, std::size_t queries);
  /// extend() of several candidates by all processes.
  void share_out(context const& ctx, std::span<std::size_t const> candidates, std::size_t queries);
  std::vector<query_batch> const& batches_of(std::size_t from, std::size_t to);
  prepared const& prepared_for(cuts const& how);
  std::vector<double> score(context const& ctx, std::span<std::size_t const> members,
                            query_batch const& batch);
  /// A member of another kind than rules, fitted on what ranks the batch.
  l2r::model_member const& fitted_for(context const& ctx, std::size_t candidate,
                                      query_batch const& batch);
  void evaluate(context const& ctx, query_batch const& batch, std::vector<double> const& scores,
                std::vector<double>& values) const;
  std::vector<double> average(std::vector<double> const& values, std::size_t queries) const;
  /// [queries x measures] of the combination of candidates, by query.
  std::vector<double> values_of(context const& ctx, std::span<std::size_t const> members);
  std::size_t place_of(candidate const& of);
  against_defaults difference(context const& ctx, std::size_t by,
                              std::vector<candidate> const& defaults, search_result const& result);
  /// The place of a candidate's trial on all queries, of rung `last`, added where there is none.
  std::size_t trial_of(context const& ctx, std::size_t candidate, std::size_t last,
                       search_result& result);

  datasets::dataset const& validation_;
  std::vector<candidate> candidates_;
  std::size_t searched_ = 0;  // the first of them, those that were given
  std::vector<eval::measure> measures_;
  eval::profile rules_;
  prepare_fn prepare_;
  l2r::engine_options engine_;
  cross_fitting crossed_;
  std::vector<std::size_t> fold_;            // of the training queries
  std::vector<std::size_t> order_;           // of the queries
  std::vector<std::size_t> done_;            // [candidates] queries of `order_` judged by
  std::vector<std::vector<double>> values_;  // [candidates] [queries x measures] by query
  std::map<std::pair<std::size_t, std::size_t>, std::vector<query_batch>> batches_;
  std::map<cuts, prepared> prepared_;
  std::map<std::pair<std::size_t, std::size_t>, l2r::model_member> fitted_;  // candidate, fold
};

/// A tuner's trials on disk: what an earlier run left is taken over, and a file that is whole at
/// any time is written every few seconds, at the end, and when the search is interrupted. Of
/// several processes the first has the file, and tells the others what is in it. Threads: as the
/// tuner that it refers to.
class trials_file {
 public:
  /// An empty path: no file. Throws `error` for a file that is not one of trials, or of others.
  trials_file(tuner& t, std::string path, std::string fingerprint);
  /// How many candidates an earlier run had tried.
  std::size_t found() const noexcept { return found_; }
  /// tuner::search, then tuner::compare, then tuner::judge_beside where `others` are given, with
  /// their trials kept: what ends it early is thrown on after they are written. The defaults are
  /// the program's for rules where no others are given.
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

/// A row for each candidate tried: its settings, and rung, queries and values of its last trial;
/// the highest rung first, on a rung the largest value of the `by`-th measure, equals in the order
/// of the candidates. The first rows are what the search chose.
eval::table trials_table(tuner const& t, search_result const& result, std::size_t by,
                         std::size_t rungs);

}  // namespace rulerank::tuning
