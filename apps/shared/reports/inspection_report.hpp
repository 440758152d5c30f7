#pragma once

#include "apps/shared/reports/explanation_report.hpp"
#include "datasets/dataset.hpp"
#include "eval/measure.hpp"
#include "eval/table.hpp"
#include "l2r/inspection.hpp"
#include "l2r/model.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// What `inspect` writes: as text, Markdown or JSON.
namespace rulerank::apps {

/// A member, and what was found of it: by its kind one of the three.
struct inspected_member {
  l2r::model_member const& member;
  rule_words words;
  l2r::rules_inspection found;
  l2r::card_inspection card;
  std::vector<l2r::feature_part> linear;
};

/// What features move in a file's scores, and how its ranking suffers under shuffled ones.
struct inspected_file {
  std::string path;
  l2r::combined_inspection combined;
  std::string profile;
  std::vector<eval::measure> measures;
  std::size_t draws = 0;
  l2r::permutation_importance found;
  datasets::feature_names const& names;
};

struct inspected_model {
  std::string path;
  std::uint64_t bytes = 0;
  std::string sha256;  ///< of the file
  std::vector<inspected_member> members;
  std::optional<inspected_file> file;
};

std::string report(inspected_model const& of, std::size_t top, eval::table_format format);
nlohmann::ordered_json report_json(inspected_model const& of);

}  // namespace rulerank::apps
