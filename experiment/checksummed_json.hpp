#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::experiment {

/// Adds the field "sha256": the checksum of the object without it.
void add_checksum(nlohmann::ordered_json& json);

/// Parses an object that add_checksum() completed, and removes the checksum. Throws `error` naming
/// the file for text that is not JSON (`expected` describes it) and for a missing or wrong
/// checksum.
nlohmann::ordered_json parse_checksummed(std::string_view text, std::string const& name,
                                         std::string_view expected);

/// The indented text, one blank per level, that the checksum covers.
std::string checksummed_text(nlohmann::ordered_json const& json);

}  // namespace rulerank::experiment
