#include "core/error.hpp"
#include "core/random.hpp"
#include "l2r/model/scorer.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::combination_test {
namespace {

using scores = std::vector<double>;

TEST(combine, by_hand) {
  std::vector<datasets::query_group> const queries{{"a", 0, 2}, {"b", 2, 5}, {"c", 5, 6}};
  std::vector<scores> const members{{1, 3, 7, 7, 7, 9}, {20, 10, 4, 0, 2, -5}};
  scores const got = combine(queries, members);
  double const outer = std::sqrt(1.5);  // (4 - 2) / sqrt(8 / 3)
  EXPECT_EQ(got, (scores{0, 0, outer / 2, -outer / 2, 0, 0}));
}

TEST(combine, scale_and_place_of_a_member_do_not_matter) {
  random_engine draw(5);
  std::vector<datasets::query_group> queries;
  scores a, b, c;
  for (std::size_t q = 0, at = 0; q < 20; ++q) {
    std::size_t const size = 1 + q;
    queries.push_back({"", at, at + size});
    at += size;
    for (std::size_t d = 0; d < size; ++d) {
      a.push_back(uniform_unit(draw));
      b.push_back(uniform_unit(draw));
      c.push_back(100 * b.back() - 7);
    }
  }
  scores const ab = combine(queries, std::vector{a, b});
  scores const ac = combine(queries, std::vector{a, c});
  for (std::size_t d = 0; d < ab.size(); ++d) EXPECT_NEAR(ab[d], ac[d], 1e-9);
  // Twice the same ranker ranks as it does.
  scores const aa = combine(queries, std::vector{a, a});
  for (auto const& query : queries)
    for (std::size_t d = query.begin + 1; d < query.end; ++d)
      EXPECT_EQ(aa[d] > aa[d - 1], a[d] > a[d - 1]);
}

TEST(combine, edges) {
  std::vector<datasets::query_group> const one{{"a", 0, 3}};
  EXPECT_EQ(combine(one, std::vector<scores>{{.1, .2, .4}}), (scores{.1, .2, .4}));
  // Equal scores whose mean is rounded are equal.
  EXPECT_EQ(combine(one, std::vector{scores(3, .1), scores(3, .7)}), scores(3, 0));
  EXPECT_TRUE(combine({}, std::vector<scores>(2)).empty());
  EXPECT_THROW(combine(one, {}), usage_error);
  EXPECT_THROW(combine(one, std::vector{scores(3), scores(2)}), usage_error);
}

}  // namespace
}  // namespace rulerank::l2r::combination_test
