#pragma once

#include "experiment/report.hpp"
#include "experiment/settings.hpp"

#include <map>
#include <optional>
#include <string>

// Reuses folds that an earlier run finished.
namespace rulerank::inline v0::experiment {

/// SHA-256 over all inputs of a fold's results: settings, the fold's name, input files, and the
/// program's version and commit. Excludes threads and engines, which do not change results.
std::string fingerprint_of(settings const& s, std::string const& fold,
                           std::map<std::string, std::string> const& inputs);

/// An earlier run's results for a fold.
struct earlier {
  std::optional<fold_result> result;  ///< if usable
  std::string why_not;                ///< otherwise the reason; empty if there are no results
  bool damaged = false;               ///< the file was changed or truncated
};

/// Reads `out_dir`/folds/`fold`.json. Usable if its fingerprint is this one and the other files
/// written with it are unchanged.
earlier find_finished(std::string const& out_dir, std::string const& fold,
                      std::string const& fingerprint);

/// The path `out_dir`/folds/`fold`.json.
std::string finished_path(std::string const& out_dir, std::string const& fold);

}  // namespace rulerank::experiment
