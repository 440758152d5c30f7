#pragma once

#include "learners/learner.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace rulerank::inline v0::learners {

/// The path of `lib_lightgbm.so` in an installed Python package: of the active virtual environment,
/// the user or the machine; empty if there is none.
std::string find_lightgbm();

/// LightGBM's boosted trees.
struct lightgbm_options {
  std::string objective = "lambdarank";  ///< or regression
  std::size_t trees = 100;
  int leaves = 31;
  int least = 20;  ///< minimum number of documents per leaf
  double rate = 0.1;
  std::uint64_t seed = 1;
};

/// LightGBM's boosted trees in the form of ILMART (docs/reference/modules/learners.md): first trees
/// of one feature each, then trees that each use one of the chosen pairs of features.
struct ilmart_options {
  lightgbm_options single;       ///< for trees of one feature; trees of pairs use the same options
  std::size_t pairs = 0;         ///< maximum number of pairs; 0: no trees of pairs
  std::size_t pair_trees = 100;  ///< at most
  std::size_t most_trees = 0;    ///< maximum in total; 0: the sum of the two limits
};

/// LightGBM's C library, loaded at run time and never unloaded.
class lightgbm_library {
 public:
  /// Throws `error` naming the path if the library cannot be loaded, lacks a function, or writes
  /// models in another format than version 4.
  explicit lightgbm_library(std::string const& path);

  /// `LightGBM 4.7.0`, from the VERSION.txt of its package, or `LightGBM 4 (models v4, SHA-256
  /// ...)` with the first 12 digits of the library's checksum.
  std::string const& version() const noexcept { return version_; }
  /// A deterministic learner with one thread: the same bytes for the same documents, labels,
  /// options and library. Listed missing values are NaN and unlisted ones 0, as in LightGBM's
  /// reading of files. Errors of LightGBM become `error` with its version and text.
  std::unique_ptr<learner> make(lightgbm_options const& options) const;
  /// As above; its steps are the trees of both kinds.
  std::unique_ptr<learner> make(ilmart_options const& options) const;

  struct functions;

 private:
  std::shared_ptr<functions const> functions_;
  std::string version_;
};

}  // namespace rulerank::learners
