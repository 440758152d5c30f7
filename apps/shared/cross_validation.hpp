#pragma once

#include "apps/shared/arguments.hpp"
#include "apps/shared/ranker_arguments.hpp"
#include "apps/shared/sampler_arguments.hpp"
#include "apps/shared/tune_arguments.hpp"
#include "experiment/report.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The cross-validation over folds that the verbs experiment and pipeline do.
namespace rulerank::apps {

/// What is asked for, and how: the options of `add_cross_validation_to`, and the folders.
struct cross_validation_arguments {
  std::string folds;    ///< folder with Fold1, Fold2, ...
  std::string out_dir;  ///< folder for all that is written
  std::string reduce_sizes = "3,4";
  std::string rank_sizes = "3,4";
  std::string baselines = "full,random,feature";
  std::size_t random_draws = 10;
  std::vector<std::string> scores;
  std::string metrics = "MAP,NDCG@1,NDCG@10,MeanNDCG";
  std::string profile = "letor";
  std::uint64_t permutations = 100'000;
  std::string format = "table";
  std::string tune;  ///< metrics to tune by in each fold; empty: no tuning
  tune_arguments tuned;
  reading_arguments reading;
  discretizer_arguments discretizer;
  sampler_arguments sampler;
  ranker_arguments ranker;
};

/// Everything but --folds, --out-dir and how files are read.
void add_cross_validation_to(CLI::App& verb, cross_validation_arguments& a);

/// The outputs that `cross_validate` writes besides the folds' own, for `session::outputs`.
std::vector<session::named_output> outputs_of(cross_validation_arguments const& a);

/// Throws `usage_error` for options that make no sense, before any work.
void check(session& owner, cross_validation_arguments const& a);

struct cross_validation {
  experiment::settings settings;
  experiment::report report;
};
/// Runs the folds, or takes the results of an earlier run, compares the systems and writes tables,
/// results.json and manifest.json.
cross_validation cross_validate(session& owner, cross_validation_arguments const& a);

}  // namespace rulerank::apps
