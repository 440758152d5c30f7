#include "apps/shared/evaluation/evaluated_systems.hpp"

#include "apps/shared/session/session.hpp"
#include "core/error.hpp"

#include <filesystem>
#include <set>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace fs = std::filesystem;

namespace {

/// A path that cannot be examined, such as a circular link, counts as existing: reading it reports
/// the error.
bool is_there(fs::path const& path) {
  std::error_code none;
  return fs::exists(path, none);
}

}  // namespace

std::pair<std::string, std::string> named(std::string const& argument) {
  std::size_t const equals = argument.find('=');
  if (equals != std::string::npos && equals > 0 && !is_there(argument))
    return {argument.substr(0, equals), argument.substr(equals + 1)};
  fs::path path = argument;
  if (!path.has_filename()) path = path.parent_path();
  return {argument == "-" ? "standard input" : path.stem().string(), argument};
}

std::vector<std::string> files_of(std::string_view option, std::string const& argument,
                                  std::size_t tests) {
  std::string const rest = named(argument).second;
  std::vector<std::string> files = tests == 1 ? std::vector{rest} : split_list(rest);
  for (std::string const& path : files)
    if (path.empty())
      throw usage_error(
          fmt::format("{} {}: found an empty path, expected the name of a file", option, argument));
  return files;
}

void make_names_distinct(std::vector<eval::system_values>& systems,
                         std::vector<std::string> const& arguments) {
  std::multiset<std::string> names;
  for (eval::system_values const& system : systems) names.insert(system.name);
  for (std::size_t s = 0; s < systems.size(); ++s)
    if (names.count(systems[s].name) > 1) systems[s].name = arguments[s];
  std::set<std::string> seen;
  for (eval::system_values const& system : systems)
    if (!seen.insert(system.name).second)
      throw usage_error(
          fmt::format("found the system '{}' twice, expected different names", system.name));
}

std::vector<std::string> fold_names(std::string const& folder) {
  std::vector<std::string> names;
  for (int n = 1; is_there(fs::path(folder) / fmt::format("Fold{}", n)); ++n)
    names.push_back(fmt::format("Fold{}", n));
  if (names.empty())
    throw error({folder, 0, 0}, "found no Fold1, expected Fold1/test.txt, Fold2/test.txt, ...");
  return names;
}

std::string fold_scores(std::string const& folder, std::string const& fold) {
  for (char const* form : {"{}.score", "{}.scores", "{}.txt", "{}/scores.txt", "{}/test.score"}) {
    fs::path const path = fs::path(folder) / fmt::format(fmt::runtime(form), fold);
    if (is_there(path)) return path.string();
  }
  throw error({folder, 0, 0},
              fmt::format("found no scores of {0}, expected {0}.score, {0}.scores, {0}.txt, "
                          "{0}/scores.txt or {0}/test.score",
                          fold));
}

}  // namespace rulerank::apps
