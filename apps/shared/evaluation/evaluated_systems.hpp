#pragma once

#include "eval/report.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Systems that `evaluate` judges: their names on the command line, and their files.
namespace rulerank::inline v0::apps {

/// `NAME=REST`, where no file has that whole name; else a name made from the path.
std::pair<std::string, std::string> named(std::string const& argument);

/// The files behind a system's name: with several test sets one for each, separated by commas.
/// Throws `usage_error` for an empty one.
std::vector<std::string> files_of(std::string_view option, std::string const& argument,
                                  std::size_t tests);

/// Systems with the same name take their whole arguments as names. Throws `usage_error` for two
/// that are still the same.
void make_names_distinct(std::vector<eval::system_values>& systems,
                         std::vector<std::string> const& arguments);

/// Fold1, Fold2, ... of a folder with LETOR's folds. Throws `error` where there is none.
std::vector<std::string> fold_names(std::string const& folder);

/// A system's scores of a fold: FOLDER/Fold1.score, or one of its other usual names. Throws `error`
/// where there is none.
std::string fold_scores(std::string const& folder, std::string const& fold);

}  // namespace rulerank::apps
