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

// Why a document has its score: what each of its rules adds (docs/reference/modules/l2r.md,
// Explanations).
//
// With the score phi = num / den, a rule X -> r adds its weight to den and r times that, its share,
// to num. The shares of all rules add up to num, their weights to den, in integers. A document
// without rules has the training set's mean label L / N (L the sum of the labels of the N training
// documents); against that a rule moves the score by (share - L / N weight) / den, and what all of
// them move adds up to phi - L / N.
//
// Threads: all functions here may be called from any number of threads at once, each call with a
// context of its own.
namespace rulerank::inline v0::l2r {

/// A whole number below 2^512 in size: wide enough for every number here, exactly. Larger results
/// of its operations wrap.
class exact_integer {
 public:
  exact_integer() = default;
  template <std::integral T>
  exact_integer(T value)  // NOLINT(google-explicit-constructor): a number like any other
      : limbs_{value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                         : static_cast<std::uint64_t>(value)},
        negative_(value < 0) {}
  /// The size in limbs of 64 bits, the lowest first, and the sign.
  exact_integer(std::array<std::uint64_t, 8> const& limbs, bool negative);

  std::array<std::uint64_t, 8> const& limbs() const noexcept { return limbs_; }
  bool is_negative() const noexcept { return negative_; }
  std::string str() const;  ///< decimal digits, after a minus below 0
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
  bool negative_ = false;  // never of 0
};

exact_integer abs(exact_integer const& of);

/// A numerator over a denominator, as a double.
double quotient(exact_integer const& numerator, exact_integer const& denominator);

/// A valid rule X -> r of a document.
struct document_rule {
  std::vector<rules::item> antecedent;  ///< items as item_ranges numbers them, ascending
  std::int32_t label = 0;               ///< the consequent
  std::uint32_t support = 0;            ///< sigma: training documents with X and the label
  std::uint32_t documents = 0;          ///< n: training documents with X; the confidence is sigma/n
  std::vector<std::uint32_t> classes;   ///< of these n those of each label of `labels`
  exact_integer share;                  ///< over den: what it adds to the score
  exact_integer weight;                 ///< over den: what it adds to 1, the sum of all weights
  /// Over N den: what it moves the score by against the mean label. In a comparison over N times
  /// both documents' den: by how much it puts the first document above the second.
  exact_integer moved;
  bool first = true;    ///< of the (first) document
  bool second = false;  ///< in a comparison: of the second document
};

/// The rules of a document with one label.
struct label_rules {
  std::int32_t label = 0;
  std::uint64_t rules = 0;
  exact_integer weight;  ///< over den
};

/// The rules that moved most, and all of them together.
struct moving_rules {
  /// By `moved`, the furthest first; then by support, larger first; then small antecedents first,
  /// in the order of their items; then by label, larger first.
  std::vector<document_rule> most;
  std::uint64_t rules = 0;  ///< of them all, those listed included
  exact_integer moved;      ///< by them all
};

/// An item of a document, and what its rules move.
struct item_part {
  rules::item item = 0;
  std::uint64_t rules = 0;  ///< that have it in their antecedents and move anything
  /// What these rules move, each split evenly among its antecedent's items: the item's Shapley
  /// value (L. S. Shapley, A value for n-person games, 1953) where a set of items is worth what the
  /// rules that it holds move. Over `moving_items::split` times what `moved` of a rule is over.
  exact_integer moved;
};

/// What all rules move, split among items.
struct moving_items {
  std::vector<item_part> items;  ///< those that move furthest first, then as items are numbered
  exact_integer split = 1;       ///< the least common multiple of the sizes of antecedents
};

/// A document's score and where it comes from. The shares of the rules up, down and level add up to
/// the numerator, their weights to the denominator.
struct explanation {
  double score = 0;            ///< as every engine gives it, bit for bit
  exact_integer numerator;     ///< num; 0 where no rule is valid
  exact_integer denominator;   ///< den; 1 where no rule is valid, which is otherwise more
  double mean_label = 0;       ///< the score of a document without rules
  std::uint64_t training = 0;  ///< N: the training documents
  std::uint64_t rules = 0;
  std::uint64_t itemsets = 0;       ///< with a valid rule
  std::vector<label_rules> labels;  ///< every label of the training set, descending
  moving_items items;               ///< all that the document has
  moving_rules up, down;            ///< up: away from the mean label towards larger scores
  moving_rules level;               ///< those that move nothing: their label is the mean label
};

/// Two documents, and which rules put one above the other.
struct comparison {
  explanation first, second;  ///< without rules and items
  /// N x den of the first x den of the second: what `moved` counts in.
  exact_integer denominator;
  moving_items items;  ///< of both documents
  /// up: for the first document; down: for the second. A rule of both counts by the difference.
  /// What all of them move adds up to the difference of the two scores.
  moving_rules up, down;
};

/// Explains the score that `by` gives document d of `test`; at most `top` rules are listed up, down
/// and level each. Every itemset is counted, one after the other. Throws `usage_error` where there
/// is no such document.
explanation explain(context const& ctx, ranker const& by, datasets::binned_dataset const& test,
                    std::size_t d, std::size_t top = 20);

/// Compares document `first` with document `second`; at most `top` rules each way.
comparison compare(context const& ctx, ranker const& by, datasets::binned_dataset const& test,
                   std::size_t first, std::size_t second, std::size_t top = 20);

/// What the items of a ranker's rules stand for, [items]; `cuts` made its training documents'
/// items.
std::vector<datasets::item_range> item_ranges(ranker const& by, datasets::discretizer const& cuts);
/// What the items of a card, or of a joint member, stand for, [items]. Throws `usage_error` for one
/// without cuts.
std::vector<datasets::item_range> item_ranges(scorecard_member const& of);
std::vector<datasets::item_range> item_ranges(joint_member const& of);

/// What one feature adds to a score that is a sum: points of an item, a weight times a z-score, or
/// (joint) both; or what a pair of features adds.
struct score_term {
  std::uint32_t feature = 0;
  double adds = 0;
  /// scorecard, joint: as explainer::ranges numbers it; none: no item
  std::optional<rules::item> item;
  double weight = 0;     ///< linear, joint: of the z-score; linear: or of the missing value
  double z = 0;          ///< linear, joint; 0 where missing
  bool missing = false;  ///< linear, joint: the document misses the value
  double points = 0;     ///< joint: of the item, or of the pair
  std::optional<std::uint32_t> partner{};     ///< joint: the pair's second feature
  std::optional<rules::item> partner_item{};  ///< joint: its item
};

/// A score that is a sum of terms, one a feature, ascending, then (joint) one a pair of features;
/// added in this order they are the score (scorecard: within 1e-12, for the sum is of integers).
struct sum_explanation {
  double score = 0;
  std::vector<score_term> terms;
};

/// Two documents by the same sum: term k of both is of the same feature.
struct sum_comparison {
  sum_explanation first, second;
};

/// What a member does to the combined score of a document of a list.
struct member_explanation {
  /// Of the member's own score: of rules an explanation, of other kinds the terms.
  std::variant<explanation, sum_explanation> why;
  double score = 0;                ///< the member's own
  std::size_t rank = 0;            ///< of the document by the member's own scores, from 1
  double mean = 0, deviation = 0;  ///< of its scores over the list
  /// What the member adds to the combined score: its standardized score over the number of members;
  /// of a member alone its score.
  double part = 0;
};

/// A document's combined score. The members' parts add up to it within 1e-12.
struct model_explanation {
  double score = 0;
  std::size_t rank = 0;  ///< in the list, from 1
  std::vector<member_explanation> members;
};

struct member_comparison {
  std::variant<comparison, sum_comparison> why;  ///< of the member's own scores
  double first_score = 0, second_score = 0;      ///< these
  std::size_t first_rank = 0, second_rank = 0;
  double mean = 0, deviation = 0;
  double first_part = 0, second_part = 0;
};

struct model_comparison {
  double first_score = 0, second_score = 0;
  std::size_t first_rank = 0, second_rank = 0;
  std::vector<member_comparison> members;
};

/// The effect of a feature, or of a pair of features of a joint member, on a combined score.
struct feature_effect {
  std::uint32_t feature = 0;
  std::optional<std::uint32_t> partner{};  ///< joint: the pair's second feature
  double adds = 0;                         ///< the sum over the members
  std::vector<double> by_member{};         ///< [members]
};

/// A document's combined score as a sum in the score's unit: `base` and what the features add are
/// the score within 1e-12.
struct score_effects {
  double score = 0;
  std::size_t rank = 0;  ///< in the list, from 1
  /// The score of each document of the list before features add to it: with rules the mean label,
  /// with several members minus the means of their scores. 0 for a sum alone.
  double base = 0;
  std::vector<double> base_by_member{};  ///< [members]
  /// Each feature of any member once, ascending, pairs after their first feature. The same for each
  /// document of the list.
  std::vector<feature_effect> features;
};

/// Numbers as multiples of `unit` that add up to `sum` of them: each is rounded down, then those
/// with the largest remainders are raised by one unit (of equal ones the first). Where `sum` is not
/// near the sum of the numbers, all are raised or lowered alike before. [numbers]
std::vector<std::int64_t> rounded_to_sum(std::span<double const> numbers, double unit,
                                         std::int64_t sum);

/// A document's effects as they are shown, in units of the last digit: `base` and `adds` are the
/// rounded score; the members' columns add up to `base` and `adds`, line by line.
struct shown_effects {
  std::int64_t score = 0, base = 0;
  std::vector<std::int64_t> base_by_member;          ///< [members] the same for all documents
  std::vector<std::int64_t> adds;                    ///< [features]
  std::vector<std::vector<std::int64_t>> by_member;  ///< [members][features]
};
/// Digits after the point to show of documents: 0 where all effects are whole, as on a card;
/// else 6.
int digits_of(std::span<score_effects const> all);
shown_effects shown(score_effects const& of, int digits);

struct joint_documents;
class known_items;

/// Explains the scores of one query's list of documents.
class explainer {
 public:
  /// Scores the list; refers to `by`, which outlives it. Throws `usage_error` for documents of no
  /// query or of several.
  explainer(context const& ctx, scorer const& by, datasets::dataset const& list);

  /// The scores [documents] and their order, as scorer::score and l2r::ranking give them.
  std::vector<double> const& scores() const noexcept { return scores_; }
  std::vector<std::size_t> const& order() const noexcept { return order_; }

  /// Document d; at most `top` rules of each member each way. Throws `usage_error` where there is
  /// no such document.
  model_explanation explain(context const& ctx, std::size_t d, std::size_t top = 20) const;
  /// Documents `first` and `second`.
  model_comparison compare(context const& ctx, std::size_t first, std::size_t second,
                           std::size_t top = 20) const;
  /// Document d by features: terms of sums, and of rules the parts of items, each over the
  /// deviation of its member's scores and over the number of members. Throws `usage_error` where
  /// there is no such document.
  score_effects effects(context const& ctx, std::size_t d) const;
  /// The effects in a document that `explain` explained; its rules are not counted again.
  score_effects effects(model_explanation const& why) const;
  /// Each document of the list [documents]. Rules are walked once a document, several documents at
  /// once.
  std::vector<score_effects> effects(context const& ctx) const;
  /// What the items of member k stand for; none for a member of raw documents.
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
