#pragma once

#include "core/context.hpp"

#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// A command line as a shell reads it: `rulerank label --pool 'my pool.txt'`.
std::string shell_line(std::vector<std::string> const& words);

/// Runs this program with `words` (the verb and its options) and returns its exit code. Its
/// standard output goes to standard error where `output_to_error` says so. A request to stop ends
/// the process, too. Throws `std::runtime_error` where it cannot be started.
int run_verb(context const& ctx, std::vector<std::string> const& words, bool output_to_error);

}  // namespace rulerank::apps
