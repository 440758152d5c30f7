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

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::rules {

/// Where in a rule an item may stand.
enum class appearance : std::uint8_t { neither = 0, antecedent = 1, consequent = 2, both = 3 };

/// Removes the items that may stand on neither side of a rule from all transactions, which stay, as
/// do the items' ids and names. `where` is [items], or empty: nothing is removed.
void drop_unplaced_items(datasets::transactions& data, std::span<appearance const> where);

struct association_options {
  double min_confidence = 0.8;  ///< of double(both) / double(antecedent)
  std::uint32_t min_size = 1;   ///< items of a rule, both sides together; a rule has 2 at least
  std::uint32_t max_consequent = 0;     ///< items behind the arrow; 0: any number
  std::span<appearance const> where{};  ///< [items], or empty: all stand anywhere
  /// For the list of rules, as `rule_list::bytes_a_rule` counts; more: `out_of_budget`.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// Reads where items may stand, in the form of Borgelt's programs: the first line says it of all
/// items that no other names, every other line names an item and, behind the last blank, says it of
/// that one. Words for it: antecedent, a, ante, body, b, in, i; consequent, c, cons, head, h, out,
/// o; both, ac, bh, inout, io, x; neither, none, neutral, n, -. Blank lines count for nothing.
/// Throws `error` for another word, and for an item named twice or not among `names`.
std::vector<appearance> read_appearances(context const& ctx, std::string const& path,
                                         std::span<std::string const> names);

// Measures of a rule X -> Y from four counts. Names after Tan, Kumar and Srivastava, "Selecting the
// right interestingness measure for association patterns", KDD 2002, but where one is cited.

/// Of `transactions` in all, those with X, with Y, and with both; 0 < antecedent, consequent.
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
/// P(X) P(not Y) / P(X not Y); infinite without a counterexample (Brin et al. 1997). 1 where every
/// transaction has Y.
double conviction(rule_counts const& c);
/// (P(XY) - P(X) P(Y)) / max(P(XY) P(not X), P(X) (P(Y) - P(XY))), -1 to 1 (Zhang 2000); 0 where
/// that is 0 / 0.
double zhang(rule_counts const& c);
/// P(X Y) / P(X or Y).
double jaccard(rule_counts const& c);
/// How far the confidence is from P(Y) towards 1, or below it towards 0, -1 to 1 (Shortliffe and
/// Buchanan 1975); 0 where they are equal.
double certainty(rule_counts const& c);
/// (P(Y | X) + P(X | Y)) / 2 (Kulczynski 1927).
double kulczynski(rule_counts const& c);
/// Pearson's statistic of the 2 x 2 table, without a correction; 0 where a margin is empty.
double chi_square(rule_counts const& c);
/// The probability of a chi-square as large or larger when X and Y are independent, one degree of
/// freedom.
double chi_square_p(rule_counts const& c);

/// The measures by name, in the order in which they are written.
struct rule_measure {
  std::string_view name;
  double (*of)(rule_counts const&);
};
std::span<rule_measure const> rule_measures();

/// Rules as they are found.
class rule_list {
 public:
  struct rule {
    std::span<item const> antecedent;  ///< ascending
    std::span<item const> consequent;  ///< ascending
    rule_counts counts;
  };
  /// What a rule of so many items, both sides together, takes.
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

/// The strong rules X -> Z - X of the itemsets Z of `found`, which are all frequent ones (Freitas
/// 2017, Algorithm 2: an antecedent whose rule is not strong leaves none among its subsets). In the
/// order of the table; of one itemset, smaller consequents first. Throws `usage_error` for a
/// confidence outside 0..1 and an itemset of more than 63 items, and `out_of_budget`.
rule_list association_rules(context const& ctx, itemset_table const& found,
                            std::uint64_t transactions, association_options const& options);

/// About how many rules association_rules() would list, without listing them: the share of strong
/// ones among `draws` drawn from all splits of the itemsets, times the number of all. Exact for a
/// confidence of 0; `ctx.seed` draws.
double estimated_rules(context const& ctx, itemset_table const& found,
                       association_options const& options, std::uint32_t draws = 10'000);

}  // namespace rulerank::rules
