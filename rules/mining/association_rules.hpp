#pragma once

#include "core/context.hpp"
#include "datasets/transactions.hpp"
#include "rules/itemset.hpp"
#include "rules/mining/itemset_list.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::rules {

/// The sides of a rule on which an item may appear.
enum class appearance : std::uint8_t { neither = 0, antecedent = 1, consequent = 2, both = 3 };

/// Removes the items that may appear on neither side of a rule from all transactions. Keeps all
/// transactions, and the ids and names of items. `where` is [items], or empty: removes nothing.
void drop_unplaced_items(datasets::transactions& data, std::span<appearance const> where);

struct association_options {
  double min_confidence = 0.8;  ///< bound on double(both) / double(antecedent)
  /// Fewest items of a rule, both sides together; at least 2 in effect.
  std::uint32_t min_size = 1;
  std::uint32_t max_consequent = 0;     ///< most items of a consequent; 0: unlimited
  std::span<appearance const> where{};  ///< [items], or empty: any item on either side
  /// Memory for the list of rules, as `rule_list::bytes_a_rule` counts; beyond it, `out_of_budget`
  /// is thrown.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// Reads the allowed sides of items in the format of Borgelt's programs. The first line has the
/// default for all items; every other line has an item and, after the last space, its side.
/// Keywords: antecedent, a, ante, body, b, in, i; consequent, c, cons, head, h, out, o; both, ac,
/// bh, inout, io, x; neither, none, neutral, n, -. Empty lines are ignored. Throws `error` for
/// another keyword, and for an item that is named twice or is not in `names`.
std::vector<appearance> read_appearances(context const& ctx, std::string const& path,
                                         std::span<std::string const> names);

// Measures of a rule X -> Y from four counts. Unless another source is cited, names are from Tan,
// Kumar and Srivastava, "Selecting the right interestingness measure for association patterns", KDD
// 2002.

/// The number of transactions in total, with X, with Y, and with both; 0 < antecedent, consequent.
struct rule_counts {
  std::uint64_t transactions = 0;
  std::uint64_t antecedent = 0;
  std::uint64_t consequent = 0;
  std::uint64_t both = 0;
};

/// P(X Y).
double support(rule_counts const& c);
/// P(Y | X).
double confidence(rule_counts const& c);
/// P(X Y) / (P(X) P(Y)).
double lift(rule_counts const& c);
/// P(X Y) - P(X) P(Y) (Piatetsky-Shapiro 1991).
double leverage(rule_counts const& c);
/// P(X) P(not Y) / P(X not Y); infinite without a counterexample (Brin et al. 1997). 1 if every
/// transaction contains Y.
double conviction(rule_counts const& c);
/// (P(XY) - P(X) P(Y)) / max(P(XY) P(not X), P(X) (P(Y) - P(XY))), from -1 to 1 (Zhang 2000); 0 for
/// 0 / 0.
double zhang(rule_counts const& c);
/// P(X Y) / P(X or Y).
double jaccard(rule_counts const& c);
/// The change from P(Y) to the confidence, relative to the largest possible change in this
/// direction (to 1 or to 0); from -1 to 1 (Shortliffe and Buchanan 1975); 0 if they are equal.
double certainty(rule_counts const& c);
/// (P(Y | X) + P(X | Y)) / 2 (Kulczynski 1927).
double kulczynski(rule_counts const& c);
/// Pearson's statistic of the 2 × 2 table, without a correction; 0 if a margin is empty.
double chi_square(rule_counts const& c);
/// The probability of a chi-square at least as large if X and Y are independent, with one degree of
/// freedom.
double chi_square_p(rule_counts const& c);

/// The measures by name, in output order.
struct rule_measure {
  std::string_view name;
  double (*of)(rule_counts const&);
};
std::span<rule_measure const> rule_measures();

/// A list of rules.
class rule_list {
 public:
  struct rule {
    std::span<item const> antecedent;  ///< ascending
    std::span<item const> consequent;  ///< ascending
    rule_counts counts;
  };
  /// The bytes of a rule with `items` items, both sides together.
  static std::size_t bytes_a_rule(std::size_t items) {
    return sizeof(place) + items * sizeof(item);
  }

  std::size_t size() const noexcept { return rules_.size(); }
  rule operator[](std::size_t i) const;
  void add(std::span<item const> antecedent, std::span<item const> consequent,
           rule_counts const& counts);

 private:
  struct place {
    std::size_t begin = 0;
    std::uint32_t antecedent = 0;  // items
    std::uint32_t consequent = 0;
    rule_counts counts;
  };
  std::vector<item> items_;
  std::vector<place> rules_;
};

/// Returns the strong rules X -> Z - X of the itemsets Z of `found`, which must be all frequent
/// ones (Freitas 2017, Algorithm 2: if the rule of an antecedent is not strong, no subset of the
/// antecedent has a strong rule). The rules are in the order of the table; for one itemset, smaller
/// consequents come first. Throws `usage_error` for a confidence outside 0..1 and for an itemset of
/// more than 63 items, and `out_of_budget`.
rule_list association_rules(context const& ctx, itemset_table const& found,
                            std::uint64_t transactions, association_options const& options);

/// Estimates the number of rules that association_rules() would return: the share of strong rules
/// among `draws` random splits of the itemsets, times the number of all splits. Exact for a
/// confidence of 0. Uses `ctx.seed`.
double estimated_rules(context const& ctx, itemset_table const& found,
                       association_options const& options, std::uint32_t draws = 10'000);

}  // namespace rulerank::rules
