#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

/// The gain of label r.
enum class gain_function {
  exponential,  ///< 2^r - 1
  linear,       ///< r
};

/// The factor of the gain at rank i (from 1).
enum class discount_function {
  letor,  ///< 1, 1, then 1 / log2(i), computed as gain * log(2) / log(i) like LETOR's scripts
  log2,   ///< 1 / log2(i + 1)
};

/// The value of NDCG@k for a list of fewer than k documents.
enum class short_list {
  zero,
  as_is,  ///< the list's DCG over the ideal DCG at k
};

/// The order of documents with equal scores.
enum class tie_rule {
  stable,   ///< input order
  average,  ///< the exact expectation over all orders within ties
  worst,    ///< low labels first
  docno,    ///< by document id, descending, as trec_eval does
};

/// The conventions in which evaluation programs differ (docs/reference/definitions.md, Evaluation).
/// `make_profile` returns the named ones; members can be changed afterwards.
struct profile {
  std::string name = "letor";
  gain_function gain = gain_function::exponential;
  discount_function discount = discount_function::letor;
  double no_relevant = 0;    ///< value of a query without relevant documents, in [0, 1]
  double relevant_from = 1;  ///< the lowest relevant label, above 0
  short_list short_lists = short_list::zero;
  tie_rule ties = tie_rule::stable;
  bool complete = false;  ///< runs: judged queries missing from the run count as having no results
  std::size_t max_docs = 0;  ///< maximum number of documents of a ranking; 0: all
  std::optional<std::int32_t>
      max_label;                 ///< r_max of ERR and pFound; empty: the largest in the data
  double rbp_persistence = 0.9;  ///< RBP's p, in (0, 1)
  double pfound_break = 0.15;    ///< pFound's p_break, in [0, 1]
  std::vector<double> prel;      ///< pFound's p_rel by label; empty: (2^r - 1) / 2^r_max
};

/// letor, mslr, standard, trec, lightgbm or yahoo; throws `usage_error` for another name.
profile make_profile(std::string_view name);
/// The profiles' names, in that order.
std::span<std::string_view const> profile_names();

/// The command-line keywords; throws `usage_error`, listing the keywords, for other words.
gain_function gain_from(std::string_view word);          ///< exponential, linear
discount_function discount_from(std::string_view word);  ///< letor, log2
short_list short_list_from(std::string_view word);       ///< zero, as-is
tie_rule tie_rule_from(std::string_view word);           ///< stable, average, worst, docno
std::string_view to_string(gain_function value);
std::string_view to_string(discount_function value);
std::string_view to_string(short_list value);
std::string_view to_string(tie_rule value);

/// The largest label with a gain: sums of such gains remain finite.
std::int32_t largest_label(profile const& p);

/// Throws `usage_error` for a member that is out of its range.
void check(profile const& p);

/// The name, followed by differences from the profile of that name:
std::string describe(profile const& p);

}  // namespace rulerank::eval
