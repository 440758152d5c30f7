#pragma once

#include "experiment/report.hpp"
#include "experiment/settings.hpp"

#include <map>
#include <optional>
#include <string>

// Folds that an earlier run finished.
namespace rulerank::inline v0::experiment {

/// SHA-256 of everything that a fold's results depend on: settings, the fold's name, inputs, and
/// the program's version and commit. Neither threads nor engines: they do not change results.
std::string fingerprint_of(settings const& s, std::string const& fold,
                           std::map<std::string, std::string> const& inputs);

/// The results of a fold by an earlier run.
struct earlier {
  std::optional<fold_result> result;  ///< where it can be used
  std::string why_not;                ///< else why not; empty when there is nothing of the fold
  bool damaged = false;               ///< not as a run wrote it
};

/// Reads `out_dir`/folds/`fold`.json: usable when its fingerprint is this one, and the other files
/// that were written with it are there as they were.
earlier find_finished(std::string const& out_dir, std::string const& fold,
                      std::string const& fingerprint);

/// `out_dir`/folds/`fold`.json.
std::string finished_path(std::string const& out_dir, std::string const& fold);

}  // namespace rulerank::experiment
