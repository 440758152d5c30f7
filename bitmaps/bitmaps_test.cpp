#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/bit_matrix.hpp"
#include "core/random.hpp"

#include <set>

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace rulerank::inline v0::bitmaps::bitmaps_test {
namespace {

/// Runs a test once for every instruction set of this processor.
class every_instruction_set : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

std::vector<std::int64_t> instruction_sets() {
  return hwy::SupportedAndGeneratedTargets();
}

INSTANTIATE_TEST_SUITE_P(bitmaps, every_instruction_set, testing::ValuesIn(instruction_sets()),
                         [](auto const& i) { return std::string(hwy::TargetName(i.param)); });

/// A bit matrix that mirrors each operation on sets of columns.
class checked_matrix {
 public:
  checked_matrix(std::size_t rows, std::size_t columns) : bits(rows, columns), sets(rows) {}
  void set(std::size_t r, std::size_t c) {
    bits.set(r, c);
    sets[r].insert(c);
  }
  void fill(random_engine& engine, double density) {
    for (std::size_t r = 0; r < sets.size(); ++r)
      for (std::size_t c = 0; c < bits.columns(); ++c)
        if (uniform_unit(engine) < density) set(r, c);
  }
  std::set<std::size_t> common(std::size_t a, std::size_t b) const {
    std::set<std::size_t> out;
    std::set_intersection(sets[a].begin(), sets[a].end(), sets[b].begin(), sets[b].end(),
                          std::inserter(out, out.end()));
    return out;
  }
  bit_matrix bits;
  std::vector<std::set<std::size_t>> sets;
};

std::size_t within(std::set<std::size_t> const& set, std::size_t begin, std::size_t end) {
  return static_cast<std::size_t>(std::distance(set.lower_bound(begin), set.lower_bound(end)));
}

TEST_P(every_instruction_set, counts_agree_with_sets) {
  random_engine engine(7);
  for (std::size_t columns : {1, 63, 64, 65, 511, 512, 513, 2000}) {
    checked_matrix m(5, columns);
    m.fill(engine, 0.3);
    aligned_vector<word> out(m.bits.stride());
    for (std::size_t a = 0; a < 4; ++a) {
      EXPECT_EQ(popcount(m.bits.row(a)), m.sets[a].size());
      EXPECT_EQ(and_popcount(m.bits.row(a), m.bits.row(a + 1)), m.common(a, a + 1).size());
      and_words(m.bits.row(a), m.bits.row(a + 1), out);
      auto const common = m.common(a, a + 1);
      for (std::size_t c = 0; c < columns; ++c)
        ASSERT_EQ(out[c / 64] >> (c % 64) & 1, common.count(c));
    }
  }
}

TEST_P(every_instruction_set, class_counts_agree_with_sets) {
  random_engine engine(8);
  for (std::size_t columns : {1, 70, 600, 1500}) {
    checked_matrix m(2, columns);
    m.fill(engine, 0.4);
    checked_matrix classes(3, columns);
    for (std::size_t c = 0; c < columns; ++c) classes.set(uniform_below(engine, 3), c);
    aligned_vector<word> out(m.bits.stride());
    std::vector<std::uint32_t> counts(3);
    and_class_popcounts(m.bits.row(0), m.bits.row(1), classes.bits.row(0).data(),
                        classes.bits.stride(), out, counts);
    auto const common = m.common(0, 1);
    for (std::size_t k = 0; k < 3; ++k) {
      std::size_t expected = 0;
      for (std::size_t c : common) expected += classes.sets[k].count(c);
      EXPECT_EQ(counts[k], expected);
    }
  }
}

TEST_P(every_instruction_set, range_counts_agree_with_sets) {
  random_engine engine(9);
  checked_matrix m(1, 3 * 512);
  m.fill(engine, 0.5);
  std::vector<word_range> const ranges{{0, 8}, {8, 8}, {8, 24}};
  std::vector<std::uint32_t> counts(3);
  range_popcounts(m.bits.row(0), ranges, counts);
  EXPECT_EQ(counts[0], within(m.sets[0], 0, 512));
  EXPECT_EQ(counts[1], 0U);
  EXPECT_EQ(counts[2], within(m.sets[0], 512, 1536));
}

TEST_P(every_instruction_set, products_agree_with_sets) {
  random_engine engine(10);
  for (std::size_t rows : {1, 7, 8, 9, 16, 31, 59, 131}) {
    std::vector<word_range> const ranges{{0, 1}, {1, 1}, {1, 4}, {4, 5}};
    std::vector<std::uint32_t> const weights{4, 3, 1, 0};
    checked_matrix m(rows + 1, 5 * 64);
    m.fill(engine, 0.4);
    std::size_t const stride = round_up(rows, 16);
    aligned_vector<word> columns(5 * stride);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t w = 0; w < 5; ++w) columns[w * stride + r] = m.bits.row(r)[w];
    aligned_vector<std::uint32_t> counts(4 * stride), n(stride), weighted(stride);
    for (std::size_t begin : {std::size_t{0}, rows / 2, rows - 1}) {
      product_range_counts(m.bits.row(rows).data(), columns.data(), stride, begin, rows, ranges,
                           counts.data());
      product_weighted_counts(m.bits.row(rows).data(), columns.data(), stride, begin, rows, ranges,
                              weights, n.data(), weighted.data());
      for (std::size_t r = begin; r < rows; ++r) {
        auto const common = m.common(r, rows);
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          std::size_t const expected = within(common, ranges[k].begin * 64, ranges[k].end * 64);
          ASSERT_EQ(counts[k * stride + r], expected);
          sum += weights[k] * static_cast<std::uint32_t>(expected);
        }
        ASSERT_EQ(n[r], common.size());
        ASSERT_EQ(weighted[r], sum);
      }
    }
  }
}

