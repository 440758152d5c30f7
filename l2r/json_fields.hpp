#pragma once

#include "datasets/json_fields.hpp"

namespace rulerank::l2r {

using json_fields = datasets::json_fields<nlohmann::ordered_json>;

}  // namespace rulerank::l2r
