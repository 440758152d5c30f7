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

/// One member, as a settings file has it: rules, or of the kind whose options are there.
struct settings_file {
  /// None: the cuts were given, and are to be given again.
  std::optional<datasets::discretizer_options> discretizer;
  l2r::scoring_options scoring;
  std::optional<l2r::scorecard_options> scorecard;  ///< with a page: a card
  std::optional<l2r::linear_options> linear;        ///< without a discretizer
  std::optional<l2r::joint_options> joint;
};

// The form: one way to rank is an object with `rulerank_settings` (the form's version),
// `discretizer` (or null), rule_size, min_support, min_confidence, support_weight, smoothing,
// feature_share. A member of another kind has `kind` (scorecard, card, linear or joint) and that
// kind's options instead of these numbers; linear has no `discretizer`. A card has loss (or auto),
// points_penalty, smoothness (or cross-fit), folds, max_features, max_points, target. Several,
// whose scores l2r::combine makes one of: an object with `rulerank_settings` and `members`, a list
// of such objects. Either may have more fields.

/// Reads settings. Throws `error` naming `name` for anything else, such as a number that is not of
/// its field's type or range. Other fields are ignored; `discretiser` is an older spelling of
/// `discretizer`.
std::vector<settings_file> settings_from(std::string_view text, std::string const& name);
std::vector<settings_file> read_settings(std::string const& path);

/// The settings file of what a search chose, with its averages (of several members: what
/// tuner::judge gives) and how it was found in further fields. `discretizer`: the options that are
/// not searched for; none: the cuts were given. Judges several members, as a call of the tuner.
std::string best_settings_text(context const& ctx, tuner& t, search_result const& result,
                               std::size_t by, search_options const& options,
                               eval::profile const& rules,
                               std::optional<datasets::discretizer_options> discretizer);

}  // namespace rulerank::tuning
