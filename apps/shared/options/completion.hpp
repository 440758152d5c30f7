#pragma once

#include <string>

#include <CLI/CLI.hpp>

// Shell scripts that complete the program's command line, generated from its options.
namespace rulerank::inline v0::apps {

std::string bash_completion(CLI::App const& program);
std::string zsh_completion(CLI::App const& program);
std::string fish_completion(CLI::App const& program);

}  // namespace rulerank::apps
