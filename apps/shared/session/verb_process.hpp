#pragma once

#include "core/context.hpp"

#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// A command line quoted for a shell: `rulerank label --pool 'my pool.txt'`.
std::string shell_line(std::vector<std::string> const& words);

/// Runs this program with `words` (the verb and its options) and returns its exit code. With
/// `output_to_error`, its standard output goes to standard error. A stop request also ends the
/// process. Throws `std::runtime_error` if it cannot be started.
int run_verb(context const& ctx, std::vector<std::string> const& words, bool output_to_error);

}  // namespace rulerank::apps
