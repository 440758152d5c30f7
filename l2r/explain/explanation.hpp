#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/item_words.hpp"
#include "l2r/linear/linear.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/rules/ranker.hpp"
#include "rules/itemset.hpp"

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

// Explanation of a document's score: the contribution of each rule (docs/reference/modules/l2r.md,
// Explanations).
//
// Let the score be phi = num / den. A rule X -> r adds its weight to den and its share, r times the
// weight, to num. Shares and weights are integers; over all rules they sum to num and den. A
// document without rules has the training set's mean label L / N (L: the sum of the labels of the N
// training documents). Relative to that mean, a rule moves the score by (share - L / N weight) /
// den. These moves sum to phi - L / N.
//
// Threads: all functions here may be called from any number of threads at once, each call with a
// context of its own.
namespace rulerank::inline v0::l2r {

/// An exact integer of magnitude below 2^512, which covers every number in this module. Larger
/// results wrap.
class exact_integer {
 public:
  exact_integer() = default;
  template <std::integral T>
  exact_integer(T value)  // NOLINT(google-explicit-constructor): converts like a built-in integer
      : limbs_{value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                         : static_cast<std::uint64_t>(value)},
        negative_(value < 0) {}
  /// The magnitude in 64-bit limbs, lowest first, and the sign.
  exact_integer(std::array<std::uint64_t, 8> const& limbs, bool negative);

  std::array<std::uint64_t, 8> const& limbs() const noexcept { return limbs_; }
  bool is_negative() const noexcept { return negative_; }
  std::string str() const;  ///< decimal digits, with a leading minus if negative
  double to_double() const;

  exact_integer operator-() const;
  exact_integer& operator+=(exact_integer const& other);
  exact_integer& operator-=(exact_integer const& other);
  exact_integer& operator*=(exact_integer const& other);
  friend exact_integer operator+(exact_integer a, exact_integer const& b) { return a += b; }
  friend exact_integer operator-(exact_integer a, exact_integer const& b) { return a -= b; }
  friend exact_integer operator*(exact_integer a, exact_integer const& b) { return a *= b; }
  friend bool operator==(exact_integer const&, exact_integer const&) = default;
  friend std::strong_ordering operator<=>(exact_integer const& a, exact_integer const& b);

