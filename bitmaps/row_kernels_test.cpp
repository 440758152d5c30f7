#include "bitmaps/row_kernels.hpp"

#include "core/random.hpp"

#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace rulerank::inline v0::bitmaps::row_kernels_test {
namespace {

/// Random rows of `columns` bits, each set with the probability that its row has.
bit_matrix draw(std::size_t rows, std::size_t columns, random_engine& engine) {
  bit_matrix bits(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    double const density = r == 0 ? 1 : r == 1 ? 0 : uniform_unit(engine);
    for (std::size_t c = 0; c < columns; ++c)
      if (uniform_unit(engine) < density) bits.set(r, c);
  }
  return bits;
}

void expect_definition(std::size_t columns) {
  random_engine engine(columns);
  bit_matrix const bits = draw(8, columns, engine);
  std::vector<word const*> rows;
  for (std::size_t r = 0; r < bits.rows(); ++r) rows.push_back(bits.row(r).data());
  for (std::size_t r = 0; r < bits.rows(); ++r) {
    std::vector<std::uint32_t> counts(rows.size());
    and_counts(rows[r], rows.data(), rows.size(), bits.stride(), counts.data());
    bit_matrix both(rows.size(), columns);
    and_rows(rows[r], rows.data(), rows.size(), bits.stride(), both.row(0).data());
    std::size_t const left = counts[r];
    aligned_vector<word> packed(rows.size() * padded_words(left) + 1, ~word{0});
    pack_rows(rows[r], rows.data(), rows.size(), bits.stride(), packed.data());
    for (std::size_t j = 0; j < rows.size(); ++j) {
      std::uint32_t expected = 0;
      std::size_t at = 0;
      auto const packed_bit = [&](std::size_t c) {
        return (packed[j * padded_words(left) + c / word_bits] >> c % word_bits & 1) != 0;
      };
      for (std::size_t c = 0; c < columns; ++c) {
        bool const set = bits.test(r, c) && bits.test(j, c);
        expected += set;
        ASSERT_EQ(both.test(j, c), set);
        if (!bits.test(r, c)) continue;
        ASSERT_EQ(packed_bit(at++), set) << columns << " " << r << " " << j;
      }
      ASSERT_EQ(counts[j], expected);
      for (; at < padded_words(left) * word_bits; ++at) ASSERT_FALSE(packed_bit(at));
    }
  }
}

TEST(row_kernels, are_the_definition_on_every_instruction_set) {
  for (std::int64_t const target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (std::size_t const columns : {1, 63, 64, 65, 511, 512, 513, 1100, 4000})
      expect_definition(columns);
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace rulerank::bitmaps::row_kernels_test
