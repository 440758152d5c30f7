#pragma once

#include "experiment/report.hpp"

#include <string>
#include <string_view>

// A fold's results as text. Reports use the parsed text in all cases, so that a new and a reused
// fold give the same report.
namespace rulerank::inline v0::experiment {

/// Text that restores the exact values.
std::string to_text(fold_result const& fold);
/// Throws `error` naming `name` for text not written by `to_text`, which includes a checksum.
fold_result fold_result_from(std::string_view text, std::string const& name);

}  // namespace rulerank::experiment
