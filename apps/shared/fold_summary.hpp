#pragma once

#include "apps/shared/session.hpp"
#include "datasets/split.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace rulerank::apps {

/// Refuses a --manifest that is one of the files of LETOR's folds in that folder.
void expect_manifest_beside_folds(session& owner, std::string const& out_dir, std::size_t folds);

/// With --json, prints what `split` and `sample` wrote: the folder and, of each fold, its own
/// folder and the numbers of documents and queries of each part.
void print_folds(session const& owner, std::string const& out_dir,
                 std::vector<datasets::written_fold> const& folds);

}  // namespace rulerank::apps
