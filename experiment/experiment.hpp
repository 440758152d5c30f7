#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/svmlight.hpp"
#include "eval/significance.hpp"
#include "experiment/report.hpp"
#include "experiment/settings.hpp"
#include "l2r/rules/options.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The whole cross-validation: discretize, reduce, tune, rank, evaluate, compare; and where its
// folds come from.
namespace rulerank::inline v0::experiment {

/// Receives what is odd but valid in an input, or what was done; may be empty.
using message_fn = std::function<void(std::string const&)>;

enum class fold_set { train, vali, test };

/// The folds of a cross-validation as data sets. `run` takes each set at most once, over processes
/// each process what its folds need: first the test
/// sets of all folds, then fold by fold the training set and, where something is chosen by it,
/// the validation set. `run` calls these functions one at a time.
class fold_source {
 public:
  virtual ~fold_source() = default;
  virtual std::size_t size() const = 0;
  /// The number of the `fold`-th fold, 1 or more, which names it (`Fold1`) and draws its random
  /// samples; ascending and distinct.
  virtual std::uint64_t number(std::size_t fold) const = 0;
  /// SHA-256 of all that the fold's results depend on, by name: `Fold1/train.txt`,
  /// `AdaRank/Fold1.score`, ... Results of an earlier run are used where these are the same.
  virtual std::map<std::string, std::string> checksums(std::size_t fold) const = 0;
  /// How data were read, for results.json.
  virtual data_reading reading() const = 0;
  /// Training documents have labels. Throws `error` for bad input.
  virtual datasets::dataset read(context const& ctx, std::size_t fold, fold_set which,
                                 message_fn const& warn) const = 0;
  /// The scores that an outside system gives the fold's test documents, in their order.
  virtual std::vector<double> scores(context const& ctx, std::size_t fold,
                                     std::string const& system,
                                     datasets::dataset const& test) const = 0;
};

/// A method whose scores come from elsewhere, a file a fold.
struct outside_folder {
  std::string name;
  std::string folder;
};

struct file_folds_options {
  bool vali = true;                     ///< validation sets are needed
  std::vector<outside_folder> outside;  ///< folders of scores
  datasets::svmlight_options reading;   ///< its group file is not used
  bool drop_unlabelled = false;         ///< of training and validation sets
  /// LightGBM's group sizes for sets without qid: files of train, vali and test of each fold, or
  /// none.
  std::vector<std::string> group_files;
};

/// Folds in files. Several threads may use one object.
class file_folds final : public fold_source {
 public:
  /// The folders `FoldN` of a folder, N = 1, 2, ... as there are, by ascending N: `train.txt`,
  /// `test.txt` and, where needed, `vali.txt` in each, `FoldN.score`, `FoldN.scores` or `FoldN.txt`
  /// in the folder of each outside system; any of them with `.gz` or `.zst` at its end. Throws
  /// `error` that names what is missing, `usage_error` for another number of group files.
  file_folds(std::string const& folder, file_folds_options options = {});

  /// The input files of one fold.
  struct fold_files {
    std::uint64_t number = 0;
    std::string train;
    std::string vali;  ///< empty where it is not needed
    std::string test;
    std::vector<std::string> outside;  ///< one for each outside system
  };
  std::vector<fold_files> const& folds() const noexcept { return folds_; }
  /// Every file that is read, group files included.
  std::vector<std::string> files() const;

  std::size_t size() const override { return folds_.size(); }
  std::uint64_t number(std::size_t fold) const override { return folds_[fold].number; }
  /// Throws `error` for what is no regular file, such as a pipe: it could not be read twice.
  std::map<std::string, std::string> checksums(std::size_t fold) const override;
  data_reading reading() const override { return reading_; }
  datasets::dataset read(context const& ctx, std::size_t fold, fold_set which,
                         message_fn const& warn) const override;
  std::vector<double> scores(context const& ctx, std::size_t fold, std::string const& system,
                             datasets::dataset const& test) const override;

