#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0::experiment {

/// Adds the member "sha256": the checksum of the object without it.
void add_checksum(nlohmann::ordered_json& json);

/// The object that add_checksum() was given. Throws `error` that names the file for text that is no
/// JSON (`expected` says what it should be) and for a missing or wrong checksum.
nlohmann::ordered_json parse_checksummed(std::string_view text, std::string const& name,
                                         std::string_view expected);

/// The object on lines of its own, one blank a level: what the checksum is of.
std::string checksummed_text(nlohmann::ordered_json const& json);

}  // namespace rulerank::experiment
