#include "l2r/rules/options.hpp"

#include "core/error.hpp"
#include "l2r/model/json_fields.hpp"
#include "l2r/model/options_json.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

void check(scoring_options const& options) {
  if (options.rule_size < 2)
    throw usage_error(fmt::format("found rule size {}, expected 2 or more (the consequent counts)",
                                  options.rule_size));
  rules::check(options.thresholds);
  if (!(std::abs(options.support_weight) <= 16))
    throw usage_error(
        fmt::format("found support weight {}, expected -16 to 16", options.support_weight));
  if (!(options.smoothing >= 0 && options.smoothing <= 1e9))
    throw usage_error(fmt::format("found smoothing {}, expected 0 to 1e9", options.smoothing));
  if (!(options.feature_share > 0 && options.feature_share <= 1))
    throw usage_error(fmt::format("found feature share {}, expected a number above 0 and at most 1",
                                  options.feature_share));
}

nlohmann::ordered_json to_json(scoring_options const& options) {
  return {{"rule_size", options.rule_size},
          {"min_support", options.thresholds.min_support},
          {"min_confidence", options.thresholds.min_confidence},
          {"support_weight", options.support_weight},
          {"smoothing", options.smoothing},
          {"feature_share", options.feature_share}};
}

scoring_options scoring_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                     std::string const& prefix) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  json_fields const fields(json, name, prefix);
  scoring_options options;
  options.rule_size = static_cast<rules::rule_size>(fields.integer("rule_size", 0, most));
  options.thresholds.min_support =
      static_cast<std::uint32_t>(fields.integer("min_support", 0, most));
  options.thresholds.min_confidence = fields.number("min_confidence");
  options.support_weight = fields.number("support_weight");
  options.smoothing = fields.number("smoothing");
  if (fields.has("feature_share")) options.feature_share = fields.number("feature_share");
  try {
    check(options);
  } catch (usage_error const& e) {
    throw error({name, 1, 1}, prefix + e.what());
  }
  return options;
}

}  // namespace rulerank::l2r
