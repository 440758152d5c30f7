#pragma once

#include "apps/shared/session.hpp"
#include "datasets/split.hpp"

#include <string>
#include <vector>

namespace rulerank::apps {

/// With --json, prints what `split` and `sample` wrote: the folder and, of each fold, its own
/// folder and the numbers of documents and queries of each part.
void print_folds(session const& owner, std::string const& out_dir,
                 std::vector<datasets::written_fold> const& folds);

}  // namespace rulerank::apps
