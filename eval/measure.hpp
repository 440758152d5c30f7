#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

struct profile;

/// A family of measures such as NDCG@k. Each has one file, which begins with its definition and
/// source and ends with its `measure_definition`.
struct measure_kind {
  enum class cutoff { none, optional, required };
  enum class mean { arithmetic, geometric };
  /// How it uses labels, which decides whether these may be fractional.
  enum class labels {
    relevant,  ///< which are relevant, by the profile's `relevant_from`
    order,     ///< their order
    gains,     ///< their gains: may be fractional if gains are linear
    grades,    ///< their values: integers only
  };

  std::string_view name;                      ///< as in reports
  std::span<std::string_view const> aliases;  ///< other spellings, in lower case
  cutoff cut = cutoff::none;
  std::string_view summary;          ///< one line
  std::string_view citation;         ///< source of the definition
  mean averaged = mean::arithmetic;  ///< over queries
  labels looked_at = labels::relevant;
};

/// A measure by name: a kind and its cut-off, 0 for none.
struct measure {
  measure_kind const* kind = nullptr;
  std::size_t k = 0;

  std::string name() const;  ///< `NDCG@10`, `MAP`
  /// The mean over queries, summed in their order; a geometric mean raises values below 1e-5 to
  /// 1e-5, as trec_eval does. 0 for no values.
  double average(std::span<double const> values) const;
  friend bool operator==(measure const&, measure const&) = default;
};

/// Throws `usage_error` naming the first measure that is undefined for fractional labels.
void expect_fractional(std::span<measure const> measures, profile const& p);

/// Throws `usage_error` naming the first measure that counts relevant documents: with the
/// fractional labels of `test` it needs the lowest relevant label, which the caller's `option`
/// sets.
void expect_threshold(std::span<measure const> measures, std::string_view test,
                      std::string_view option);

/// All kinds, in the order of the documentation.
std::span<measure_kind const* const> measure_kinds();

/// Parses `NDCG@10`, `MAP`, `ERR@20`, ... ignoring case, and trec_eval's `ndcg_cut_10`, `P_5`,
/// `recip_rank`, ... Throws `usage_error` for an unknown name (listing the known ones), a cut-off
/// of 0, an unexpected cut-off and a missing one.
measure parse_measure(std::string_view name);

/// Parses a comma-separated list, in which `NDCG@1-10` means ten measures.
std::vector<measure> parse_measures(std::string_view list);

}  // namespace rulerank::eval
