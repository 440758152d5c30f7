#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rulerank::datasets {

/// The published size of a learning-to-rank set, one fold of it, and of its reduction
/// (Freitas 2017, tables 5.1 and 5.2; Yahoo's and the label shares from the sets' own
/// descriptions). The features are those that make items, so a drawn set has no constant one.
struct shape {
  std::string_view name;
  std::size_t train_documents = 0, vali_documents = 0, test_documents = 0;
  std::size_t train_queries = 0, vali_queries = 0, test_queries = 0;
  std::uint32_t features = 0;
  int partitions = 0;                              ///< Q of the selective sampling
  std::size_t reduced_3 = 0, reduced_4 = 0;        ///< |U| at rule size 3 and 4
  std::size_t iterations_3 = 0, iterations_4 = 0;  ///< mean documents chosen in a partition
  int folds = 5;                                   ///< 1: one split
  std::span<double const> label_shares;            ///< of the labels 0, 1, ...; they sum to 1

  std::size_t reduced(int rule_size) const noexcept {
    return rule_size <= 3 ? reduced_3 : reduced_4;
  }
  std::size_t iterations(int rule_size) const noexcept {
    return rule_size <= 3 ? iterations_3 : iterations_4;
  }
};

/// All shapes: td2003 hp2003 np2003 td2004 hp2004 np2004 web10k yahoo2.
std::span<shape const> shapes() noexcept;

/// The shape of that name. Throws `usage_error` that lists the names.
shape const& find_shape(std::string_view name);

}  // namespace rulerank::datasets
