#pragma once

#include "core/context.hpp"
#include "l2r/prepared_training.hpp"
#include "rules/itemset.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

// Why a document has its score: what each of its rules adds (docs/modules/l2r.md, Explanations).
//
// With the score phi = num / den, a rule X -> r adds its weight to den and r times that, its share,
// to num. The shares of all rules add up to num, their weights to den, in integers. A document
// without rules has the training set's mean label L / N (L the sum of the labels of the N training
// documents); against that a rule moves the score by (share - L / N weight) / den, and what all of
// them move adds up to phi - L / N.
namespace rulerank::l2r {

/// Wide enough for every number here, exactly.
using exact_integer = boost::multiprecision::int512_t;

/// A numerator over a denominator, as a double.
double quotient(exact_integer const& numerator, exact_integer const& denominator);

/// A valid rule X -> r of a document.
struct document_rule {
  std::vector<rules::item> antecedent;  ///< the training set's items, ascending
  std::int32_t label = 0;               ///< the consequent
  std::uint32_t support = 0;            ///< sigma: training documents with X and the label
  std::uint32_t documents = 0;          ///< n: training documents with X; the confidence is sigma/n
  std::vector<std::uint32_t> classes;   ///< [class] of these n, as vertical_index numbers classes
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
  double score = 0;           ///< as every engine gives it, bit for bit
  exact_integer numerator;    ///< num; 0 where no rule is valid
  exact_integer denominator;  ///< den; 1 where no rule is valid, which is otherwise more
  double mean_label = 0;      ///< the score of a document without rules
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

/// Explains the score of document d of `test`; at most `top` rules are listed up, down and level
/// each.
/// Every itemset is counted, one after the other. Throws `usage_error` where there is no such
/// document.
explanation explain(context const& ctx, prepared_training const& training, known_items const& test,
                    std::size_t d, std::size_t top = 20);

/// Compares document `first` with document `second`; at most `top` rules each way.
comparison compare(context const& ctx, prepared_training const& training, known_items const& test,
                   std::size_t first, std::size_t second, std::size_t top = 20);

}  // namespace rulerank::l2r
