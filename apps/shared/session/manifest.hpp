#pragma once

#include "core/context.hpp"
#include "core/sha256.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {

/// The first fields of a manifest: the command, the build, the machine, the context, and the inputs
/// with their SHA-256, taken from `known` by path or computed now. Throws `error` for an input
/// whose state changed: the SHA-256 would not be that of the data read.
nlohmann::ordered_json manifest_of(std::vector<std::string> const& command, context const& ctx,
                                   std::map<std::string, file_state> const& inputs,
                                   std::map<std::string, std::string> const& known);

/// The process's peak memory.
std::uint64_t peak_memory_bytes();

}  // namespace rulerank::apps
