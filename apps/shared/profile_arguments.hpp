#pragma once

#include "eval/evaluate.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace rulerank::apps {

/// The conventions of the measures: --profile, and the options that override its parts.
struct profile_arguments {
  std::string name = "letor";
  std::optional<std::string> gain, discount, short_list, ties, prel;
  std::optional<double> no_relevant, persistence, p_break;
  std::optional<std::int32_t> relevant_from, max_label;
  std::optional<std::size_t> max_docs;
  bool complete = false;

  void add_to(CLI::App& verb);
  /// Throws `usage_error` for unknown words and values that make no sense.
  eval::profile make() const;
};

}  // namespace rulerank::apps
