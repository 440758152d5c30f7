#pragma once

#include "apps/shared/arguments.hpp"
#include "apps/shared/sampler_arguments.hpp"
#include "apps/shared/session.hpp"
#include "experiment/fold_files.hpp"
#include "experiment/fold_result.hpp"
#include "experiment/settings.hpp"
#include "l2r/options.hpp"

#include <cstddef>
#include <string>

namespace rulerank::experiment {

/// How a fold is worked on.
struct fold_work {
  apps::reading_arguments reading;
  apps::discretizer_arguments discretizer;
  apps::sampler_arguments sampler;  ///< its rule size is not looked at
  l2r::ranker_options ranker;       ///< likewise
  std::string out_dir;
};

/// The parts of a fold as inputs of `reading_arguments`, for group files: three a fold.
enum part : std::size_t { train_part, vali_part, test_part, parts_a_fold };

/// Reads, discretises, reduces, tunes, ranks and evaluates one fold, the `index`-th. Writes under
/// `out_dir` runs/, scores/, reduced/ and tuned/, but not the result itself, whose inputs are the
/// caller's. `fingerprint` is the result's, and that of trials to be taken from an earlier run.
fold_result run_fold(apps::session& owner, settings const& s, fold_work const& work,
                     fold_files const& files, std::size_t index, std::string const& fingerprint);

/// Makes a folder and its parents. Throws `output_error`.
void make_folder(std::string const& path);

}  // namespace rulerank::experiment
