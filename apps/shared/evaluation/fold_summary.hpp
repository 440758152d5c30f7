#pragma once

#include "apps/shared/session/session.hpp"
#include "datasets/split.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// Maximum number of folds.
inline constexpr std::size_t most_folds = 1'000'000;

/// Registers the files of LETOR's folds in the folder as the verb's outputs.
void name_folds(session& owner, std::string const& out_dir, std::size_t folds);

/// Reports the output of `split` and `sample`; with --json prints the folder and, for each fold,
/// its folder and the numbers of documents and queries of each set.
void print_folds(session& owner, std::string const& out_dir,
                 std::vector<datasets::written_fold> const& folds);

}  // namespace rulerank::apps
