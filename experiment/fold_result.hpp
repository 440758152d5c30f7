#pragma once

#include "experiment/report.hpp"

#include <string>
#include <string_view>

// The results of a fold as text: reports are made from what was read back, so that it makes no
// difference whether a fold was done now or by an earlier run.
namespace rulerank::inline v0::experiment {

/// Round-trip exact.
std::string to_text(fold_result const& fold);
/// Throws `error` naming `name` for a text that `to_text` did not write: it has a checksum.
fold_result fold_result_from(std::string_view text, std::string const& name);

}  // namespace rulerank::experiment