TEST_P(every_instruction_set, products_of_several_rows_agree_with_sets) {
  random_engine engine(11);
  for (std::size_t const rows : {5, 16, 47})
    for (std::size_t const words : {1, 31, 32, 65}) {
      checked_matrix m(rows, words * 64);
      m.fill(engine, 0.9);  // sums of 31 words that are close to what a byte holds
      std::size_t const stride = round_up(rows, 16);
      aligned_vector<word> columns(words * stride);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t w = 0; w < words; ++w) columns[w * stride + r] = m.bits.row(r)[w];
      for (std::size_t prefixes = 1; prefixes <= 4; ++prefixes)
        for (std::size_t const begin : {std::size_t{0}, rows - 1}) {
          aligned_vector<std::uint32_t> counts(prefixes * stride, 7);
          add_product_counts(columns.data(), stride, words, 1, prefixes, begin, counts.data());
          for (std::size_t p = 0; p < prefixes; ++p)
            for (std::size_t r = begin; r < rows; ++r)
              ASSERT_EQ(counts[p * stride + r], 7 + m.common(1 + p, r).size());
        }
    }
}

TEST_P(every_instruction_set, overlap_gains_agree_with_a_loop) {
  random_engine engine(11);
  for (std::size_t width : {1, 7, 8, 9, 12, 16}) {
    for (std::size_t documents : {1, 63, 64, 65, 1000}) {
      std::size_t const stride = round_up(documents, 64);
      aligned_vector<std::uint8_t> codes(width * stride, 255);
      std::vector<std::uint8_t const*> columns(width);
      std::vector<std::uint8_t> wanted(width);
      for (std::size_t j = 0; j < width; ++j) {
        columns[j] = codes.data() + j * stride;
        wanted[j] = static_cast<std::uint8_t>(uniform_below(engine, 3));
        for (std::size_t p = 0; p < documents; ++p)
          codes[j * stride + p] = static_cast<std::uint8_t>(uniform_below(engine, 3));
      }
      std::vector<std::int32_t> gain(std::size_t{1} << width);
      for (auto& g : gain) g = static_cast<std::int32_t>(uniform_below(engine, 9)) - 4;
      aligned_vector<std::int32_t> totals(stride, 1 << 30);
      for (std::size_t p = 0; p < documents; ++p)
        totals[p] = static_cast<std::int32_t>(uniform_below(engine, 50));
      aligned_vector<std::int32_t> expected = totals;
      smallest_total best{1 << 30, 0};
      for (std::size_t p = 0; p < documents; ++p) {
        std::size_t mask = 0;
        for (std::size_t j = 0; j < width; ++j)
          if (columns[j][p] == wanted[j]) mask |= std::size_t{1} << j;
        expected[p] += gain[mask];
        if (expected[p] < best.total) best = {expected[p], p};
      }
      auto const found = add_overlap_gains(columns, wanted, documents, gain, totals);
      ASSERT_TRUE(std::equal(expected.begin(),
                             expected.begin() + static_cast<std::ptrdiff_t>(documents),
                             totals.begin()));
      ASSERT_EQ(found.total, best.total);
      ASSERT_EQ(found.position, best.position);
    }
  }
}

// Freitas 2017, figure 3.6.
TEST(bitmaps, golden_case) {
  auto bits = [](std::string_view text) {
    bit_matrix m(1, 16);
    std::size_t c = 0;
    for (char t : text)
      if (t != ' ') {
        if (t == '1') m.set(0, c);
        ++c;
      }
    return m;
  };
  bit_matrix const f1 = bits("01001010 01001010");
  bit_matrix const f3 = bits("11010010 01100010");
  bit_matrix const f4 = bits("00100010 10001010");
  aligned_vector<word> fx(f1.stride());
  and_words(f1.row(0), f3.row(0), fx);
  EXPECT_EQ(popcount(fx), 4U);
  EXPECT_EQ(and_popcount(fx, f4.row(0)), 2U);
}

TEST(bitmaps, growing_keeps_the_bits) {
  checked_matrix m(3, 10);
  random_engine engine(12);
  m.fill(engine, 0.5);
  m.bits.grow(513);
  m.set(1, 512);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 513; ++c) ASSERT_EQ(m.bits.test(r, c), m.sets[r].count(c) == 1);
}

}  // namespace
}  // namespace rulerank::bitmaps::bitmaps_test
