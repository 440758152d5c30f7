#pragma once

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/member_arguments.hpp"
#include "apps/shared/session/session.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/rules/options.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// Help of --rule-size.
inline constexpr char const* rule_size_help =
    "Size of the largest rules, the label included, from 2: 3 means two items and a label";

/// The options of a score and its engine: --rule-size --min-support --min-confidence
/// --support-weight --smoothing --feature-share, and --engine --cache-memory.
struct ranker_arguments {
  std::optional<rules::rule_size> rule_size;
  std::optional<std::uint32_t> min_support;
  std::optional<double> min_confidence, support_weight, smoothing, feature_share;
  std::string engine = "auto";
  std::uint64_t cache_memory = std::uint64_t{4} << 30;

  void add_scoring_to(CLI::App& verb);
  void add_engine_to(CLI::App& verb);

  /// The given options, with defaults for the rest. Throws `usage_error`.
  l2r::ranker_options options() const;
  l2r::engine_options engine_options() const;
  /// Throws `usage_error` if a given option differs from a member's of the model, and for any of
  /// these options if the model has no rules.
  void expect_agreement(l2r::model const& model, std::string const& name) const;
  /// For models without rules: throws `usage_error` with `why` for a requested engine or cache.
  /// `--engine auto` requests none.
  void expect_no_engine(std::string const& why) const;

 private:
  std::vector<CLI::Option const*> of_engines_;  // those of the verb; may be empty
};

/// Calls `use(option, given, value)` for each option of a score: the given value, if any, and the
/// value in `scoring`.
void for_each_of_score(auto& given, auto& scoring, auto&& use) {
  use("--rule-size", given.rule_size, scoring.rule_size);
  use("--min-support", given.min_support, scoring.thresholds.min_support);
  use("--min-confidence", given.min_confidence, scoring.thresholds.min_confidence);
  use("--support-weight", given.support_weight, scoring.support_weight);
  use("--smoothing", given.smoothing, scoring.smoothing);
  use("--feature-share", given.feature_share, scoring.feature_share);
}

/// The reason why an option for rules has no effect.
inline constexpr char const* no_rules = "no member is of the kind rules";

/// How a member is made: its items and its score.
struct ranker_recipe {
  discretizer_arguments discretizer;
  ranker_arguments ranker;
  member_arguments member;
  std::string kind = "rules";  ///< or recommended_members, as the only recipe
};

/// A member's recipe, with these cuts unless null. Ignores --card and --monotone. `of.kind` must
/// not be recommended_members. Throws `usage_error`.
l2r::recipe recipe_of(ranker_recipe const& of,
                      std::shared_ptr<datasets::discretizer const> const& given = nullptr);

/// Reads a training file. Throws `error` naming it if a document has no label.
datasets::dataset read_training(session& owner, std::string const& train,
                                reading_arguments const& reading);

/// The recommendation for the training documents (l2r::recommend), with these cuts unless null.
/// Reports it and adds it to the manifest.
std::vector<l2r::recipe> recommended_recipes(
    session& owner, datasets::dataset const& train, discretizer_arguments const& discretizer,
    std::shared_ptr<datasets::discretizer const> const& given);

/// Fits one member per recipe (l2r::fit), with the cuts of --discretizer if given.
l2r::model make_model(session& owner, datasets::dataset const& train,
                      std::span<ranker_recipe const> recipes);
/// As above; also reads the training file.
l2r::model make_model(session& owner, std::string const& train, reading_arguments const& reading,
                      std::span<ranker_recipe const> recipes);
/// Reads a model file. Throws `usage_error` if given options contradict it.
l2r::model read_model(session& owner, std::string const& path, ranker_arguments const& line);

/// Warns of documents that list none of the features that the model scores, and of a CSV or TSV
/// file that lacks columns for some.
void warn_of_lacking_features(session& owner, datasets::dataset const& data,
                              l2r::model const& model);
/// The engine's name; without an engine, the kinds of the members.
std::string ranked_by(l2r::scorer const& scorer);

/// Prepares the model for scoring. Adds the engine, |training| and the scores' options to the
/// manifest: for several members the first one's, and their number. `tests`: the number of
/// documents to score, for --device auto.
l2r::scorer make_scorer(session& owner, l2r::model model, ranker_arguments const& line,
                        double tests);

}  // namespace rulerank::apps
