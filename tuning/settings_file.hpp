#pragma once

#include "datasets/discretizer.hpp"
#include "l2r/options.hpp"
#include "tuning/space.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace rulerank::tuning {

/// How to rank, as a file that rank, fit and experiment read.
struct settings_file {
  /// None: the cuts were given, and are to be given again.
  std::optional<datasets::discretizer_options> discretizer;
  l2r::scoring_options scoring;
};

/// One way to rank: an object with `rulerank_settings` (the form's version), `discretiser` (or
/// null), rule_size, min_support, min_confidence, support_weight, smoothing, feature_share.
/// Several, whose scores l2r::combine makes one of: an object with `rulerank_settings` and
/// `members`, a list of such objects. More may be added to either.
nlohmann::ordered_json to_json(std::vector<settings_file> const& members);
/// Throws `error` naming `name` for anything else; what is not known is not looked at.
std::vector<settings_file> settings_from(std::string_view text, std::string const& name);
std::vector<settings_file> read_settings(std::string const& path);

}  // namespace rulerank::tuning
