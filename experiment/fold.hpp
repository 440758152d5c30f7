#pragma once

#include "experiment/experiment.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace rulerank::inline v0::experiment {

/// The inputs common to all folds; references must outlive it.
struct fold_work {
  options const& what;
  experiment::settings const& settings;  ///< those of `what`, with the values that `run` sets
  fold_source const& source;
  sinks const& out;
  /// Receives the bytes of output files by name, instead of the output folder; or null.
  std::map<std::string, std::string>* files = nullptr;
};

/// `Fold` followed by its number.
std::string fold_name(fold_source const& source, std::size_t fold);

/// Warns if the order of the documents predicts their labels, because ties in scores, and in rules
/// of a reduced set, are broken by that order.
void warn_of_order(sinks const& out, datasets::dataset const& train);

/// Discretizes, reduces, tunes, ranks and evaluates the `fold`-th fold; `test`: its test set.
/// Writes runs/, scores/, reduced/ and tuned/ to the output folder or to `work.files`. The caller
/// writes the result itself. `fingerprint`: of the result, and of an earlier run's trials to reuse.
/// Adds the engines used to `engines`.
fold_result run_fold(context const& ctx, fold_work const& work, std::size_t fold,
                     datasets::dataset test, std::string const& fingerprint,
                     std::map<std::string, std::set<std::string>>& engines);

}  // namespace rulerank::experiment
