#pragma once

#include "experiment/settings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace rulerank::experiment {

/// The input files of one fold.
struct fold_files {
  std::uint64_t number = 0;
  std::string name;  ///< `Fold` and its number
  std::string train;
  std::string vali;  ///< empty where nothing is chosen by it
  std::string test;
  std::vector<std::string> outside;  ///< one for each outside system
};

/// The folders `FoldN` of a folder, N = 1, 2, ... as there are, by ascending N: `train.txt`,
/// `test.txt` and with the baseline `feature` or tuning `vali.txt` in each, `FoldN.score`,
/// `FoldN.scores` or `FoldN.txt` in the folder of each outside system; any of them with `.gz` or
/// `.zst` behind. Throws `error` that names what is missing.
std::vector<fold_files> find_folds(std::string const& folder, settings const& s);

}  // namespace rulerank::experiment
