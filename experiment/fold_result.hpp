#pragma once

#include "eval/evaluate.hpp"
#include "experiment/baselines.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace rulerank::experiment {

/// What one system got on the test part of one fold.
struct system_result {
  std::string name;
  std::optional<std::size_t> documents;    ///< |U|, the training documents it ranks by
  eval::query_values queries;              ///< of `random` each query's mean over the draws
  std::vector<std::vector<double>> draws;  ///< of `random`: each draw's averages, one a measure
};

/// A training part after selective sampling.
struct reduction {
  std::uint32_t rule_size = 0;
  std::size_t documents = 0;
  std::size_t partitions = 0;
};

/// Everything that tables and results.json need of one fold; all of them are made from the files
/// that hold it, so that it makes no difference whether a fold was done now or by an earlier run.
struct fold_result {
  std::string name;
  std::string fingerprint;                    ///< of settings, inputs and program
  std::map<std::string, std::string> inputs;  ///< SHA-256 by name
  std::size_t train_documents = 0;
  std::size_t test_documents = 0;
  std::vector<reduction> reductions;
  std::optional<ranking_feature> feature;
  std::vector<system_result> systems;
  /// What tuning chose, by system, as a settings file (apps/tuning/report.hpp).
  std::map<std::string, nlohmann::ordered_json> tuned;
  std::map<std::string, std::string> files;  ///< SHA-256 of what else was written for the fold
};

/// Round-trip exact.
std::string to_text(fold_result const& fold);
/// Throws `error` naming `name` for a text that `to_text` did not write.
fold_result fold_result_from(std::string_view text, std::string const& name);

}  // namespace rulerank::experiment
