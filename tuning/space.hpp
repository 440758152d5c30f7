#pragma once

#include "datasets/discretizer.hpp"
#include "l2r/options.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

// What a search may choose from. These functions may be called from several threads.
namespace rulerank::tuning {

/// How features are cut.
struct cuts {
  datasets::binning method = datasets::binning::tube;
  int bins = 10;  ///< 0: by cross-validation
  /// None: that of the options that are not searched for.
  std::optional<datasets::normalization> norm;
  friend auto operator<=>(cuts const&, cuts const&) = default;
};

/// One way to rank.
struct candidate {
  tuning::cuts cuts;
  l2r::scoring_options scoring;
};

/// Every combination of these values is a candidate.
struct space {
  std::vector<datasets::binning> methods{datasets::binning::tube, datasets::binning::width,
                                         datasets::binning::frequency};
  std::vector<int> bins{5, 10, 20};
  std::vector<datasets::normalization> norms;  ///< empty: not searched for
  std::vector<std::uint32_t> rule_sizes{3, 4};
  std::vector<std::uint32_t> min_supports{1, 3};
  std::vector<double> min_confidences{0.001, 0.1};
  std::vector<double> support_weights{0, -0.25, -0.5};
  std::vector<double> smoothings{0, 5, 20};
  std::vector<double> feature_shares{1};
};

/// The candidates in lexicographic order of their values' positions in the lists, rule size first,
/// then min support, min confidence, support weight, smoothing, feature share, method, bins, norm:
/// among equals a search takes the first one. Throws `usage_error` for a list that is empty (but
/// for norms) or has a value twice, and for values that make no sense.
std::vector<candidate> candidates_of(space const& s);

/// One object: method, bins (a number or "cv"), norm (where it has one), rule_size, min_support,
/// min_confidence, support_weight, smoothing, feature_share.
nlohmann::ordered_json to_json(candidate const& c);
/// The lists.
nlohmann::ordered_json to_json(space const& s);

}  // namespace rulerank::tuning
