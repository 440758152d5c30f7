#pragma once

#include "core/json_fields.hpp"

namespace rulerank::inline v0::l2r {

using json_fields = rulerank::json_fields<nlohmann::ordered_json>;

}  // namespace rulerank::l2r
