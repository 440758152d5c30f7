#pragma once

#include "apps/shared/session.hpp"
#include "core/engine_registry.hpp"
#include "core/error.hpp"

#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// Verbs and the options that a verb treats by what they name: files, folders and engines.
namespace rulerank::apps {

/// Adds a verb with the common options; `body` runs when the line names it, and what it throws
/// becomes the exit code (see main.cpp). `example` is one worked line for --help.
CLI::App* add_verb(CLI::App& program, session& owner, std::string const& name,
                   std::string const& description, std::string const& example,
                   std::function<void()> body);

/// An option that names one or more files or folders: an empty name is wrong usage.
CLI::Option* path_option(CLI::App& verb, std::string name, std::string& path,
                         std::string description);
CLI::Option* path_option(CLI::App& verb, std::string name, std::vector<std::string>& paths,
                         std::string description);

/// A number that an option's text holds. Throws `usage_error` for anything else.
template <class Number>
Number number_from(std::string_view option, std::string_view text) {
  Number value{};
  auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size())
    throw usage_error(std::string(option) + ": found '" + std::string(text) +
                      "', expected a number");
  return value;
}

constexpr runs_on either(runs_on a, runs_on b) {
  return static_cast<runs_on>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// An option that chooses one of a module's engines; `verb` was made by `add_verb`. Where an engine
/// of the list runs on GPUs, --device auto takes those there are. The help names the engines,
/// behind `description`.
CLI::Option* engine_option(CLI::App& verb, std::string name, std::string& engine,
                           std::string description, std::vector<std::string_view> const& engines,
                           runs_on where);
template <class Engines>
CLI::Option* engine_option(CLI::App& verb, std::string name, std::string& engine,
                           Engines const& engines, std::string description = {}) {
  std::vector<std::string_view> names;
  auto where = runs_on::nowhere;
  for (auto const& entry : engines) {
    names.push_back(entry.name);
    where = either(where, entry.where);
  }
  return engine_option(verb, std::move(name), engine, std::move(description), names, where);
}

}  // namespace rulerank::apps
