#include "experiment/checksummed_json.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/sha256.hpp"

#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment {

namespace {

constexpr char checksum[] = "sha256";

}  // namespace

void add_checksum(nlohmann::ordered_json& json) {
  json[checksum] = sha256_hex(checksummed_text(json));
}

nlohmann::ordered_json parse_checksummed(std::string_view text, std::string const& name,
                                         std::string_view expected) {
  nlohmann::ordered_json json = parse_ordered_json(text, name, expected);
  nlohmann::ordered_json const written = json.is_object() && json.contains(checksum)
                                             ? json[checksum]
                                             : nlohmann::ordered_json(nullptr);
  if (written.is_string()) json.erase(checksum);
  if (written != sha256_hex(checksummed_text(json)))
    throw error({name, 0, 0}, "these results are damaged: their checksum does not match");
  return json;
}

std::string checksummed_text(nlohmann::ordered_json const& json) {
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace rulerank::experiment
