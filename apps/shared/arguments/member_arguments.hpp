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

/// Instead of kinds: those that l2r::recommend gives for the training documents.
inline constexpr char const* recommended_members = "recommended";

/// Instead of `scorecard`: one on one page (l2r::card_page).
inline constexpr char const* card_member = "card";

/// Options that only members of some kinds have.
struct options_of_kinds {
  std::vector<char const*> options;
  std::vector<std::string> kinds;
  /// Whether one of `given` is one of the kinds.
  bool fits(std::vector<std::string> const& given) const;
  /// The kinds, for a message.
  std::string words() const;
};

/// A ridge's strength, 0 for `cross-fit`. Throws `usage_error` that does not name the option.
double strength_from(std::string const& word);

/// Which kinds of members a model has, and what those that are not `rules` are fitted with:
/// --members, --loss --points-penalty --smoothness --max-features
/// --max-points --target --monotone --card, --strength, --pairs.
struct member_arguments {
  std::string members = "rules";  ///< a verb with another default sets it before `add_to`
  std::optional<std::string> loss, points_penalty, strength, target;
  std::optional<double> smoothness;
  std::optional<std::size_t> max_features, pairs;
  std::optional<int> points;
  std::string monotone, card_file;
  bool has_own_cuts = true;  ///< of a card and a joint member: false where a settings file has them
  std::size_t folds = 5;  ///< of what is chosen by cross-fitting; a settings file may have others

  void add_to(CLI::App& verb);

  /// The kinds, in the order given, or the word `recommended` alone. Throws `usage_error` for
  /// another word, and for one that is given twice.
  std::vector<std::string> kinds() const;
  /// The options given, defaults for the rest. Throw `usage_error`.
  l2r::scorecard_options scorecard() const;
  l2r::scorecard_options card() const;
  /// Those of a card, with what --card or --monotone says of features. Throws `error` for a file
  /// that does not fit the training documents.
  l2r::scorecard_options card(session& owner, datasets::dataset const& train) const;
  /// The cuts of a card, or of a joint member: `values`, and where the line names no method or bins
  /// its own.
  datasets::discretizer_options card_cuts(discretizer_arguments const& values) const;
  datasets::discretizer_options joint_cuts(discretizer_arguments const& values) const;
  /// `values`: of --missing-values and --unlisted.
  l2r::linear_options linear(discretizer_arguments const& values) const;
  l2r::joint_options joint() const;
  /// Throws `usage_error` for an option on the line, of members, scores or cuts, that no member of
  /// these kinds has, and for any beside `recommended`.
  void expect_use(std::vector<std::string> const& kinds) const;

 private:
  void add_card_to(CLI::App& verb);

  datasets::discretizer_options cuts_like(datasets::discretizer_options const& own,
                                          discretizer_arguments const& values) const;

  CLI::App const* verb_ = nullptr;  ///< none: a verb without these options, where all are rules
};

}  // namespace rulerank::apps