 private:
  std::array<std::uint64_t, 8> limbs_{};
  bool negative_ = false;  // false for 0
};

exact_integer abs(exact_integer const& of);

/// numerator / denominator, rounded to double.
double quotient(exact_integer const& numerator, exact_integer const& denominator);

/// A valid rule X -> r of a document.
struct document_rule {
  std::vector<rules::item> antecedent;  ///< items as item_ranges numbers them, ascending
  std::int32_t label = 0;               ///< the consequent
  std::uint32_t support = 0;            ///< sigma: training documents with X and the label
  std::uint32_t documents = 0;          ///< n: training documents with X; the confidence is sigma/n
  std::vector<std::uint32_t> classes;   ///< [labels] the n documents by label, ordered as `labels`
  exact_integer share;                  ///< its contribution to the numerator
  exact_integer weight;                 ///< its contribution to the denominator
  /// The contribution to the score minus the mean label, in units of 1 / (N den). In a comparison:
  /// the contribution to the first score minus the second, in units of 1 / comparison::denominator.
  exact_integer moved;
  bool first = true;    ///< holds for the (first) document
  bool second = false;  ///< in a comparison: holds for the second document
};

/// A document's rules with one consequent.
struct label_rules {
  std::int32_t label = 0;
  std::uint64_t rules = 0;
  exact_integer weight;  ///< over den
};

/// The rules with the largest effect, and the totals over all rules.
struct moving_rules {
  /// At most `top` rules, by decreasing |moved|, then decreasing support, then increasing
  /// antecedent size, then antecedent items, then decreasing label.
  std::vector<document_rule> most;
  std::uint64_t rules = 0;  ///< number of all rules, listed or not
  exact_integer moved;      ///< sum over all rules
};

/// An item of a document and the effect of the rules that use it.
struct item_part {
  rules::item item = 0;
  std::uint64_t rules = 0;  ///< rules with this item in the antecedent and a nonzero effect
  /// The sum of these rules' `moved`, each split evenly among the items of its antecedent: the
  /// item's Shapley value (L. S. Shapley, A value for n-person games, 1953) in the game where a set
  /// of items is worth the `moved` of the rules that it contains. In units of the rules' `moved`
  /// divided by `moving_items::split`.
  exact_integer moved;
};

/// The effects of all rules, split among items.
struct moving_items {
  std::vector<item_part> items;  ///< by decreasing |moved|, then by item number
  exact_integer split = 1;       ///< the least common multiple of the antecedents' sizes
};

/// A document's score and its origin. The shares of the rules in `up`, `down` and `level` sum to
/// the numerator, their weights to the denominator.
struct explanation {
  double score = 0;            ///< bit-identical to every engine's score
  exact_integer numerator;     ///< num; 0 where no rule is valid
  exact_integer denominator;   ///< den; 1 if no rule is valid, otherwise larger
  double mean_label = 0;       ///< the score of a document without rules
  std::uint64_t training = 0;  ///< N: the training documents
  std::uint64_t rules = 0;
  std::uint64_t itemsets = 0;       ///< itemsets with at least one valid rule
  std::vector<label_rules> labels;  ///< every label of the training set, descending
  moving_items items;               ///< all items of the document
  moving_rules up, down;  ///< up: rules that raise the score above the mean label; down: below
  moving_rules level;     ///< rules without effect: their label equals the mean label
};

/// Two documents, and the rules that rank one above the other.
struct comparison {
  explanation first, second;  ///< rules and items are left empty
  /// N x (den of the first) x (den of the second): `moved` is in units of 1 / denominator.
  exact_integer denominator;
  moving_items items;  ///< items of both documents
  /// up: in favour of the first document; down: of the second. A rule that holds for both documents
  /// counts with its difference. All effects sum to the difference of the two scores.
  moving_rules up, down;
};

/// Explains the score that `by` gives document d of `test`; lists at most `top` rules each in `up`,
/// `down` and `level`. Counts every itemset of the document on one thread. Throws `usage_error` if
/// d is out of range or the document has too many itemsets.
explanation explain(context const& ctx, ranker const& by, datasets::binned_dataset const& test,
                    std::size_t d, std::size_t top = 20);

/// Compares document `first` with document `second`; lists at most `top` rules in each direction.
comparison compare(context const& ctx, ranker const& by, datasets::binned_dataset const& test,
                   std::size_t first, std::size_t second, std::size_t top = 20);

/// The value ranges of the items in a ranker's rules, [items]. `cuts`: those that binned the
/// ranker's training documents.
std::vector<datasets::item_range> item_ranges(ranker const& by, datasets::discretizer const& cuts);
/// The value ranges of the items of a scorecard or joint member, [items]. Throws `usage_error` for
/// a member without cuts.
std::vector<datasets::item_range> item_ranges(scorecard_member const& of);
std::vector<datasets::item_range> item_ranges(joint_member const& of);

/// One feature's contribution to a score that is a sum: the points of an item, a weight times a
/// z-score, or (joint) both. Joint: also the contribution of a pair of features.
struct score_term {
  std::uint32_t feature = 0;
  double adds = 0;
  /// scorecard, joint: as numbered in explainer::ranges; empty: no item
  std::optional<rules::item> item;
  double weight = 0;     ///< linear, joint: weight of the z-score; linear: or of the missing value
  double z = 0;          ///< linear, joint; 0 where missing
  bool missing = false;  ///< linear, joint: the document has no value
  double points = 0;     ///< joint: of the item or the pair
  std::optional<std::uint32_t> partner{};     ///< joint: the pair's second feature
  std::optional<rules::item> partner_item{};  ///< joint: the second feature's item
};

/// A score that is a sum of terms: one per feature, ascending, then (joint) one per pair of
/// features. Added in this order they give the score (scorecard: within 1e-12, because the score is
/// an integer sum).
struct sum_explanation {
  double score = 0;
  std::vector<score_term> terms;
};

/// Two documents scored by the same member: term k belongs to the same feature in both.
struct sum_comparison {
  sum_explanation first, second;
};

/// A member's contribution to the combined score of a document within its list.
struct member_explanation {
  /// The member's own score: an explanation for rules, terms for other kinds.
  std::variant<explanation, sum_explanation> why;
  double score = 0;                ///< the member's own score
  std::size_t rank = 0;            ///< rank of the document by the member's own scores, from 1
  double mean = 0, deviation = 0;  ///< of the member's scores over the list
  /// The contribution to the combined score: the standardized score divided by the number of
  /// members. For a model with one member: its score.
  double part = 0;
};

/// A document's combined score. The members' `part` values sum to it within 1e-12.
struct model_explanation {
  double score = 0;
  std::size_t rank = 0;  ///< in the list, from 1
  std::vector<member_explanation> members;
};

struct member_comparison {
  std::variant<comparison, sum_comparison> why;  ///< about the member's own scores
  double first_score = 0, second_score = 0;      ///< the member's own scores
  std::size_t first_rank = 0, second_rank = 0;
  double mean = 0, deviation = 0;
  double first_part = 0, second_part = 0;
};

struct model_comparison {
  double first_score = 0, second_score = 0;
  std::size_t first_rank = 0, second_rank = 0;
  std::vector<member_comparison> members;
};

/// The effect of a feature, or of a joint member's pair of features, on a combined score.
struct feature_effect {
  std::uint32_t feature = 0;
  std::optional<std::uint32_t> partner{};  ///< joint: the pair's second feature
  double adds = 0;                         ///< sum over the members
  std::vector<double> by_member{};         ///< [members]
};

/// A document's combined score as a sum: `base` plus the effects of the features, within 1e-12. In
/// units of the score.
struct score_effects {
  double score = 0;
  std::size_t rank = 0;  ///< in the list, from 1
  /// The common offset of the list's documents: the mean label for rules; with several members,
  /// minus the means of their scores as well. 0 for a single scorecard, linear or joint member.
  double base = 0;
  std::vector<double> base_by_member{};  ///< [members]
  /// One entry per feature of any member, ascending; pairs follow their first feature. All
  /// documents of a list have the same entries.
  std::vector<feature_effect> features;
};

/// Rounds numbers to multiples of `unit` that sum to `sum` multiples, by the largest-remainder
/// method: round down, then raise those with the largest remainders by one (ties: the first). If
/// `sum` is not near the sum of the numbers, all are shifted evenly first. [numbers]
std::vector<std::int64_t> rounded_to_sum(std::span<double const> numbers, double unit,
                                         std::int64_t sum);

/// A document's effects in units of the last displayed digit. `base` plus `adds` is the rounded
/// score; in each row the members' values sum to `base` or `adds`.
struct shown_effects {
  std::int64_t score = 0, base = 0;
  std::vector<std::int64_t> base_by_member;  ///< [members] equal for all documents of the list
  std::vector<std::int64_t> adds;            ///< [features]
  std::vector<std::vector<std::int64_t>> by_member;  ///< [members][features]
};
/// Decimals to display: 0 if all effects are whole, as on a card; else 6.
int digits_of(std::span<score_effects const> all);
shown_effects shown(score_effects const& of, int digits);

struct joint_documents;
class known_items;

/// Explains the scores of one query's list of documents.
class explainer {
 public:
  /// Scores the list. Keeps a reference to `by`. Throws `usage_error` unless all documents belong
  /// to one query.
  explainer(context const& ctx, scorer const& by, datasets::dataset const& list);

