#pragma once

#include "apps/shared/session/session.hpp"
#include "datasets/split.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// The most folds that may be asked for.
inline constexpr std::size_t most_folds = 1'000'000;

/// Names the files of LETOR's folds in that folder as the verb's outputs.
void name_folds(session& owner, std::string const& out_dir, std::size_t folds);

/// Says what `split` and `sample` wrote; with --json prints it: the folder and, of each fold, its
/// own folder and the numbers of documents and queries of each set.
void print_folds(session& owner, std::string const& out_dir,
                 std::vector<datasets::written_fold> const& folds);

}  // namespace rulerank::apps
