#pragma once

#include "core/error.hpp"

#include <string>
#include <string_view>

// Choices of an option and their names: lists of entries with `which` and `name`.
namespace rulerank::rules {

/// The name of a choice; empty where the list does not have it.
template <class List, class Which>
constexpr std::string_view name_in(List const& list, Which which) {
  for (auto const& entry : list)
    if (entry.which == which) return entry.name;
  return {};
}

/// The choice of that name. Throws `usage_error` with `what` is chosen, what was found and the
/// names.
template <class List>
auto which_in(List const& list, std::string_view what, std::string_view name) {
  std::string names;
  for (auto const& entry : list) {
    if (entry.name == name) return entry.which;
    names.append(names.empty() ? "" : ", ").append(entry.name);
  }
  throw usage_error("found " + std::string(what) + " '" + std::string(name) +
                    "', expected one of " + names);
}

}  // namespace rulerank::rules
