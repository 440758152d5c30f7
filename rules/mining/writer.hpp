#pragma once

#include "core/output_file.hpp"
#include "rules/mining/association_rules.hpp"
#include "rules/mining/itemset_list.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::rules {

/// The output formats of itemsets and rules, as in other programs of the field.
enum class mining_format {
  borgelt,  ///< `a b (4)`, `c <- a b (3, 75)`: Borgelt's apriori, eclat and fpgrowth
  spmf,     ///< `a b #SUP: 4`, `a b ==> c #SUP: 3 #CONF: 0.75`: SPMF
  json,     ///< one object per line
};
std::string_view name_of(mining_format f);
/// Throws `usage_error` that lists the names.
mining_format mining_format_from(std::string_view name);

/// Throws `usage_error` for a name that is neither in rule_measures() nor `p_holm`.
void check_measures(std::span<std::string const> names);

struct writer_options {
  mining_format format = mining_format::borgelt;
  /// In Borgelt's format, write supports in percent of the transactions instead of counts.
  bool percent = false;
  /// Names of measures (rule_measures(), or `p_holm`) to write after the standard ones of Borgelt's
  /// and SPMF's formats; JSON rules contain all measures.
  std::vector<std::string> measures{};
};

/// Writes itemsets and rules line by line, with items in the order of their ids.
class mining_writer {
 public:
  /// `names`: of the items. `transactions`: their total number. Throws `usage_error` for an unknown
  /// measure.
  mining_writer(output_file& out, std::span<std::string const> names, std::uint64_t transactions,
                writer_options how);

  void write(std::span<item const> items, std::uint32_t support);
  /// `p_holm`: the rule's p-value after Holm's correction.
  void write(rule_list::rule const& rule, double p_holm);

 private:
  void add_names(std::span<item const> items);

  output_file& out_;
  std::uint64_t transactions_;
  writer_options how_;
  std::vector<std::string> names_;  // as written
  std::vector<item> sorted_;
  std::string line_;
};

}  // namespace rulerank::rules
