#include "knn/metric/indexes/sss_codes.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace rulerank::inline v0::knn::sss_codes_test {
namespace {

class CodeKernels : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};
INSTANTIATE_TEST_SUITE_P(targets, CodeKernels,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](auto const& one) { return std::string(hwy::TargetName(one.param)); });

template <class T>
void expect_plain_loops() {
  random_engine chance(3);
  for (std::size_t const pivots : {0, 1, 7, 8, 9, 40}) {
    std::vector<T> codes(pivots * codes_a_block);
    for (T& code : codes) code = static_cast<T>(uniform_below(chance, 65536));
    code_block const block{reinterpret_cast<std::byte const*>(codes.data()), sizeof(T), pivots};
    constexpr unsigned most = std::numeric_limits<T>::max();
    for (unsigned const width : {0U, most / 9, most / 2, most}) {
      std::vector<code_range> ranges(pivots);
      std::vector<std::uint16_t> from(pivots);
      for (std::size_t p = 0; p < pivots; ++p) {
        from[p] = static_cast<T>(uniform_below(chance, 65536));
        // The first object is in all ranges.
        unsigned const code = codes[p * codes_a_block];
        unsigned const low = code - std::min(code, width / 2);
        ranges[p] = {static_cast<std::uint16_t>(low),
                     static_cast<std::uint16_t>(std::min(width, most - low))};
      }
      std::uint64_t inside = 0;
      std::vector<std::uint16_t> apart(codes_a_block), expected(codes_a_block);
      for (std::size_t i = 0; i < codes_a_block; ++i) {
        bool is_inside = true;
        for (std::size_t p = 0; p < pivots; ++p) {
          unsigned const code = codes[p * codes_a_block + i];
          is_inside = is_inside && code >= ranges[p].low &&
                      code <= unsigned{ranges[p].low} + ranges[p].width;
          unsigned const to_code = code > from[p] ? code - from[p] : from[p] - code;
          expected[i] = std::max(expected[i], static_cast<std::uint16_t>(to_code));
        }
        inside |= std::uint64_t{is_inside} << i;
      }
      EXPECT_EQ(codes_in_ranges(block, ranges.data()), inside) << pivots << ' ' << width;
      codes_apart(block, from.data(), apart.data());
      EXPECT_EQ(apart, expected);
    }
  }
}
TEST_P(CodeKernels, DoWhatPlainLoopsDo) {
  expect_plain_loops<std::uint8_t>();
  expect_plain_loops<std::uint16_t>();
}

struct table_case {
  std::size_t objects, pivots;
  bool is_whole;
  double scale;  ///< upper bound of the distances
};

class PivotCodes : public testing::TestWithParam<table_case> {
 protected:
  double drawn_distance() {
    double const distance = uniform_unit(chance_) * GetParam().scale;
    return GetParam().is_whole ? std::floor(distance) : distance;
  }
  std::vector<double> drawn_distances(std::size_t count) {
    std::vector<double> some(count);
    for (double& one : some) one = drawn_distance();
    return some;
  }
  double at_least(std::vector<double> const& table, std::vector<double> const& to_pivots,
                  std::size_t object) const {
    double most = 0;
    for (std::size_t p = 0; p < to_pivots.size(); ++p) {
      double const distance = table[object * to_pivots.size() + p];
      most = std::max(most, rule_.at_least(to_pivots[p], distance, distance));
    }
    return most;
  }

  random_engine chance_{1};
  exclusion rule_{GetParam().is_whole ? distance_rounding{0, 0} : distance_rounding{1e-14, 0}};
};

TEST_P(PivotCodes, ExcludeNoObjectThatTheTableDoesNot) {
  auto const [objects, pivots, is_whole, scale] = GetParam();
  for (int round = 0; round < 20; ++round) {
    auto const table = drawn_distances(objects * pivots);
    pivot_codes const codes(table, pivots);
    EXPECT_EQ(codes.are_whole(), is_whole);
    auto const to_pivots = drawn_distances(pivots);
    std::vector<double> bounds{std::numeric_limits<double>::infinity()};
    for (double const share : {0.0, 0.01, 0.2, 0.5, 1.0}) bounds.push_back(share * scale);
    for (double const bound : bounds) {
      std::vector<bool> is_left(objects);
      for (auto const& one : codes.within(rule_, to_pivots, bound, 0, objects)) {
        EXPECT_FALSE(is_left[one.place]);
        is_left[one.place] = true;
        EXPECT_TRUE(one.is_sure || !is_whole);
        if (one.is_sure) {
          EXPECT_LE(at_least(table, to_pivots, one.place), bound);
        }
      }
      for (std::size_t i = 0; i < objects; ++i) {
        if (at_least(table, to_pivots, i) <= bound) {
          EXPECT_TRUE(is_left[i]) << i;
        }
      }
    }
  }
}

