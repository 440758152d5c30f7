#pragma once

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "l2r/linear/linear.hpp"
#include "l2r/model/model.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// A value instead of kinds: the members that l2r::recommend gives for the training documents.
inline constexpr char const* recommended_members = "recommended";

/// A value instead of `scorecard`: a scorecard on one page (l2r::card_page).
inline constexpr char const* card_member = "card";

/// Options for members of certain kinds.
struct options_of_kinds {
  std::vector<char const*> options;
  std::vector<std::string> kinds;
  /// Whether one of `given` is one of the kinds.
  bool fits(std::vector<std::string> const& given) const;
  /// The kinds, for a message.
  std::string words() const;
};

/// Parses a ridge strength, 0 for `cross-fit`. Throws `usage_error` without the option's name.
double strength_from(std::string const& word);

/// The kinds of a model's members, and how members other than `rules` are fitted: --members, --loss
/// --points-penalty --smoothness --max-features --max-points --target --monotone --card,
/// --strength, --linear-scale, --pairs.
struct member_arguments {
  std::string members = "rules";  ///< a verb with another default sets it before `add_to`
  std::optional<std::string> loss, points_penalty, strength, target;
  std::optional<double> smoothness;
  std::optional<std::size_t> max_features, pairs;
  std::optional<int> points;
  std::string monotone, card_file;
  std::string linear_scale = "query";
  bool has_own_cuts = true;  ///< card and joint member; false if a settings file has their cuts
  std::size_t folds = 5;     ///< for cross-fitting; a settings file may have another number

  void add_to(CLI::App& verb);

  /// The kinds, in the given order, or only `recommended`. Throws `usage_error` for another word or
  /// a duplicate.
  std::vector<std::string> kinds() const;
  /// The given options, with defaults for the rest. Throws `usage_error`.
  l2r::scorecard_options scorecard() const;
  l2r::scorecard_options card() const;
  /// The options of a card, with the features' specifications from --card or --monotone. Throws
  /// `error` for a file that does not fit the training documents.
  l2r::scorecard_options card(session& owner, datasets::dataset const& train) const;
  /// The cuts of a card or joint member: `values`, with its own method and bins unless given.
  datasets::discretizer_options card_cuts(discretizer_arguments const& values) const;
  datasets::discretizer_options joint_cuts(discretizer_arguments const& values) const;
  /// `values`: for --missing-values and --unlisted.
  l2r::linear_options linear(discretizer_arguments const& values) const;
  l2r::joint_options joint() const;
  /// Throws `usage_error` for a given option of members, scores or cuts that no member of these
  /// kinds uses, and for any such option with `recommended`.
  void expect_use(std::vector<std::string> const& kinds) const;

 private:
  void add_card_to(CLI::App& verb);

  datasets::discretizer_options cuts_like(datasets::discretizer_options const& own,
                                          discretizer_arguments const& values) const;

  CLI::App const* verb_ = nullptr;  ///< null: a verb without these options, where all members are
                                    ///< rules
};

}  // namespace rulerank::apps
