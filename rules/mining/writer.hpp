#pragma once

#include "core/output_file.hpp"
#include "rules/mining/itemset_list.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::rules {

/// The forms in which other programs of the field write itemsets and rules.
enum class mining_format {
  borgelt,  ///< `a b (4)`, `c <- a b (3, 75)`: Borgelt's apriori, eclat and fpgrowth
  spmf,     ///< `a b #SUP: 4`, `a b ==> c #SUP: 3 #CONF: 0.75`: SPMF
  json,     ///< an object a line
};
std::string_view name_of(mining_format f);
/// Throws `usage_error` that lists the names.
mining_format mining_format_from(std::string_view name);

/// Writes itemsets line by line, items in the order of their ids.
class itemset_writer {
 public:
  struct options {
    mining_format format = mining_format::borgelt;
    /// Borgelt's form gives supports in percent of the transactions, not as counts.
    bool percent = false;
  };
  /// `names` of the items, `transactions` in all; both outlive the writer.
  itemset_writer(output_file& out, std::span<std::string const> names, std::uint64_t transactions,
                 options how);

  void write(std::span<item const> items, std::uint32_t support);

 private:
  output_file& out_;
  std::uint64_t transactions_;
  options how_;
  std::vector<std::string> names_;  // as they are written
  std::vector<item> sorted_;
  std::string line_;
};

}  // namespace rulerank::rules
