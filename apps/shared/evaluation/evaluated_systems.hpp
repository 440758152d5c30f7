#pragma once

#include "eval/report.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The systems of `evaluate`: their names on the command line, and their files.
namespace rulerank::inline v0::apps {

/// Splits `NAME=REST`, unless a file has the whole name; otherwise makes a name from the path.
std::pair<std::string, std::string> named(std::string const& argument);

/// The files of a system: with several test sets one for each, separated by commas. Throws
/// `usage_error` for an empty name.
std::vector<std::string> files_of(std::string_view option, std::string const& argument,
                                  std::size_t tests);

/// Systems with equal names get their whole arguments as names. Throws `usage_error` if two are
/// still equal.
void make_names_distinct(std::vector<eval::system_values>& systems,
                         std::vector<std::string> const& arguments);

/// The names Fold1, Fold2, ... in a folder with LETOR's folds. Throws `error` if there is none.
std::vector<std::string> fold_names(std::string const& folder);

/// The path of a system's scores of a fold: FOLDER/Fold1.score, or another usual name. Throws
/// `error` if there is none.
std::string fold_scores(std::string const& folder, std::string const& fold);

}  // namespace rulerank::apps
