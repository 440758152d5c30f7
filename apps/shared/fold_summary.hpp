#pragma once

#include "apps/shared/session.hpp"
#include "datasets/split.hpp"

#include <string>
#include <vector>

namespace rulerank::apps {

/// With --json, prints what `split` and `sample` wrote: the folder and, of each fold, its own
/// folder and how many documents and queries each part has.
void print_folds(session const& owner, std::string const& out_dir,
                 std::vector<datasets::written_fold> const& folds);

}  // namespace rulerank::apps
