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

/// What --rule-size counts, for its help.
inline constexpr char const* rule_size_help =
    "Size of the largest rules, the label included, from 2: 3 means two items and a label";

/// What a score depends on, and the engine that computes it: --rule-size --min-support
/// --min-confidence --support-weight --smoothing --feature-share, and --engine --cache-memory.
struct ranker_arguments {
  std::optional<rules::rule_size> rule_size;
  std::optional<std::uint32_t> min_support;
  std::optional<double> min_confidence, support_weight, smoothing, feature_share;
  std::string engine = "auto";
  std::uint64_t cache_memory = std::uint64_t{4} << 30;

  void add_scoring_to(CLI::App& verb);
  void add_engine_to(CLI::App& verb);

  /// The options given, defaults for the rest. Throws `usage_error`.
  l2r::ranker_options options() const;
  l2r::engine_options engine_options() const;
  /// Throws `usage_error` where an option given is not what a member of the model was fitted with,
  /// and for any of these where no member is of rules.
  void expect_agreement(l2r::model const& model, std::string const& name) const;
  /// Where no member is of rules: throws `usage_error`, which says `why`, for an engine or a cache
  /// that was asked for. `--engine auto` asks for none.
  void expect_no_engine(std::string const& why) const;

 private:
  std::vector<CLI::Option const*> of_engines_;  // the verb has them; empty: it has not
};

/// Calls `use(option, given, value)` for each option of a score: what the line gave, or nothing,
/// and the value in `scoring`.
void for_each_of_score(auto& given, auto& scoring, auto&& use) {
  use("--rule-size", given.rule_size, scoring.rule_size);
  use("--min-support", given.min_support, scoring.thresholds.min_support);
  use("--min-confidence", given.min_confidence, scoring.thresholds.min_confidence);
  use("--support-weight", given.support_weight, scoring.support_weight);
  use("--smoothing", given.smoothing, scoring.smoothing);
  use("--feature-share", given.feature_share, scoring.feature_share);
}

/// Why an option of rules has no effect.
inline constexpr char const* no_rules = "no member is of the kind rules";

/// How a member is made: its items and its score.
struct ranker_recipe {
  discretizer_arguments discretizer;
  ranker_arguments ranker;
  member_arguments member;
  std::string kind = "rules";  ///< or recommended_members, as the only recipe
};

/// The recipe of a member, with these cuts unless null. It leaves out --card and --monotone.
/// `of.kind` is not recommended_members. Throws `usage_error`.
l2r::recipe recipe_of(ranker_recipe const& of,
                      std::shared_ptr<datasets::discretizer const> const& given = nullptr);

/// Reads a training file. Throws `error` naming it when a document has no label.
datasets::dataset read_training(session& owner, std::string const& train,
                                reading_arguments const& reading);

/// What is recommended for the training documents (l2r::recommend), by these cuts unless null; it
/// is said, and goes into the manifest.
std::vector<l2r::recipe> recommended_recipes(
    session& owner, datasets::dataset const& train, discretizer_arguments const& discretizer,
    std::shared_ptr<datasets::discretizer const> const& given);

/// Fits a member a recipe (l2r::fit), by the cuts of --discretizer where it was given.
l2r::model make_model(session& owner, datasets::dataset const& train,
                      std::span<ranker_recipe const> recipes);
/// Reads a training file, too.
l2r::model make_model(session& owner, std::string const& train, reading_arguments const& reading,
                      std::span<ranker_recipe const> recipes);
/// Reads a model file. Throws `usage_error` where the line contradicts it.
l2r::model read_model(session& owner, std::string const& path, ranker_arguments const& line);

/// Warns of a CSV or TSV file without columns for some features of the model.
void warn_of_lacking_features(session& owner, datasets::dataset const& data,
                              l2r::model const& model);
/// Of a member; null for one of raw features.
datasets::discretizer const* cuts_of(l2r::model_member const& member);
/// What a member's features are called, where its training documents have names.
datasets::feature_names const& names_of(l2r::model_member const& member);
/// The engine's name; without one the kinds of the members.
std::string ranked_by(l2r::scorer const& scorer);

/// The model made ready to score. The engine, |training| and what the scores depend on go into the
/// manifest: of several members those of the first one, and their number.
/// `tests`: the documents that are going to be scored, for --device auto.
l2r::scorer make_scorer(session& owner, l2r::model model, ranker_arguments const& line,
                        double tests);

}  // namespace rulerank::apps
