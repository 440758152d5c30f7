#pragma once

#include "experiment/learning_curves.hpp"
#include "learners/systems.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

// One fold of learning curves, its results as text, and what a run that was stopped has done of it.
namespace rulerank::inline v0::experiment {

/// What the work on every fold needs. What is referred to outlives it.
struct curve_work {
  curve_options const& options;
  std::vector<learners::system> const& systems;
  fold_source const& source;
  sinks const& out;
};

/// Round-trip exact, with a checksum.
std::string to_text(curve_fold const& fold);
/// Throws `error` naming `name` for a text that `to_text` did not write.
curve_fold curve_fold_from(std::string_view text, std::string const& name);

/// What was done of a fold, one line of text each by its key, in a file that grows with each: a run
/// that was stopped goes on from there. Over processes the first one has the file. One call at
/// a time.
class curve_journal {
 public:
  /// Takes what an earlier run with the same fingerprint wrote; a line that was cut off, and all of
  /// another run, is dropped. An empty path: nothing is read or written. All processes make it
  /// together, and have the first one's lines.
  curve_journal(context const& ctx, std::string path, std::string const& fingerprint);

  /// The line of that key; null where it is not done.
  std::string const* find(std::string const& key) const;
  /// Writes at once; without line feeds and tabs in the key. Throws `output_error`.
  void add(std::string const& key, std::string line);
  std::size_t size() const noexcept { return lines_.size(); }
  /// Deletes the file: the fold is done.
  void remove() const;

 private:
  /// Of an earlier run, from the file.
  void read(std::string const& fingerprint);

  std::string path_;
  std::map<std::string, std::string> lines_;
};

/// Chooses settings, learns from every sample and judges, but for what the journal has: the fold
/// without its inputs and fingerprint. The test set is given. Over processes each trial and each
/// sample goes to one that is free, as many at once as it has threads, the largest budgets first.
curve_fold run_curve_fold(context const& ctx, curve_work const& work, std::size_t fold,
                          datasets::dataset test, curve_journal& journal);

}  // namespace rulerank::experiment
