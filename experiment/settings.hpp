#pragma once

#include "datasets/discretizer.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "l2r/options.hpp"
#include "tuning/space.hpp"
#include "tuning/tuner.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// A cross-validation: what is asked for, and which systems that makes.
namespace rulerank::experiment {

/// A method whose scores come from elsewhere, a file a fold.
struct outside_system {
  std::string name;
  std::string folder;
};

/// What is chosen on the validation part of each fold.
struct tuned_settings {
  std::vector<eval::measure> measures;  ///< a choice by each of them
  tuning::space space;
  tuning::search_options search;
  std::size_t cross_fit = 0;  ///< folds, as tuning::cross_fitting has them
};

/// Everything that the results of a fold depend on, besides its input files.
struct settings {
  std::vector<std::uint32_t> reduce_sizes;  ///< rule sizes of the reduced training sets
  std::vector<std::uint32_t> rank_sizes;    ///< rule sizes of the rankers
  bool full = true;                         ///< baseline: all training documents
  bool random = true;                       ///< baseline: draws as large as each reduced set
  bool feature = true;                      ///< baseline: the best single feature
  std::size_t random_draws = 10;
  std::vector<outside_system> outside;
  std::vector<eval::measure> measures;  ///< the first one chooses the feature
  eval::profile profile;
  datasets::discretizer_options discretizer;
  std::string partitions;        ///< as reduce's --partitions
  std::string feature_order;     ///< as reduce's --feature-order
  l2r::scoring_options scoring;  ///< its rule size is not looked at
  std::optional<tuned_settings> tune;
  nlohmann::ordered_json reading = nlohmann::ordered_json::object();  ///< how files are read
  std::uint64_t seed = 1;
};

/// For the fingerprint and for results.json; outside systems by name alone.
nlohmann::ordered_json to_json(settings const& s);

/// Where the scores of a system come from.
enum class system_kind { full, reduced, random, tuned, feature, outside };

struct system {
  system_kind kind = system_kind::full;
  std::uint32_t reduce_size = 0;  ///< of reduced, random, and tuned where it is reduced
  std::uint32_t rank_size = 0;    ///< of full, reduced and random
  std::string label;         ///< `full`, `reduced-3`, `random-3`, `full-tuned-MAP`, `feature`, ...
  std::string name;          ///< the label and, where there is one, `-rank-4`: distinct
  std::size_t tuned_by = 0;  ///< of tuned: which of the measures
};

/// The systems in the order of the tables: by rank size full, reduced, random; then the tuned
/// ones by measure, the feature and the outside systems. Throws `usage_error` when there is none,
/// and for outside names that are taken or cannot be those of a folder.
std::vector<system> systems_of(settings const& s);

/// Sets `full`, `random` and `feature` by a list such as `full,random`; `none` alone: no baseline.
/// Throws `usage_error`.
void set_baselines(settings& s, std::string_view list);

/// Reads rule sizes such as `3,4`, each once, from 2 on; `none` alone: no size. `option` is named
/// in the `usage_error`.
std::vector<std::uint32_t> rule_sizes_from(std::string_view option, std::string_view list);

/// `NAME=FOLDER`. Throws `usage_error`.
outside_system outside_from(std::string_view text);

}  // namespace rulerank::experiment
