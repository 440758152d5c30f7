#pragma once

#include "core/context.hpp"
#include "eval/evaluate.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

struct test_result {
  double statistic = 0;  ///< Student's t, or the mean difference for the randomization test
  double p = 1;          ///< two-sided
};

/// Student's two-sided paired t-test of the differences' mean against 0. With fewer than two
/// differences, or all 0: p = 1. With all differences equal and not 0: t is infinite, p = 0.
test_result paired_t_test(std::span<double const> differences);

/// The standard deviation of a sample (over n - 1); 0 for fewer than two values.
double standard_deviation(std::span<double const> values);

/// The standard error of the mean of a sample; 0 for fewer than two values.
double standard_error(std::span<double const> values);

/// The confidence interval of the mean of paired differences, by Student's t.
struct mean_interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};
/// With one difference the interval is the mean alone; with none it is 0. Throws `usage_error` for
/// a confidence that is not between 0 and 1.
mean_interval confidence_interval(std::span<double const> differences, double confidence = 0.95);

/// Half widths of the confidence intervals of means compared within queries: each query's mean over
/// all conditions is subtracted first, because it is common to them (Cousineau 2005, with the
/// correction of Morey, Confidence intervals from normalized data, Tutorials in Quantitative
/// Methods for Psychology 4(2), 2008). `values`: [conditions][queries]. With one condition: the
/// interval of its mean. Throws `usage_error` for conditions with different numbers of queries.
std::vector<double> within_query_intervals(std::span<std::vector<double> const> values,
                                           double confidence = 0.95);

/// Fisher's randomization test: flips the sign of each difference at random `permutations` times
/// (B); p = (1 + #{|d*| >= |d|}) / (1 + B), d the mean; d* within rounding of |d| counts. Seeded by
/// the context; the same for any number of threads. (Smucker, Allan and Carterette, A comparison of
/// statistical significance tests for information retrieval evaluation, CIKM 2007.) Throws
/// `usage_error` for 0 permutations.
test_result fisher_randomisation(context const& ctx, std::span<double const> differences,
                                 std::uint64_t permutations = 100'000);

/// Holm's step-down correction: adjusted p-values, in the given order. (Holm, Scandinavian Journal
/// of Statistics 6(2), 1979.)
std::vector<double> holm(std::span<double const> p);

/// One system: its name and its values on each test set (fold).
struct system_values {
  std::string name;
  std::vector<query_values> folds;
};

/// The comparisons that share one Holm correction.
enum class holm_family {
  measure,  ///< all systems on one measure
  report,   ///< all systems on all measures
};

struct comparison_options {
  bool paired_t = true;
  bool fisher = true;
  std::uint64_t permutations = 100'000;
  holm_family family = holm_family::measure;
};

struct corrected_test : test_result {
  double p_holm = 1;
};

/// A system against the reference on one measure, paired over all queries of all folds.
struct comparison {
  std::string reference;
  std::string system;
  measure on;
  std::size_t queries = 0;
  double difference = 0;  ///< mean over all queries, system - reference
  std::size_t wins = 0;   ///< queries on which the system is better
  std::size_t ties = 0;   ///< differences of at most 1e-12
  std::size_t losses = 0;
  std::optional<corrected_test> paired_t;
  std::optional<corrected_test> fisher;
};

/// Compares every other system with `systems[reference]`, measure by measure. Throws `usage_error`
/// for fewer than two systems, and if folds, queries or measures of two systems differ.
std::vector<comparison> compare(context const& ctx, std::span<system_values const> systems,
                                std::size_t reference, comparison_options const& options = {});

}  // namespace rulerank::eval
