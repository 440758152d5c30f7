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

/// A family of measures such as NDCG@k. Each is one file that begins with what it is and who
/// defined it, and ends with its `measure_definition`.
struct measure_kind {
  enum class cutoff { none, optional, required };
  enum class mean { arithmetic, geometric };
  /// What it looks at of labels, which says whether these may be fractional.
  enum class labels {
    relevant,  ///< which ones are relevant, by the profile's `relevant_from`
    order,     ///< which ones are larger
    gains,     ///< their gains: fractional where these are linear
    grades,    ///< integers alone
  };

  std::string_view name;                      ///< as reports write it
  std::span<std::string_view const> aliases;  ///< other spellings, in lower case
  cutoff cut = cutoff::none;
  std::string_view summary;          ///< one line
  std::string_view citation;         ///< who defined it
  mean averaged = mean::arithmetic;  ///< over queries
  labels looked_at = labels::relevant;
};

/// A measure by name: a kind and its cut-off, 0 for none.
struct measure {
  measure_kind const* kind = nullptr;
  std::size_t k = 0;

  std::string name() const;  ///< `NDCG@10`, `MAP`
  /// The mean over queries, summed in their order; a geometric mean takes what is below 1e-5 as
  /// 1e-5, as trec_eval does. 0 for no values.
  double average(std::span<double const> values) const;
  friend bool operator==(measure const&, measure const&) = default;
};

/// Throws `usage_error` that names the first measure which has no value for fractional labels.
void expect_fractional(std::span<measure const> measures, profile const& p);

/// The same for the first measure that counts relevant documents: of the fractional labels of
/// `test` it needs what `option` of the caller says, the lowest relevant label.
void expect_threshold(std::span<measure const> measures, std::string_view test,
                      std::string_view option);

/// All kinds there are, in the order of the documentation.
std::span<measure_kind const* const> measure_kinds();

/// Reads `NDCG@10`, `MAP`, `ERR@20`, ... in any case, and trec_eval's `ndcg_cut_10`, `P_5`,
/// `recip_rank`, ... Throws `usage_error` for an unknown name (with those there are), a cut-off of
/// 0, one too many and one that is missing.
measure parse_measure(std::string_view name);

/// Reads a list separated by commas, where `NDCG@1-10` stands for ten measures.
std::vector<measure> parse_measures(std::string_view list);

}  // namespace rulerank::eval
