#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "eval/profile.hpp"
#include "l2r/linear/linear.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/scorecard/scorecard.hpp"
#include "tuning/tuner.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Files of settings. These functions may be called from several threads.
namespace rulerank::inline v0::tuning {

/// One member in a settings file: rules, or the kind whose options are set.
struct settings_file {
  /// Empty: cuts were given, and must be given again.
  std::optional<datasets::discretizer_options> discretizer;
  l2r::scoring_options scoring;
  std::optional<l2r::scorecard_options> scorecard;  ///< with a page: a card
  std::optional<l2r::linear_options> linear;        ///< without a discretizer
  std::optional<l2r::joint_options> joint;
};

// File format. A member of rules is an object with `rulerank_settings` (the format's version),
// `discretizer` (or null), rule_size, min_support, min_confidence, support_weight, smoothing,
// feature_share. A member of another kind has `kind` (scorecard, card, linear or joint) and that
// kind's options instead of these numbers; linear has no `discretizer`. A card has loss (or auto),
// points_penalty, smoothness (or cross-fit), folds, max_features, max_points, target. Several
// members, with scores combined by l2r::combine, are an object with `rulerank_settings` and
// `members`, a list of such objects. Objects may have further fields.

/// Reads settings. Throws `error` naming `name` for anything else, such as a number of the wrong
/// type or range. Ignores further fields; `discretiser` is an older spelling of `discretizer`.
std::vector<settings_file> settings_from(std::string_view text, std::string const& name);
std::vector<settings_file> read_settings(std::string const& path);

/// The settings file of a search's choice, with its averages (for several members: by tuner::judge)
/// and a description of the search in further fields. `discretizer`: the options that are not
/// searched; empty: cuts were given. For several members it calls tuner::judge.
std::string best_settings_text(context const& ctx, tuner& t, search_result const& result,
                               std::size_t by, search_options const& options,
                               eval::profile const& rules,
                               std::optional<datasets::discretizer_options> discretizer);

}  // namespace rulerank::tuning
