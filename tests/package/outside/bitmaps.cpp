// Which numbers below 1,000 two and three divide, as rows of bits.
// Prints: 500 and 334 numbers, 167 by both
#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/bit_matrix.hpp"

#include <iostream>

int main() {
  rulerank::bitmaps::bit_matrix divisible(2, 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    if (i % 2 == 0) divisible.set(0, i);
    if (i % 3 == 0) divisible.set(1, i);
  }
  auto const two = divisible.row(0);
  auto const three = divisible.row(1);
  std::cout << rulerank::bitmaps::popcount(two) << " and " << rulerank::bitmaps::popcount(three)
            << " numbers, " << rulerank::bitmaps::and_popcount(two, three) << " by both\n";
}
