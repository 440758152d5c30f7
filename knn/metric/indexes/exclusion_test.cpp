#include "knn/metric/indexes/exclusion.hpp"

#include "core/random.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::exclusion_test {
namespace {

/// Vectors near or far from the origin, many of them on a line, where the bound equals the
/// distance.
datasets::vectors drawn(random_engine& chance, std::size_t rows, std::size_t dimensions,
                        double far) {
  std::vector<float> values;
  for (std::size_t r = 0; r < rows; ++r) {
    double const along = uniform_below(chance, 1000) / 7.0;
    bool const is_on_line = uniform_below(chance, 2) == 0;
    for (std::size_t d = 0; d < dimensions; ++d)
      values.push_back(static_cast<float>(
          far + along * static_cast<double>(d + 1) +
          (is_on_line ? 0 : static_cast<double>(uniform_below(chance, 2000)) / 13.0)));
  }
  return {std::move(values), dimensions};
}

TEST(exclusion, by_two_pivots_is_no_more_than_the_computed_distance) {
  random_engine chance(5);
  std::size_t sharp = 0;
  for (std::size_t const dimensions : {1, 2, 3, 20})
    for (double const far : {0.0, 1e3, 1e7}) {
      vector_space const space({}, drawn(chance, 40, dimensions, far), metric_distance::l2);
      exclusion const rule(space.rounding(), space.has_four_points());
      ASSERT_TRUE(rule.has_four_points());
      auto const distance = [&](std::size_t a, std::size_t b) {
        return space.from(static_cast<std::uint32_t>(a))->to(static_cast<std::uint32_t>(b));
      };
      for (int i = 0; i < 3000; ++i) {
        std::size_t const q = uniform_below(chance, 40);
        std::size_t const x = uniform_below(chance, 40);
        std::size_t const p = uniform_below(chance, 40);
        std::size_t const r = uniform_below(chance, 40);
        double const bound = rule.at_least_by_two(distance(q, p), distance(q, r), distance(x, p),
                                                  distance(x, r), distance(p, r));
        ASSERT_LE(bound, distance(q, x)) << dimensions << ' ' << far;
        sharp += bound > .999 * distance(q, x) && bound > 0 ? 1 : 0;
      }
    }
  EXPECT_GT(sharp, 1000u);  // so that too large a bound would be detected
}

TEST(exclusion, by_two_pivots_is_of_l2_alone) {
  for (auto const which : {metric_distance::l1, metric_distance::linf, metric_distance::angular})
    EXPECT_FALSE(
        vector_space({}, datasets::vectors(std::vector<float>{1, 2}, 2), which).has_four_points());
  EXPECT_FALSE(word_space({"ab"}).has_four_points());
  EXPECT_FALSE(exclusion({1e-12, 1e-9}, true).has_four_points());
}

TEST(exclusion, loses_no_object_at_the_radius_or_a_unit_in_the_last_place_beside_it) {
  random_engine chance(6);
  for (double const far : {0.0, 1e4}) {
    auto const rows = drawn(chance, 1200, 3, far);
    auto const space = std::make_shared<vector_space>(context{}, rows, metric_distance::l2);
    metric_index const brute({}, space, {metric_index_type::brute});
    metric_index const tree({}, space, {metric_index_type::mvpt, 8});
    auto const queries = space->queries({}, drawn(chance, 20, 3, far));
    auto const all = brute.search({}, *queries, 40);
    metric_work by_brute;
    metric_work by_tree;
    for (std::size_t i = 0; i < 40; i += 3)
      for (double const towards : {0.0, 1e300}) {
        double const radius = all.value[i];
        for (double const r : {radius, std::nextafter(radius, towards)}) {
          auto const expected = brute.search_range({}, *queries, r, &by_brute);
          auto const found = tree.search_range({}, *queries, r, &by_tree);
          ASSERT_EQ(found.row, expected.row) << r;
          ASSERT_EQ(found.value, expected.value) << r;
        }
      }
    EXPECT_LT(by_tree.evaluations, by_brute.evaluations / 2);
  }
}

}  // namespace
}  // namespace rulerank::knn::exclusion_test
