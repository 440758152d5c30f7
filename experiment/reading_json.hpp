#pragma once

#include "datasets/svmlight.hpp"

#include <nlohmann/json.hpp>

namespace rulerank::experiment {

/// How files were read, for results.json; the checksums of group files are to be added.
inline nlohmann::ordered_json reading_json(datasets::svmlight_options const& options) {
  nlohmann::ordered_json json;
  json["zero_based"] = options.zero_based;
  json["regroup"] = options.regroup;
  json["unlabelled"] = nullptr;
  if (options.unlabelled) json["unlabelled"] = *options.unlabelled;
  json["groups"] = nlohmann::ordered_json::array();
  return json;
}

}  // namespace rulerank::experiment
