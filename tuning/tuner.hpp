#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "l2r/options.hpp"
#include "tuning/space.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerank::tuning {

/// The documents to rank by and the whole validation part as items, by the same cuts.
struct prepared {
  datasets::binned_dataset training;
  datasets::binned_dataset validation;
};
/// Called once for each way to cut that a search comes to.
using prepare_fn = std::function<prepared(cuts const&)>;

/// More queries to judge candidates by: those of the training documents, dealt into `folds` by the
/// context's seed; each fold is ranked by the rules of the others' documents. (Stone,
/// Cross-validatory choice and assessment of statistical predictions, 1974.) The cuts, which no
/// label is looked at for, stay those of all documents.
struct cross_fitting {
  std::size_t folds = 0;  ///< 2 or more; 0: the validation queries alone
  /// The documents of `prepared::training`, in its order; outlives the tuner. Not looked at for 0.
  datasets::dataset const* training = nullptr;
};

/// How to search. Rung k of K looks at a keep^(k + 1 - K) share of the queries to judge by, at
/// least one; the rungs' queries are nested, the last rung has all. Each rung but the first tries
/// the best of the rung before it, one in `keep`, rounded up. One rung is a grid search.
/// (Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter
/// optimization, AISTATS 2016: successive halving.)
struct search_options {
  std::size_t rungs = 3;
  std::size_t keep = 2;
  /// So many candidates are chosen, whose scores l2r::combine makes one of.
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
nlohmann::ordered_json to_json(search_options const& options);

/// One candidate on one rung.
struct trial {
  std::size_t candidate = 0;
  std::size_t rung = 0;
  std::size_t queries = 0;     ///< looked at, those of the rungs below included
  std::vector<double> values;  ///< average over these queries, one a measure
};

struct search_result {
  std::vector<trial> trials;  ///< in the order tried
  /// The members: trials of the highest rung, the largest averages first, among equals the first
  /// candidate; fewer than asked for where it tried fewer.
  std::vector<std::size_t> chosen;
  std::size_t candidates = 0;  ///< those there are
  std::size_t tried = 0;       ///< those of the first rung
};

/// Tries ways to rank on the validation part: each one ranks it by the rules of the training
/// documents. With cross-fitting also on the training documents. What a candidate got on a query is
/// kept, so that no rung, search or later run does it again. A trial's values do not depend on
/// threads, engines or what was tried before it.
class tuner {
 public:
  /// What is referred to outlives it. Of `how` engine and memory alone matter. Queries are drawn by
  /// the context's seed. Throws `usage_error` without candidates or measures and for more folds
  /// than training queries, `error` naming the validation part for a document without a label.
  tuner(context const& ctx, datasets::dataset const& validation, std::vector<candidate> candidates,
        std::vector<eval::measure> measures, eval::profile rules, prepare_fn prepare,
        l2r::ranker_options how = {}, cross_fitting crossed = {});

  /// Searches by the `measure`-th measure. `after` is called after each trial.
  search_result search(context const& ctx, std::size_t measure, search_options const& options,
                       std::function<void()> const& after = {});

  /// What the combination of candidates gets on all queries to judge by, one average a measure.
  std::vector<double> judge(context const& ctx, std::span<std::size_t const> members);

  /// Of cross-fitting; 0: none.
  std::size_t folds() const noexcept { return crossed_.folds; }
  std::vector<candidate> const& candidates() const noexcept { return candidates_; }
  std::vector<eval::measure> const& measures() const noexcept { return measures_; }

  /// What every candidate got so far, query by query, as JSON text. `fingerprint` stands for all
  /// that the values depend on besides the candidates.
  std::string state(std::string const& fingerprint) const;
  /// Takes over what an earlier run's `state` holds of these candidates; how many there were.
  /// Throws `error` naming `name` for another text or another fingerprint.
  std::size_t restore(std::string_view text, std::string const& fingerprint,
                      std::string const& name);

 private:
  /// Queries that the same documents rank. The places of the validation part's queries come first,
  /// then those of the training part.
  struct piece {
    std::vector<std::size_t> places;     // ascending
    std::vector<std::size_t> documents;  // theirs, in their part, ascending
    datasets::dataset data;
    bool crossed = false;             // of the training part
    std::vector<std::size_t> ranked;  // where crossed: the training documents to rank by
  };
  using block = std::vector<piece>;

  std::vector<std::size_t> plan(context const& ctx, search_options const& options) const;
  trial measure(context const& ctx, std::size_t candidate, std::size_t rung, std::size_t queries);
  void extend(context const& ctx, std::size_t candidate, std::size_t queries);
  block const& block_of(std::size_t from, std::size_t to);
  prepared const& prepared_for(cuts const& how);
  std::vector<double> score(context const& ctx, std::size_t candidate, piece const& what);
  std::vector<double> average(std::vector<double> const& values, std::size_t queries) const;

  datasets::dataset const& validation_;
  std::vector<candidate> candidates_;
  std::vector<eval::measure> measures_;
  eval::profile rules_;
  prepare_fn prepare_;
  l2r::ranker_options how_;
  cross_fitting crossed_;
  std::vector<std::size_t> fold_;            // of the training queries
  std::vector<std::size_t> order_;           // of the queries
  std::vector<std::size_t> done_;            // [candidates] queries of `order_` looked at
  std::vector<std::vector<double>> values_;  // [candidates] [queries x measures] by query
  std::map<std::pair<std::size_t, std::size_t>, block> blocks_;
  std::map<cuts, prepared> prepared_;
};

}  // namespace rulerank::tuning
