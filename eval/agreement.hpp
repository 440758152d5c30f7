#pragma once

#include "core/context.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Agreement of several sources of labels, and the label of many. Formulas, sources and a worked
// case: docs/concepts/agreement.md.
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::eval {

/// A label that a source gave to a unit (a document of a query). A source may label a unit several
/// times.
struct rating {
  std::size_t unit = 0;
  std::size_t source = 0;
  std::int32_t label = 0;
};

/// Labels of units by sources.
struct ratings {
  std::vector<std::string> sources;
  std::vector<std::size_t> query_of;  ///< [units] the unit's query, 0, 1, ...
  std::vector<std::string> qids;      ///< [queries]
  std::vector<rating> all;

  /// The distinct labels, ascending.
  std::vector<std::int32_t> labels() const;
};

/// How far two labels differ in Krippendorff's alpha.
enum class label_scale : std::uint8_t {
  nominal,  ///< equal or not
  ordinal,  ///< by the number of labels between them
};

/// A measure of agreement with its bootstrap interval; empty where it is not defined.
struct agreement_value {
  std::optional<double> value;
  std::optional<double> low, high;
};

/// Two sources on the units that both labelled; of several labels of a source, the first counts.
struct pair_agreement {
  std::size_t first = 0, second = 0;  ///< sources
  std::size_t units = 0;
  double share = 0;                      ///< of units with equal labels
  std::optional<double> kappa;           ///< Cohen 1960
  std::optional<double> weighted_kappa;  ///< Cohen 1968, squared differences of the labels
  std::vector<std::int32_t> labels;
  std::vector<std::size_t> counts;  ///< [labels x labels] units by the first's and second's label
};

/// Mean over pairs of ratings of a unit, over units with two or more: the share of equal labels.
std::optional<double> equal_share(ratings const& given);
/// Fleiss 1971: units must have equally many ratings, two or more; otherwise empty.
std::optional<double> fleiss_kappa(ratings const& given);
/// Krippendorff 2011: any number of ratings a unit; units with one are left out. Empty if all
/// remaining labels are equal.
std::optional<double> krippendorff_alpha(ratings const& given, label_scale scale);

/// Every pair of sources that share a unit.
std::vector<pair_agreement> pairs_of(ratings const& given);

/// The measures of all sources together, with percentile intervals of `samples` bootstrap samples
/// of whole queries (of units, if there is one query); an interval needs two of these. Seeded by
/// the context; the same for any number of threads.
struct agreement_summary {
  std::size_t units = 0;  ///< with two or more ratings
  agreement_value share, fleiss, alpha_nominal, alpha_ordinal;
};
agreement_summary summarize(context const& ctx, ratings const& given, std::size_t samples = 1000,
                            double confidence = 0.95);

/// How the labels of several sources become one.
enum class consensus_method : std::uint8_t {
  majority,     ///< the most frequent label of a unit; of ties the smallest
  dawid_skene,  ///< Dawid and Skene 1979: maximum likelihood of a confusion matrix per source
  ordinal,      ///< the same for each threshold "label of c or more" (Raykar et al. 2010)
};

/// The estimated labels of all units that have a rating.
struct consensus {
  std::vector<std::int32_t> labels;   ///< [labels] ascending
  std::vector<double> prior;          ///< [labels] shares of the labels
  std::vector<double> probabilities;  ///< [units x labels]; all 0 for a unit without a rating
  /// [sources x labels x labels] probability that a source gives the second label to a unit with
  /// the first; empty for `majority` and `ordinal`.
  std::vector<double> confusion;
  std::size_t iterations = 0;

  /// A unit's most probable label, of ties the smallest; empty without a rating.
  std::optional<std::int32_t> label_of(std::size_t unit) const;
  /// Its probability.
  double probability_of(std::size_t unit) const;
};

/// Begins with the shares of each label among a unit's ratings, and ends when no probability
/// changes by more than 1e-10, or after 10,000 iterations. Throws `usage_error` without ratings.
consensus combine(ratings const& given, consensus_method how);

}  // namespace rulerank::eval
