#pragma once

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/shared/arguments/sampler_arguments.hpp"
#include "apps/shared/arguments/settings_argument.hpp"
#include "apps/shared/arguments/tune_arguments.hpp"
#include "experiment/experiment.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// The options of the cross-validation in the verbs experiment and pipeline.
namespace rulerank::inline v0::apps {

/// The options of `add_cross_validation_to`, and the folders.
struct cross_validation_arguments {
  std::string folds;    ///< folder with Fold1, Fold2, ...
  std::string out_dir;  ///< folder for all output
  std::string reduce_sizes = "3,4";
  std::string rank_sizes = "3,4";
  std::string baselines = "full,random,feature";
  std::size_t random_draws = 10;
  std::vector<std::string> scores;
  std::string metrics = "MAP,NDCG@1,NDCG@10,MeanNDCG";
  std::string profile = "letor";
  std::uint64_t permutations = 100'000;
  std::string format = "table";
  std::string tune;  ///< measures to tune by in each fold; empty: no tuning
  tune_arguments tuned;
  reading_arguments reading;
  discretizer_arguments discretizer;
  sampler_arguments sampler;
  ranker_arguments ranker;
  /// From --settings; empty: the discretizer and the ranker above are the only member. Members use
  /// rules of their own sizes unless --rank-size is given.
  std::vector<ranker_recipe> members;
  bool own_rank_sizes = false;
};

/// Adds all options but --folds, --out-dir and those for reading files.
void add_cross_validation_to(CLI::App& verb, cross_validation_arguments& a);

/// The outputs of `cross_validate` besides the folds' own, for `session::outputs`.
std::vector<session::named_output> outputs_of(cross_validation_arguments const& a);

/// The options of the library. Throws `usage_error` for invalid options.
experiment::options options_of(cross_validation_arguments const& a);

/// How the folds' sets are read.
experiment::file_folds_options folds_reading(cross_validation_arguments const& a);

/// Folds whose errors about unlabelled training or validation documents name --drop-unjudged.
class judged_folds : public experiment::fold_source {
 public:
  explicit judged_folds(experiment::fold_source const& folds) : folds_(folds) {}

  std::size_t size() const override { return folds_.size(); }
  std::uint64_t number(std::size_t fold) const override { return folds_.number(fold); }
  std::map<std::string, std::string> checksums(std::size_t fold) const override {
    return folds_.checksums(fold);
  }
  experiment::data_reading reading() const override { return folds_.reading(); }
  datasets::dataset read(context const& ctx, std::size_t fold, experiment::fold_set which,
                         experiment::message_fn const& warn) const override;
  std::vector<double> scores(context const& ctx, std::size_t fold, std::string const& system,
                             datasets::dataset const& test) const override {
    return folds_.scores(ctx, fold, system, test);
  }

 private:
  experiment::fold_source const& folds_;
};

/// Runs the cross-validation over the folds of --folds, or over given folds. Sends messages, times
/// and engines to the session; writes the manifest next to the results.
experiment::results cross_validate(session& owner, cross_validation_arguments const& a);
experiment::results cross_validate(session& owner, cross_validation_arguments const& a,
                                   experiment::fold_source const& folds,
                                   decltype(experiment::sinks::scores) scores = {});

}  // namespace rulerank::apps
