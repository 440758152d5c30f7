#pragma once

#include "experiment/learning_curves.hpp"
#include "learners/systems.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

// One fold of learning curves: its computation, its results as text, and its journal for resuming.
namespace rulerank::inline v0::experiment {

/// The inputs common to all folds; references must outlive it.
struct curve_work {
  curve_options const& options;
  std::vector<learners::system> const& systems;
  fold_source const& source;
  sinks const& out;
};

/// Text that restores the exact values, with a checksum.
std::string to_text(curve_fold const& fold);
/// Throws `error` naming `name` for text not written by `to_text`.
curve_fold curve_fold_from(std::string_view text, std::string const& name);

/// A journal of a fold's completed work, one line of text per key, flushed after each line: an
/// interrupted run resumes from it. Over processes only the first one has the file. Not
/// thread-safe.
class curve_journal {
 public:
  /// Loads the lines of an earlier run with the same fingerprint; drops a truncated line, and
  /// everything of another run. Empty path: nothing is read or written. All processes construct it
  /// together and get the first one's lines.
  curve_journal(context const& ctx, std::string path, std::string const& fingerprint);

  /// The line of a key; null if the work is not done.
  std::string const* find(std::string const& key) const;
  /// Appends and flushes. Keys have no line feeds or tabs. Throws `output_error`.
  void add(std::string const& key, std::string line);
  std::size_t size() const noexcept { return lines_.size(); }
  /// Deletes the file after the fold is complete.
  void remove() const;

 private:
  /// Loads an earlier run's lines from the file.
  void read(std::string const& fingerprint);

  std::string path_;
  std::map<std::string, std::string> lines_;
};

/// Chooses settings, fits systems to every sample and evaluates them, skipping work in the journal.
/// Returns the fold without its inputs and fingerprint. `test`: the fold's test set. Over
/// processes, trials and samples go to free processes, as many at once as a process has threads,
/// the largest budgets first.
curve_fold run_curve_fold(context const& ctx, curve_work const& work, std::size_t fold,
                          datasets::dataset test, curve_journal& journal);

}  // namespace rulerank::experiment
