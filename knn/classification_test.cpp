#include "knn/classification.hpp"

#include "core/error.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::classification_test {
namespace {

using numbers = std::vector<std::uint32_t>;

constexpr value_order larger = value_order::larger_is_nearer;
constexpr value_order smaller = value_order::smaller_is_nearer;

neighbours of(std::size_t k, value_order order, numbers ids, std::vector<double> values) {
  return {.queries = k == 0 ? 0 : ids.size() / k,
          .k = k,
          .order = order,
          .id = std::move(ids),
          .value = std::move(values)};
}

TEST(classification, votes_by_hand) {
  numbers const class_of{0, 1, 1, 2};
  // Two of class 1 outvote the nearer one of class 0.
  neighbours const found = of(3, larger, {0, 1, 2, 3, 0, 1}, {0.9, 0.3, 0.2, 0.5, 0.4, 0.3});
  EXPECT_EQ(classify(found, class_of, voting::majority), (numbers{1, 2}));
  EXPECT_EQ(classify(found, class_of, voting::similarity), (numbers{0, 2}));
  // Distances: smaller is nearer.
  neighbours const far = of(3, smaller, {0, 1, 2}, {0.0, 4, 4});
  EXPECT_EQ(classify(far, class_of, voting::similarity), (numbers{0}));
  EXPECT_EQ(classify(far, class_of, voting::majority), (numbers{1}));
  EXPECT_TRUE(classify(of(0, larger, {}, {}), {}, voting::majority).empty());
  EXPECT_THROW(voting_from("most"), usage_error);
}

TEST(classification, ties_go_to_the_nearer_neighbour) {
  numbers const class_of{2, 1, 0, 0, 1};
  EXPECT_EQ(classify(of(5, larger, {1, 0, 2, 3, 4}, {5, 4, 3, 2, 1}), class_of, voting::majority),
            (numbers{1}));
  EXPECT_EQ(classify(of(4, larger, {0, 3, 4, 1}, {0, 0, 0, 0}), class_of, voting::similarity),
            (numbers{2}));
}

TEST(classification, documents_without_a_class_do_not_vote) {
  numbers const class_of{no_class, no_class, 1, 0, no_class};
  for (voting const how : {voting::majority, voting::similarity}) {
    // The two nearest have no class; then a tie, which the nearer voter wins.
    EXPECT_EQ(classify(of(4, larger, {0, 1, 2, 3}, {4, 3, 1, 1}), class_of, how), (numbers{1}));
    EXPECT_EQ(classify(of(2, larger, {0, 3, 1, 4}, {2, 1, 2, 1}), class_of, how),
              (numbers{0, no_class}));
  }
  // An assigned `no_class` is wrong; a true `no_class` is not counted.
  classification_quality const quality =
      quality_of(numbers{0, 0, no_class, 1}, numbers{0, no_class, 0, 1});
  EXPECT_EQ(quality.queries, 3U);
  EXPECT_DOUBLE_EQ(quality.accuracy, 2.0 / 3);
  EXPECT_DOUBLE_EQ(quality.macro_f1, (2.0 / 3 + 1) / 2);
  EXPECT_EQ(quality_of(numbers{no_class}, numbers{0}).queries, 0U);
}

TEST(classification, missing_neighbours_do_not_vote) {
  numbers const class_of{0, 1, 1};
  neighbours const found =
      of(3, smaller, {2, no_neighbour, no_neighbour, no_neighbour, no_neighbour, no_neighbour},
         {7, 0, 0, 0, 0, 0});
  for (voting const how : {voting::majority, voting::similarity})
    EXPECT_EQ(classify(found, class_of, how), (numbers{1, no_class}));
}

TEST(classification, quality_by_hand) {
  // Class 0: 2 of 3 found, 1 assigned wrongly; class 1: none of 1; class 2: assigned once, never
  // true.
  numbers const truth{0, 0, 0, 1}, given{0, 0, 2, 0};
  classification_quality const quality = quality_of(truth, given);
  EXPECT_EQ(quality.queries, 4U);
  EXPECT_DOUBLE_EQ(quality.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(quality.micro_f1, 0.5);
  EXPECT_DOUBLE_EQ(quality.macro_f1, (2.0 * 2 / (3 + 3)) / 3);
  EXPECT_EQ(quality_of({}, {}).queries, 0U);
  EXPECT_THROW(quality_of(truth, numbers{0}), usage_error);
}

}  // namespace
}  // namespace rulerank::knn::classification_test
