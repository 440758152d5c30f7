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

// A complete cross-validation (discretize, reduce, tune, rank, evaluate, compare) and the sources
// of its folds.
namespace rulerank::inline v0::experiment {

/// Receives a warning about valid but odd input, or a note on progress; may be empty.
using message_fn = std::function<void(std::string const&)>;

enum class fold_set { train, vali, test };

/// The folds of a cross-validation as data sets. `run` reads each set at most once; over processes,
/// each process reads what its folds need. It reads the test sets of all folds first, then fold by
/// fold the training set and, if used, the validation set. `run` calls these functions one at a
/// time.
class fold_source {
 public:
  virtual ~fold_source() = default;
  virtual std::size_t size() const = 0;
  /// The `fold`-th fold's number, 1 or more, ascending and distinct. It names the fold (`Fold1`)
  /// and seeds its random samples.
  virtual std::uint64_t number(std::size_t fold) const = 0;
  /// SHA-256 of all inputs of the fold's results, by name: `Fold1/train.txt`,
  /// `AdaRank/Fold1.score`, ... An earlier run's results are reused if these are equal.
  virtual std::map<std::string, std::string> checksums(std::size_t fold) const = 0;
  /// How data were read, for results.json.
  virtual data_reading reading() const = 0;
  /// Reads a set; training documents must have labels. Throws `error` for bad input.
  virtual datasets::dataset read(context const& ctx, std::size_t fold, fold_set which,
                                 message_fn const& warn) const = 0;
  /// An outside system's scores of the fold's test documents, in their order.
  virtual std::vector<double> scores(context const& ctx, std::size_t fold,
                                     std::string const& system,
                                     datasets::dataset const& test) const = 0;
};

/// A system with scores from files, one per fold.
struct outside_folder {
  std::string name;
  std::string folder;
};

struct file_folds_options {
  bool vali = true;                     ///< read validation sets
  std::vector<outside_folder> outside;  ///< folders of scores
  datasets::svmlight_options reading;   ///< its group file is not used
  bool drop_unlabelled = false;         ///< from training and validation sets
  /// LightGBM group-size files for sets without qid: those of train, vali and test for each fold,
  /// or none.
  std::vector<std::string> group_files;
};

/// Folds from files. Thread-safe.
class file_folds final : public fold_source {
 public:
  /// The folders `FoldN` that exist in a folder, N = 1, 2, ..., by ascending N. Each has
  /// `train.txt`, `test.txt` and, if needed, `vali.txt`; each outside system's folder has
  /// `FoldN.score`, `FoldN.scores` or `FoldN.txt`. All may end in `.gz` or `.zst`. Throws `error`
  /// naming a missing file, `usage_error` for a wrong number of group files.
  file_folds(std::string const& folder, file_folds_options options = {});

  /// The input files of one fold.
  struct fold_files {
    std::uint64_t number = 0;
    std::string train;
    std::string vali;  ///< empty if not needed
    std::string test;
    std::vector<std::string> outside;  ///< one for each outside system
  };
  std::vector<fold_files> const& folds() const noexcept { return folds_; }
  /// All files to be read, including group files.
  std::vector<std::string> files() const;

  std::size_t size() const override { return folds_.size(); }
  std::uint64_t number(std::size_t fold) const override { return folds_[fold].number; }
  /// Throws `error` for a file that is not regular, such as a pipe: it cannot be read twice.
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

/// One fold of a data set in memory: for each set the documents, as for `datasets::subset`.
struct memory_fold {
  std::uint64_t number = 1;
  std::vector<std::size_t> train, vali, test;
  /// As fold_source::checksums; empty: computed from the documents and the outside scores.
  std::map<std::string, std::string> checksums;
};

/// Folds of one data set in memory; reading copies a set. Thread-safe.
class memory_folds final : public fold_source {
 public:
  /// Keeps a reference to `data`. `outside`: scores of all its documents, by system.
  /// `drop_unlabelled`: from training and validation sets. Throws `usage_error` for mismatched
  /// sizes.
  memory_folds(datasets::dataset const& data, std::vector<memory_fold> folds,
               std::map<std::string, std::vector<double>> outside = {},
               bool drop_unlabelled = false);

  std::size_t size() const override { return folds_.size(); }
  std::uint64_t number(std::size_t fold) const override { return folds_[fold].number; }
  std::map<std::string, std::string> checksums(std::size_t fold) const override;
  /// As for files read with svmlight_options{}; if documents are dropped, with the label
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

/// Destinations of messages and times; each may be empty. Called from the thread that calls `run`;
/// progress goes to the context.
struct sinks {
  message_fn warn;  ///< about valid but odd input
  message_fn note;  ///< a fold is done, was reused, or is repeated
  /// A stage took `seconds`; a stage may be reported repeatedly. Must not throw.
  std::function<void(std::string_view stage, double seconds)> stage;
  /// A system's scores of a fold's test documents, except for random samples; not called for reused
  /// folds.
  std::function<void(std::size_t fold, std::string const& system, datasets::dataset const& test,
                     std::span<double const> scores)>
      scores;
};

struct options {
  experiment::settings settings;
  l2r::engine_options engine;  ///< for ranking
  eval::comparison_options compared;
  /// Folder for all output; created if missing. Empty: nothing is written.
  std::string out_dir;
};

/// The duration of a fold.
struct fold_time {
  std::string name;
  std::optional<double> seconds;  ///< empty: reused
};

struct results {
  experiment::settings settings;  ///< as given, with r_max and the values that `run` sets
  experiment::report report;
  std::map<std::string, std::set<std::string>> engines;  ///< engines used, by `reduce` and `rank`
  std::vector<fold_time> times;
};

/// Runs the folds, or reuses an earlier run's results with the same output folder, settings and
/// inputs, and compares the systems. Writes table.md, table.tex, results.json and, for each fold,
/// runs/, scores/, reduced/, tuned/ and, last, folds/FoldN.json, from which an interrupted run
/// resumes (docs/reference/verbs/experiment.md). Equal settings and inputs give equal bytes for all
/// threads and engines. r_max of the profile is the largest label of all test sets. Throws
/// `usage_error` for invalid settings, `error` for bad input, `output_error`.
///
/// Over processes (context::processes), folds go to free processes; folds that do not fill a last
/// round are done by all processes together. Only the first process writes and calls `note` and
/// `scores`; all return the results.
///
/// Threads: calls may run concurrently with different output folders.
results run(context const& ctx, options const& what, fold_source const& source,
            sinks const& out = {});

}  // namespace rulerank::experiment
