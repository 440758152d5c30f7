#pragma once

#include "learners/learner.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace rulerank::inline v0::learners {

/// The path of `lib_lightgbm.so` in an installed Python package: of the active virtual environment,
/// the user's, the machine's; empty where there is none.
std::string find_lightgbm();

/// LightGBM's boosted trees.
struct lightgbm_options {
  std::string objective = "lambdarank";  ///< or regression
  std::size_t trees = 100;
  int leaves = 31;
  int least = 20;  ///< documents of a leaf
  double rate = 0.1;
  std::uint64_t seed = 1;
};

/// LightGBM's boosted trees in the form of ILMART (docs/reference/modules/learners.md): first trees
/// of one feature each, then trees each leaf of which depends on one of some pairs of features.
struct ilmart_options {
  lightgbm_options single;       ///< the trees of one feature; those behind are like them
  std::size_t pairs = 0;         ///< at most so many; 0: no trees of pairs
  std::size_t pair_trees = 100;  ///< at most
  std::size_t most_trees = 0;    ///< in all; 0: as many as these are
};

/// LightGBM's C library, loaded at run time. It stays loaded until the process ends.
class lightgbm_library {
 public:
  /// Throws `error` that names the path for what cannot be loaded, lacks a function, or writes
  /// models of another form than version 4 does.
  explicit lightgbm_library(std::string const& path);

  /// `LightGBM 4.7.0`, by the VERSION.txt of its package, or `LightGBM 4 (models v4, SHA-256 ...)`
  /// with the first 12 digits of the file's, where that can be read.
  std::string const& version() const noexcept { return version_; }
  /// A learner of one thread, deterministic: the same bytes for the same documents, labels, options
  /// and library. A listed value that is missing is NaN, one that is not listed 0, as LightGBM
  /// reads files. What LightGBM finds wrong becomes an `error` with its version and text.
  std::unique_ptr<learner> make(lightgbm_options const& options) const;
  /// Likewise; its steps are the trees of both kinds.
  std::unique_ptr<learner> make(ilmart_options const& options) const;

  struct functions;

 private:
  std::shared_ptr<functions const> functions_;
  std::string version_;
};

}  // namespace rulerank::learners
