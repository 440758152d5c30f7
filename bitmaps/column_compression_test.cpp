#include "bitmaps/column_compression.hpp"

#include "core/random.hpp"

#include <bit>

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace rulerank::inline v0::bitmaps::column_compression_test {
namespace {

/// Reference: at least one word per class, one bit at a time.
std::vector<std::vector<bool>> kept_bits(std::span<word const> mask, std::span<word const> row,
                                         std::span<word_range const> classes) {
  std::vector<std::vector<bool>> kept;
  for (word_range const& range : classes) {
    kept.emplace_back();
    for (std::size_t bit = range.begin * word_bits; bit < range.end * word_bits; ++bit)
      if (mask[bit / word_bits] >> bit % word_bits & 1)
        kept.back().push_back(row[bit / word_bits] >> bit % word_bits & 1);
  }
  return kept;
}

class column_compression_on : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

INSTANTIATE_TEST_SUITE_P(bitmaps, column_compression_on,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](auto const& i) { return std::string(hwy::TargetName(i.param)); });

TEST_P(column_compression_on, keeps_what_the_mask_has) {
  random_engine engine(3);
  std::vector<word_range> const classes{{0, 3}, {3, 3}, {3, 4}, {4, 11}};
  std::size_t const words = 11;
  std::size_t const stride = 32;
  for (double density : {0., .02, .5, .97, 1.}) {
    std::vector<word> mask(words);
    for (std::size_t bit = 0; bit < words * word_bits; ++bit)
      if (uniform_unit(engine) < density) mask[bit / word_bits] |= word{1} << bit % word_bits;
    aligned_vector<word> columns(words * stride);
    for (word& w : columns) w = engine();
    column_compression how;
    how.plan(mask, classes);
    std::vector<std::uint32_t> const rows{0, 3, 4, 17, 18, 30, 31};
    std::size_t const out_stride = 16;
    aligned_vector<word> out(how.words * out_stride, ~word{0});
    compress_columns(how, columns.data(), stride, rows, out.data(), out_stride);

    ASSERT_EQ(how.ranges.size(), classes.size());
    for (std::size_t l = 0; l < out_stride; ++l) {
      std::vector<word> row(words);
      for (std::size_t w = 0; w < words; ++w)
        row[w] = l < rows.size() ? columns[w * stride + rows[l]] : 0;
      auto const kept = kept_bits(mask, row, classes);
      for (std::size_t k = 0; k < classes.size(); ++k) {
        auto const [begin, end] = how.ranges[k];
        ASSERT_EQ(end - begin, (kept[k].size() + word_bits - 1) / word_bits);
        for (std::size_t bit = 0; bit < (end - begin) * word_bits; ++bit)
          ASSERT_EQ(out[(begin + bit / word_bits) * out_stride + l] >> bit % word_bits & 1,
                    bit < kept[k].size() && kept[k][bit])
              << "row " << l << " class " << k << " bit " << bit << " density " << density;
      }
    }
  }
}

}  // namespace
}  // namespace rulerank::bitmaps::column_compression_test