TEST_P(PivotCodes, GiveBoundsOnBothSidesOfThoseOfTheTable) {
  auto const [objects, pivots, is_whole, scale] = GetParam();
  for (int round = 0; round < 20; ++round) {
    auto const table = drawn_distances(objects * pivots);
    pivot_codes const codes(table, pivots);
    auto to_pivots = drawn_distances(pivots);
    if (round == 0) to_pivots[0] = 3 * scale;  // farther than all objects
    auto const bounds = codes.bounds_of(rule_, to_pivots, 0, objects);
    ASSERT_EQ(bounds.apart.size(), objects);
    for (std::size_t i = 0; i < objects; ++i) {
      double const by_table = at_least(table, to_pivots, i);
      EXPECT_LE(bounds.at_least(bounds.apart[i]), by_table);
      EXPECT_GE(bounds.at_most(bounds.apart[i]), by_table);
      if (is_whole && !bounds.are_cut) {
        EXPECT_EQ(bounds.at_least(bounds.apart[i]), by_table);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, PivotCodes,
                         testing::Values(table_case{1, 1, true, 20}, table_case{63, 7, true, 255},
                                         table_case{64, 8, false, 1}, table_case{65, 9, true, 3},
                                         table_case{130, 40, false, 27.3},
                                         table_case{200, 3, false, 255.5},
                                         table_case{100, 5, false, 1e-308},
                                         table_case{100, 5, false, 1e300}),
                         [](auto const& of) {
                           return "Objects" + std::to_string(of.param.objects) + "Pivots" +
                                  std::to_string(of.param.pivots) +
                                  (of.param.is_whole ? "Whole" : "Real") + std::to_string(of.index);
                         });

TEST(PivotCodesOfParts, AreThoseOfTheWhole) {
  random_engine chance(2);
  constexpr std::size_t objects = 200, pivots = 5;
  std::vector<double> table(objects * pivots);
  for (double& one : table) one = uniform_unit(chance);
  pivot_codes const codes(table, pivots);
  std::vector<double> const to_pivots(pivots, 0.5);
  exclusion const rule(distance_rounding{1e-14, 0});
  auto const places = [&](std::size_t first, std::size_t last) {
    std::vector<std::uint32_t> found;
    for (auto const& one : codes.within(rule, to_pivots, 0.3, first, last))
      found.push_back(one.place);
    return found;
  };
  auto const whole = places(0, objects);
  auto parts = places(0, 128);
  auto const rest = places(128, objects);
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(parts, whole);
  EXPECT_GT(whole.size(), 0U);
  EXPECT_LT(whole.size(), objects);
}

// Integer distances only among objects: a query of another program's metric may have fractional
// ones.
TEST(PivotCodesOfWholeDistances, ExcludeAllWhereNoneIsWithin) {
  std::vector<double> const table{3, 4, 7};
  pivot_codes const codes(table, 1);
  exclusion const rule(distance_rounding{0, 0});
  std::vector<double> const to_pivot{3.5};
  EXPECT_TRUE(codes.within(rule, to_pivot, 0.25, 0, 3).empty());
  EXPECT_EQ(codes.within(rule, to_pivot, 0.5, 0, 3).size(), 2U);
  EXPECT_FALSE(codes.bounds_of(rule, to_pivot, 0, 3).are_whole);
}

TEST(PivotCodesOfOneDistance, OfZeroIsWhole) {
  std::vector<double> const table(10, 0.0);
  pivot_codes const codes(table, 1);
  EXPECT_TRUE(codes.are_whole());
  std::vector<double> const far{1000}, same{0};
  exclusion const rule(distance_rounding{0, 0});
  EXPECT_TRUE(codes.within(rule, far, 999, 0, 10).empty());
  EXPECT_EQ(codes.within(rule, far, 1000, 0, 10).size(), 10U);
  EXPECT_EQ(codes.within(rule, same, 0, 0, 10).size(), 10U);
}

}  // namespace
}  // namespace rulerank::knn::sss_codes_test
