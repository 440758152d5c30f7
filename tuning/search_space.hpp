#pragma once

#include "datasets/discretizer.hpp"
#include "l2r/linear/linear.hpp"
#include "l2r/model/model.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The choices of a search. These functions may be called from several threads.
namespace rulerank::inline v0::tuning {

/// How features are cut.
struct cuts {
  datasets::binning method = datasets::binning::tube;
  int bins = 10;  ///< 0: by cross-validation
  /// Empty: that of the options that are not searched.
  std::optional<datasets::normalization> norm;
  friend auto operator<=>(cuts const&, cuts const&) = default;
};

/// One way to rank: by rules, or by the kind whose options are set.
struct candidate {
  tuning::cuts cuts;  ///< linear has none; with a recipe, the recipe's
  l2r::scoring_options scoring;
  std::optional<l2r::scorecard_options> scorecard;
  std::optional<l2r::linear_options> linear;
  /// A card or a joint member, which l2r::fit fits with its own cuts.
  std::optional<l2r::recipe> recipe{};
};

/// The kind: rules, scorecard, linear, card or joint.
std::string_view kind_of(candidate const& c);

/// The candidates of a kind are all combinations of these values.
struct search_space {
  std::vector<std::string> kinds{"rules"};  ///< subset of rules, scorecard, linear, card, joint
  std::vector<datasets::binning> methods{datasets::binning::tube, datasets::binning::width,
                                         datasets::binning::frequency};
  std::vector<int> bins{5, 10, 20};
  std::vector<datasets::normalization> norms;  ///< empty: not searched
  std::vector<rules::rule_size> rule_sizes{rules::size_to_rank, rules::size_to_choose};
  std::vector<std::uint32_t> min_supports{1, 3};
  std::vector<double> min_confidences{0.001, 0.1};
  std::vector<double> support_weights{0, -0.25, -0.5};
  std::vector<double> smoothings{0, 5, 20};
  std::vector<double> feature_shares{1};
  std::vector<l2r::card_loss> losses{l2r::card_loss::pair, l2r::card_loss::point};
  std::vector<double> points_penalties{1e-4, 1e-3, 1e-2};
  std::vector<double> smoothnesses{0.1, 10, 100};
  std::vector<double> strengths{10, 100, 1000, 0};  ///< 0: by cross-fitting (l2r::linear_options)
  std::vector<std::size_t> max_features{3, 5, 8, 10};  ///< for cards; cross-fitting chooses the
                                                       ///< rest
  std::vector<int> card_bins{6, 12, 24};               ///< for cards, with their own method
};

/// The candidates, kind by kind, in lexicographic order of the values' positions in the lists.
/// Order of values: for rules rule size, min support, min confidence, support weight, smoothing,
/// feature share, method, bins, norm; for scorecards loss, points penalty, smoothness, method,
/// bins, norm; for cards max features, bins, norm; for joint members, which use their defaults,
/// norm. Among equals a search takes the first. Throws `usage_error` for an empty list (except
/// norms), a duplicate or an invalid value.
std::vector<candidate> candidates_of(search_space const& s);

/// A recipe as a candidate. A card and a joint member keep the recipe. Others use the norm and the
/// treatment of missing values of the options that are not searched.
candidate candidate_of(l2r::recipe const& recipe);

}  // namespace rulerank::tuning
