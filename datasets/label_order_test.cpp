#include "datasets/label_order.hpp"

#include "core/random.hpp"
#include "datasets/svmlight.hpp"

#include <cmath>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::label_order_test {
namespace {

TEST(label_order, is_that_of_pairs_by_hand) {
  // Query 1: pairs (2, 0) and (2, 1) descend, (0, 1) ascends; query 2 has one label; query 3
  // ascends.
  std::vector<std::int32_t> const labels{2, 0, 1, 1, 1, 0, 0, 3};
  std::vector<std::size_t> const begin{0, 3, 5, 8};
  label_order const found = order_of_labels(labels, begin);
  EXPECT_EQ(found.queries, 2U);
  EXPECT_DOUBLE_EQ(found.tau, (-1 / 3.0 + 2 / std::sqrt(6)) / 2);
  // Var(S) of query 1: 3 × 2 × 11 / 18; of query 3: minus 2 × 1 × 9 / 18 for the tie.
  EXPECT_DOUBLE_EQ(found.z, (-1 + 2) / std::sqrt(66.0 / 18 + 48.0 / 18));
}

TEST(label_order, passes_over_documents_without_a_label) {
  std::vector<std::int32_t> const labels{unlabelled, 2, unlabelled, 1, 0, unlabelled};
  label_order const found = order_of_labels(labels, std::vector<std::size_t>{0, 6});
  EXPECT_DOUBLE_EQ(found.tau, -1);
  EXPECT_EQ(order_of_labels(std::vector<std::int32_t>(4, 1), std::vector<std::size_t>{0, 4}).z, 0);
  EXPECT_EQ(order_of_labels({}, {}).queries, 0U);
}

TEST(label_order, predicts_labels_where_it_is_not_random) {
  std::vector<std::int32_t> labels;
  std::vector<std::size_t> begin{0};
  random_engine engine(1);
  for (int q = 0; q < 100; ++q) {
    for (int d = 0; d < 30; ++d)
      labels.push_back(static_cast<std::int32_t>(uniform_below(engine, 3)));
    begin.push_back(labels.size());
  }
  EXPECT_FALSE(order_of_labels(labels, begin).predicts_labels());
  for (std::size_t q = 0; q < 100; ++q)  // a tenth of each query moves to its front
    for (std::size_t i = 0; i < 3; ++i) labels[begin[q] + i] = 2;
  label_order const found = order_of_labels(labels, begin);
  EXPECT_TRUE(found.predicts_labels());
  EXPECT_LT(found.tau, 0);
  EXPECT_LT(found.z, -4);
}

TEST(label_order, needs_more_than_a_few_documents) {
  std::vector<std::int32_t> const labels{2, 1, 1, 0, 0};
  EXPECT_FALSE(order_of_labels(labels, std::vector<std::size_t>{0, 5}).predicts_labels());
}

TEST(label_order, reads_queries_of_a_data_set) {
  auto const data = parse_svmlight({}, "1 qid:1 1:1\n0 qid:1 1:2\n0 qid:2 1:1\n", "by hand");
  EXPECT_EQ(query_begin(data), (std::vector<std::size_t>{0, 2, 3}));
}

}  // namespace
}  // namespace rulerank::datasets::label_order_test
