#include "rules/mining/association_rules.hpp"

#include <algorithm>
#include <limits>

#include <boost/math/distributions/chi_squared.hpp>

namespace rulerank::inline v0::rules {
namespace {

__extension__ using wide = __int128;

double as_double(std::uint64_t x) {
  return static_cast<double>(x);
}

/// Returns n P(XY) - P(X) P(Y) n, times n, exactly, so that the result is 0 if and only if X and Y
/// are independent.
double surplus(rule_counts const& c) {
  return static_cast<double>(wide{c.transactions} * c.both - wide{c.antecedent} * c.consequent);
}

constexpr rule_measure measures[] = {
    {"support", support},       {"confidence", confidence}, {"lift", lift},
    {"leverage", leverage},     {"conviction", conviction}, {"zhang", zhang},
    {"jaccard", jaccard},       {"certainty", certainty},   {"kulczynski", kulczynski},
    {"chi_square", chi_square}, {"p", chi_square_p},
};

}  // namespace

double support(rule_counts const& c) {
  return as_double(c.both) / as_double(c.transactions);
}

double confidence(rule_counts const& c) {
  return as_double(c.both) / as_double(c.antecedent);
}

double lift(rule_counts const& c) {
  return as_double(c.both) * as_double(c.transactions) /
         (as_double(c.antecedent) * as_double(c.consequent));
}

double leverage(rule_counts const& c) {
  return surplus(c) / (as_double(c.transactions) * as_double(c.transactions));
}

double conviction(rule_counts const& c) {
  if (c.consequent == c.transactions) return 1;
  if (c.both == c.antecedent) return std::numeric_limits<double>::infinity();
  return as_double(c.antecedent) * as_double(c.transactions - c.consequent) /
         (as_double(c.transactions) * as_double(c.antecedent - c.both));
}

double zhang(rule_counts const& c) {
  double const least = std::max(as_double(c.both) * as_double(c.transactions - c.antecedent),
                                as_double(c.antecedent) * as_double(c.consequent - c.both));
  return least == 0 ? 0 : surplus(c) / least;
}

double jaccard(rule_counts const& c) {
  return as_double(c.both) / as_double(c.antecedent + c.consequent - c.both);
}

double certainty(rule_counts const& c) {
  double const above = surplus(c);
  if (above == 0) return 0;
  double const room =
      above > 0 ? as_double(c.transactions - c.consequent) : as_double(c.consequent);
  return above / (as_double(c.antecedent) * room);
}

double kulczynski(rule_counts const& c) {
  return (confidence(c) + as_double(c.both) / as_double(c.consequent)) / 2;
}

double chi_square(rule_counts const& c) {
  double const margins = as_double(c.antecedent) * as_double(c.transactions - c.antecedent) *
                         as_double(c.consequent) * as_double(c.transactions - c.consequent);
  if (margins == 0) return 0;
  double const s = surplus(c);
  return as_double(c.transactions) * (s / margins) * s;
}

double chi_square_p(rule_counts const& c) {
  return boost::math::cdf(
      boost::math::complement(boost::math::chi_squared_distribution<double>(1), chi_square(c)));
}

std::span<rule_measure const> rule_measures() {
  return measures;
}

}  // namespace rulerank::rules
