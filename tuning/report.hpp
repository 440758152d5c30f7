#pragma once

#include "eval/table.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/tuner.hpp"

#include <optional>

namespace rulerank::tuning {

/// A row for each candidate tried: its settings, and rung, queries and values of its last trial;
/// the highest rung first, on a rung the largest value of the `by`-th measure, equals in the order
/// of the candidates. The first rows are what the search chose.
eval::table trials_table(tuner const& t, search_result const& result, std::size_t by,
                         std::size_t rungs);

/// What was chosen as a settings file, with what it got (the combination of several: what
/// tuner::judge gives) and how it was found beside it.
/// `discretizer`: the options that are not searched for; none: the cuts were given.
nlohmann::ordered_json best_settings(context const& ctx, tuner& t, search_result const& result,
                                     std::size_t by, search_options const& options,
                                     eval::profile const& rules,
                                     std::optional<datasets::discretizer_options> discretizer);

}  // namespace rulerank::tuning
