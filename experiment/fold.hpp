#pragma once

#include "experiment/experiment.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace rulerank::inline v0::experiment {

/// What the work on every fold needs. What is referred to outlives it.
struct fold_work {
  options const& what;
  experiment::settings const& settings;  ///< those of `what`, with all that `run` sets
  fold_source const& source;
  sinks const& out;
  /// Takes the bytes of what is written, by name, in the place of the output folder; or null.
  std::map<std::string, std::string>* files = nullptr;
};

/// `Fold` and its number.
std::string fold_name(fold_source const& source, std::size_t fold);

/// Warns where the order of the documents predicts their labels: documents with equal scores, and
/// those with equal rules in a reduced set, are taken in that order.
void warn_of_order(sinks const& out, datasets::dataset const& train);

/// Discretizes, reduces, tunes, ranks and evaluates the `fold`-th fold, whose test set is given.
/// Writes under the output folder, or to `work.files`, runs/, scores/, reduced/ and tuned/, but not
/// the result itself, whose inputs are the caller's. `fingerprint` is the result's, and that of
/// trials to be taken from an earlier run. Adds the engines that ran to `engines`.
fold_result run_fold(context const& ctx, fold_work const& work, std::size_t fold,
                     datasets::dataset test, std::string const& fingerprint,
                     std::map<std::string, std::set<std::string>>& engines);

}  // namespace rulerank::experiment