  /// The scores [documents] and the ranking, as returned by scorer::score and l2r::ranking.
  std::vector<double> const& scores() const noexcept { return scores_; }
  std::vector<std::size_t> const& order() const noexcept { return order_; }

  /// Explains document d; lists at most `top` rules per member in each direction. Throws
  /// `usage_error` if d is out of range.
  model_explanation explain(context const& ctx, std::size_t d, std::size_t top = 20) const;
  /// Compares documents `first` and `second`.
  model_comparison compare(context const& ctx, std::size_t first, std::size_t second,
                           std::size_t top = 20) const;
  /// Document d by feature: for sums the terms, for rules the item effects, each divided by the
  /// deviation of the member's scores and the number of members. Throws `usage_error` if d is out
  /// of range.
  score_effects effects(context const& ctx, std::size_t d) const;
  /// The effects in a document explained by `explain`; does not count its rules again.
  score_effects effects(model_explanation const& why) const;
  /// The effects in each document of the list [documents]. Counts rules once per document,
  /// documents in parallel.
  std::vector<score_effects> effects(context const& ctx) const;
  /// The value ranges of member k's items; empty for a member that scores raw documents.
  std::vector<datasets::item_range> ranges(std::size_t k) const;

 private:
  struct member_list {
    std::shared_ptr<datasets::binned_dataset const> items;  // null for raw documents
    std::vector<linear_part> parts;                         // linear: [documents x features]
    std::shared_ptr<joint_documents const> joint;           // joint
    std::shared_ptr<known_items const> known;               // rules
    std::vector<double> scores;
    std::vector<std::size_t> order;
    double mean = 0, deviation = 0;
  };

  ranker const& rules_of(std::size_t k) const;
  void expect_explainable(context const& ctx) const;
  model_explanation explained(context const& ctx, std::size_t d, std::size_t top) const;
  std::vector<std::vector<datasets::item_range>> all_ranges() const;
  double part(std::size_t k, std::size_t d) const;
  sum_explanation terms(std::size_t k, std::size_t d) const;
  std::vector<score_term> joint_terms(std::size_t k, std::size_t d) const;

  scorer const& by_;
  std::vector<member_list> members_;
  std::vector<double> scores_;
  std::vector<std::size_t> order_;
};

}  // namespace rulerank::l2r
