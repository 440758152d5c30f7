#pragma once

#include "rules/itemset.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::rules {

/// The fingerprint of an itemset (Freitas 2017, equation 4-1, after Atreas and Karanikas): the sum
/// of f_i / p_i, where f_i is its i-th item and p_i the i-th prime above the largest item index.
/// Different itemsets can have the same fingerprint, so a table must also compare the items.
class fingerprint {
 public:
  /// For itemsets of at most max_size of the items 0 to items - 1.
  fingerprint(std::uint32_t items, std::size_t max_size);

  double operator()(std::span<item const> x) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += terms_[i * items_ + x[i]];
    return sum;
  }
  /// Returns the 64 bits of the fingerprint, to be reduced modulo the size of a table.
  std::uint64_t bits(std::span<item const> x) const {
    return std::bit_cast<std::uint64_t>((*this)(x));
  }
  std::span<std::uint32_t const> primes() const noexcept { return primes_; }
  /// [max_size × max(items, 1)] f / p_i, for callers that compute the sum themselves.
  std::span<double const> terms() const noexcept { return terms_; }

 private:
  std::size_t items_;
  std::vector<std::uint32_t> primes_;
  std::vector<double> terms_;  // [max_size × items] f / p_i
};

}  // namespace rulerank::rules
