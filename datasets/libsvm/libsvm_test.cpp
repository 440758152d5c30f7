#include "datasets/libsvm/libsvm.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "datasets/svmlight.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::libsvm_test {
namespace {

using rulerank::testing_tools::message_of;

dataset parse(std::string text) {
  return parse_svmlight(context(), std::move(text), "f");
}

TEST(libsvm, there_and_back) {
  dataset const data = parse("1 qid:a 1:0.5 7:2\n0 qid:a\n2 qid:b 3:-1\n");
  libsvm_problem made(data);
  libsvm_problem const moved = std::move(made);
  svm_problem const& problem = moved.problem();
  ASSERT_EQ(problem.l, 3);
  EXPECT_EQ(problem.y[2], 2);
  EXPECT_EQ(problem.x[0][1].index, 7);
  EXPECT_EQ(problem.x[0][1].value, 2);
  EXPECT_EQ(problem.x[0][2].index, -1);
  EXPECT_EQ(problem.x[1][0].index, -1);
  std::vector<std::size_t> const sizes{2, 1};
  dataset const back = from_libsvm(problem, sizes);
  EXPECT_EQ(back.labels, data.labels);
  EXPECT_EQ(back.row, data.row);
  ASSERT_EQ(back.queries.size(), 2U);
  EXPECT_EQ(back.queries[1].begin, 2U);
  EXPECT_EQ(back.document(2)[0].feature, 3U);
  EXPECT_EQ(from_libsvm(problem).queries.size(), 1U);
  EXPECT_EQ(from_libsvm({}).size(), 0U);
  EXPECT_THROW(from_libsvm(problem, std::vector<std::size_t>{2, 2}), usage_error);
  EXPECT_THROW(from_libsvm(problem, std::vector<std::size_t>{2}), usage_error);
}

TEST(libsvm, trains_on_it) {
  dataset const data = parse("1 qid:a 1:1\n1 qid:a 1:2\n0 qid:b 1:-1\n0 qid:b 1:-2\n");
  libsvm_problem const made(data);
  svm_parameter parameter{};
  parameter.svm_type = C_SVC;
  parameter.kernel_type = LINEAR;
  parameter.cache_size = 1;
  parameter.eps = 0.001;
  parameter.C = 1;
  ASSERT_EQ(svm_check_parameter(&made.problem(), &parameter), nullptr);
  svm_set_print_string_function([](char const*) {});
  svm_model* model = svm_train(&made.problem(), &parameter);
  for (std::size_t d = 0; d < data.size(); ++d)
    EXPECT_EQ(svm_predict(model, made.problem().x[d]), data.labels[d]);
  svm_free_and_destroy_model(&model);
}

TEST(libsvm, what_it_cannot_express_is_named) {
  EXPECT_EQ(message_of([] { libsvm_problem(parse("\n1 qid:1 3:NULL\n")); }),
            "f:2:1: feature 3 is missing, expected a value, because libsvm has no missing values");
  svm_node falling[] = {{2, 1}, {1, 1}, {-1, 0}};
  svm_node infinite[] = {{2, std::numeric_limits<double>::infinity()}, {-1, 0}};
  svm_node fine[] = {{-1, 0}};
  auto const said = [](double y, svm_node* x) {
    return message_of([&] { from_libsvm({1, &y, &x}, {}, "p"); });
  };
  EXPECT_EQ(said(1, falling), "p:1:1: found index 1 after 2, expected ascending indexes from 0");
  EXPECT_EQ(said(1, infinite), "p:1:1: found value inf of index 2, expected a finite number");
  EXPECT_EQ(said(0.5, fine), "p:1:1: found label 0.5, expected an integer of 0 or more");
  EXPECT_EQ(said(std::nan(""), fine), "p:1:1: found label nan, expected an integer of 0 or more");
  EXPECT_EQ(said(-1, fine), "OK");
}

}  // namespace
}  // namespace rulerank::datasets::libsvm_test
