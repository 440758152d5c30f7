#pragma once

#include "core/context.hpp"
#include "core/sha256.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {

/// The first fields of a manifest: the command, the build, the machine, the context, and the inputs
/// with their SHA-256: of `known`, by path, or read now. Throws `error` for an input whose state is
/// another than the given one: the SHA-256 would not be that of what was read.
nlohmann::ordered_json manifest_of(std::vector<std::string> const& command, context const& ctx,
                                   std::map<std::string, file_state> const& inputs,
                                   std::map<std::string, std::string> const& known);

/// The most memory that the process has had at a time.
std::uint64_t peak_memory_bytes();

}  // namespace rulerank::apps