 private:
  file_folds_options options_;
  std::vector<fold_files> folds_;
  data_reading reading_;
};

/// One fold of a data set in memory: of each set the documents as `datasets::subset` takes them.
struct memory_fold {
  std::uint64_t number = 1;
  std::vector<std::size_t> train, vali, test;
  /// As fold_source::checksums; empty: made of the documents and the outside scores.
  std::map<std::string, std::string> checksums;
};

/// Folds of one data set in memory; a set is copied when it is read. Several threads may use one
/// object.
class memory_folds final : public fold_source {
 public:
  /// Refers to `data`, which outlives it. `outside`: by name a system's scores of all its
  /// documents. `drop_unlabelled`: of training and validation sets. Throws `usage_error` where
  /// sizes do not fit.
  memory_folds(datasets::dataset const& data, std::vector<memory_fold> folds,
               std::map<std::string, std::vector<double>> outside = {},
               bool drop_unlabelled = false);

  std::size_t size() const override { return folds_.size(); }
  std::uint64_t number(std::size_t fold) const override { return folds_[fold].number; }
  std::map<std::string, std::string> checksums(std::size_t fold) const override;
  /// As of files read with svmlight_options{}, and where documents are dropped with the label
  /// `unlabelled`.
  data_reading reading() const override;
  datasets::dataset read(context const& ctx, std::size_t fold, fold_set which,
                         message_fn const& warn) const override;
  std::vector<double> scores(context const& ctx, std::size_t fold, std::string const& system,
                             datasets::dataset const& test) const override;

 private:
  datasets::dataset const& data_;
  std::vector<memory_fold> folds_;
  std::map<std::string, std::vector<double>> outside_;
  bool drop_unlabelled_;
};

/// Where messages and times go; each may be empty. Called from the thread that calls `run`;
/// progress goes to the context's.
struct sinks {
  message_fn warn;  ///< what is odd but valid in an input
  message_fn note;  ///< a fold that is done, taken from an earlier run, or done again
  /// A stage of the work ended and took `seconds`; the same stage may come again. Must not throw.
  std::function<void(std::string_view stage, double seconds)> stage;
  /// The scores that a system gave the test documents of a fold, but those of random draws; not
  /// called for folds that an earlier run finished.
  std::function<void(std::size_t fold, std::string const& system, datasets::dataset const& test,
                     std::span<double const> scores)>
      scores;
};

struct options {
  experiment::settings settings;
  l2r::engine_options engine;  ///< that ranks
  eval::comparison_options compared;
  /// A folder for all that is written; made where it is missing. Empty: nothing is written.
  std::string out_dir;
};

/// How long a fold took.
struct fold_time {
  std::string name;
  std::optional<double> seconds;  ///< none: an earlier run finished it
};

struct results {
  experiment::settings settings;  ///< as asked for, with r_max, and with what `run` sets
  experiment::report report;
  std::map<std::string, std::set<std::string>> engines;  ///< that ran, by `reduce` and `rank`
  std::vector<fold_time> times;
};

/// Runs the folds, or takes their results from an earlier run with the same output folder, settings
/// and inputs, compares the systems, and writes table.md, table.tex, results.json and, of each
/// fold, runs/, scores/, reduced/, tuned/ and, when it is done, folds/FoldN.json, with which a run
/// that was stopped goes on (docs/reference/verbs/experiment.md). The same settings and inputs give
/// the same bytes for any threads and engines. r_max of the profile is the largest label of all
/// test sets. Throws `usage_error` for settings that make no sense, `error` for bad input,
/// `output_error`.
///
/// Over processes (context::processes) the folds are dealt to those that are free; folds that are
/// left when each process has had one more are done by all of them together. The first process
/// alone writes, and calls `note` and `scores`; all return the results.
///
/// Threads: several calls may run at once on output folders of their own.
results run(context const& ctx, options const& what, fold_source const& source,
            sinks const& out = {});

}  // namespace rulerank::experiment
