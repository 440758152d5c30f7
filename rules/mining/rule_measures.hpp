#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// Measures of a rule X -> Y from four counts. Names after Tan, Kumar and Srivastava, "Selecting the
// right interestingness measure for association patterns", KDD 2002, but where one is cited.
namespace rulerank::rules {

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

}  // namespace rulerank::rules
