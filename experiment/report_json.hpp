#pragma once

#include "experiment/learning_curves.hpp"
#include "experiment/report.hpp"
#include "experiment/settings.hpp"

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::experiment {

/// For the fingerprint of folds and for results.json.
nlohmann::ordered_json to_json(settings const& s);

/// Settings, folds, systems, comparisons; depends on the settings and the inputs alone.
nlohmann::ordered_json to_json(report const& r, settings const& s);

/// The results of learning curves.
nlohmann::ordered_json to_json(curve_results const& all);

/// A list with name and remedy of each.
nlohmann::ordered_json to_json(std::vector<left_out_system> const& left_out);

nlohmann::ordered_json to_json(data_reading const& reading);

}  // namespace rulerank::experiment
