#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rulerank::inline v0::apps {

/// " (did you mean WORD?)" with the most similar word of `known`: one at a small edit distance, or
/// one that `found` is a prefix of; empty if there is none. Ignores leading dashes and case.
std::string did_you_mean(std::string_view found, std::span<std::string const> known);

/// As above, for an option; prefers an option that other tools call `found`.
std::string option_meant(std::string_view found, std::span<std::string const> known);

}  // namespace rulerank::apps
