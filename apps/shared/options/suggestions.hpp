#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rulerank::inline v0::apps {

/// " (did you mean WORD?)" with the word of `known` that `found` was probably meant to be: one with
/// few letters changed, or one that it begins; nothing where none is near. Dashes in front and case
/// do not count.
std::string did_you_mean(std::string_view found, std::span<std::string const> known);

/// The same of an option: first one that other tools call so.
std::string option_meant(std::string_view found, std::span<std::string const> known);

}  // namespace rulerank::apps
