#pragma once

#include "eval/evaluate.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace rulerank::inline v0::apps {

/// Adds only --profile.
CLI::Option* add_profile(CLI::App& verb, std::string& name);
CLI::Option* add_profile(CLI::App& verb, std::optional<std::string>& name);

/// An option with a list of measures.
CLI::Option* measures_option(CLI::App& verb, std::string const& name, std::string& measures,
                             std::string description);

/// The conventions of the measures: --profile, and the options that override its members.
struct profile_arguments {
  std::optional<std::string> name, gain, discount, short_list, ties, prel;
  std::optional<double> no_relevant, persistence, p_break;
  std::optional<double> relevant_from;
  std::optional<std::int32_t> max_label;
  std::optional<std::size_t> max_docs;
  bool complete = false;

  void add_to(CLI::App& verb);
  /// The profile (`otherwise` if none is given) with the overrides. Throws `usage_error` for
  /// invalid values.
  eval::profile make(std::string_view otherwise) const;
};

}  // namespace rulerank::apps
