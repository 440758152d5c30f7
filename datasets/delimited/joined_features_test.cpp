#include "datasets/delimited/joined_features.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "datasets/svmlight.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::joined_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

dataset read(std::string text, std::string name) {
  read_options how;
  how.optional_labels = true;
  how.unlabelled = -1;
  how.regroup = true;
  return parse_dataset({}, std::move(text), std::move(name), how);
}

dataset pool() {
  return read(
      "-1 qid:q1 bm25:1.5 tf:2 # docid = 007\n"
      "2 qid:q1 bm25:0.5 tf:0 # docid = 1e3\n"
      "0 qid:q2 bm25:7 tf:1 # docid = 007\n",
      "pool.txt");
}

/// Shows rows as `name:value ...`, a missing value as `?`.
std::vector<std::string> rows_of(dataset const& data) {
  std::vector<std::string> rows;
  for (std::size_t d = 0; d < data.size(); ++d) {
    std::string& row = rows.emplace_back();
    for (feature_value const& one : data.document(d))
      row += name_of(one.feature, data.names) + ":" +
             (std::isnan(one.value) ? std::string("?") : std::to_string(one.value).substr(0, 3)) +
             " ";
  }
  return rows;
}

TEST(joined, by_hand) {
  // A byte order mark, line ends of both kinds, rows in any order and not contiguous.
  auto const result = join_features(pool(), parse_columns({},
                                                          "\xef\xbb\xbf"
                                                          "clicks,docid,\"age, of page\",qid\r\n"
                                                          "3,007,\"0.25\",q2\r\n"
                                                          ",1e3,4,q1\n"
                                                          "8,007,1,q3\n"
                                                          "9,7,1,q1\r\n",
                                                          "own.csv"));
  EXPECT_EQ(rows_of(result.data),
            (std::vector<std::string>{"age, of page:? bm25:1.5 clicks:? tf:2.0 ",
                                      "age, of page:4.0 bm25:0.5 clicks:? tf:0.0 ",
                                      "age, of page:0.2 bm25:7.0 clicks:3.0 tf:1.0 "}));
  EXPECT_EQ(result.data.labels, (std::vector<std::int32_t>{-1, 2, 0}));
  EXPECT_EQ(result.data.docid(0), "007");
  EXPECT_EQ(result.matched, 2U);
  EXPECT_EQ(result.unknown, 2U);  // 7 differs from 007
  EXPECT_EQ(result.columns, (std::vector<std::string>{"age, of page", "clicks"}));
}

TEST(joined, by_document_or_by_query_alone) {
  auto const by_document =
      join_features(pool(), parse_columns({}, "docid,price\n1e3,4\nabc,5\n007,2\n", "own.csv"));
  EXPECT_EQ(rows_of(by_document.data),
            (std::vector<std::string>{"bm25:1.5 price:2.0 tf:2.0 ", "bm25:0.5 price:4.0 tf:0.0 ",
                                      "bm25:7.0 price:2.0 tf:1.0 "}));
  EXPECT_EQ(by_document.matched, 3U);
  EXPECT_EQ(by_document.first_unknown, 1U);
  EXPECT_FALSE(by_document.key.query);
  auto const by_query =
      join_features(pool(), parse_columns({}, "length,qid\n9,q0\n3,q1\n", "own.csv"));
  EXPECT_EQ(rows_of(by_query.data),
            (std::vector<std::string>{"bm25:1.5 length:3.0 tf:2.0 ", "bm25:0.5 length:3.0 tf:0.0 ",
                                      "bm25:7.0 length:? tf:1.0 "}));
  EXPECT_EQ(by_query.unknown, 1U);
  EXPECT_FALSE(by_query.key.document);
}

TEST(joined, columns_that_are_not_chosen_may_hold_anything) {
  std::vector<std::string> const chosen{"b"};
  auto const columns = parse_columns({},
                                     "qid,label,docid,note,b,1,tf\n"
                                     "q1,good,007,\"two\nlines, \"\"so\"\"\",5,3,x\n"
                                     "q9,,007,,1,,\n",
                                     "own.csv", chosen);
  auto const result = join_features(pool(), columns, chosen);
  EXPECT_EQ(rows_of(result.data),
            (std::vector<std::string>{"b:5.0 bm25:1.5 tf:2.0 ", "b:? bm25:0.5 tf:0.0 ",
                                      "b:? bm25:7.0 tf:1.0 "}));
  EXPECT_EQ(result.data.labels[0], -1) << "labels are not joined";
  ASSERT_TRUE(result.first_unknown);
  EXPECT_EQ(place_of(columns, *result.first_unknown).line, 4U);
}

TEST(joined, features_by_number) {
  auto const numbered = read("1 qid:1 1:2 5:3 # docid = A\n", "pool");
  auto const result = join_features(numbered, read("0 qid:1 2:9 7:1 # docid = A\n", "own"));
  EXPECT_EQ(rows_of(result.data), (std::vector<std::string>{"1:2.0 2:9.0 5:3.0 7:1.0 "}));
}

TEST(joined, names_that_come_to_numbers_get_the_next_ones) {
  auto const numbered = read("1 qid:1 1:2 46:3 # docid = A\n0 qid:1 2:1 # docid = B\n", "pool");
  auto const columns = read("qid,docid,price,clicks,age\n1,A,7,8,9\n", "own.csv");
  auto const result = join_features(numbered, columns);
  EXPECT_TRUE(result.data.names.empty());
  EXPECT_EQ(rows_of(result.data), (std::vector<std::string>{"1:2.0 46:3.0 47:9.0 48:8.0 49:7.0 ",
                                                            "2:1.0 47:? 48:? 49:? "}));
  EXPECT_EQ(result.columns, (std::vector<std::string>{"age", "clicks", "price"}));
  EXPECT_EQ(result.numbers, (std::vector<std::uint32_t>{47, 48, 49}));
  std::vector<std::string> const chosen{"price"};
  auto const one = join_features(numbered, columns, chosen);
  EXPECT_EQ(one.columns, chosen);
  EXPECT_EQ(one.numbers, std::vector<std::uint32_t>{47});
  auto const last = read("1 qid:1 2147483647:3 # docid = A\n", "pool");
  EXPECT_THROW(join_features(last, columns), error);
}

void expect_fault(dataset const& columns, std::string const& message,
                  std::vector<std::string> const& chosen = {}) {
  EXPECT_PRED2(says, message_of([&] { join_features(pool(), columns, chosen); }),
               "..." + message + "...");
}

TEST(joined, faults_are_told_with_their_line) {
  expect_fault(read("qid,docid,a\nq1,007,1\nq2,007,1\nq1,007,1\n", "own.csv"),
               "own.csv:4:1: found query \"q1\" and document \"007\" again");
  expect_fault(read("qid,docid,a\nq1,007,1\nq1,,1\n", "own.csv"),
               "own.csv:3:1: found a row without a docid");
  expect_fault(read("a,b\n1,2\n", "own.csv"),
               "own.csv:1:1: found no column qid or docid, expected one or both, and features");
  expect_fault(
      read("docid,a\n007,1\n1e3,1\n007,2\n", "own.csv"),
      "own.csv:4:1: found document \"007\" again (first on line 2), expected each document once");
  expect_fault(read("docid,a\n007,1\n,1\n", "own.csv"),
               "own.csv:3:1: found a row without a docid, expected one, because columns are joined "
               "by docid");
  expect_fault(read("qid,a\nq2,1\nq1,1\nq2,3\n", "own.csv"),
               "own.csv:4:1: found query \"q2\" again (first on line 2), expected each query once");
  expect_fault(read("qid,docid,tf\nq1,007,1\n", "own.csv"),
               "own.csv:1:1: found the column \"tf\", which pool.txt has already");
  expect_fault(read("qid,docid,a\nq1,007,1\n", "own.csv"),
               "own.csv:1:1: found no column \"b\", expected it in the header", {"a", "b"});
  expect_fault(read("qid,docid\nq1,007\n", "own.csv"), "own.csv:1:1: found no feature");
  expect_fault(read("0 qid:q1 3:1 # docid = 007\n", "own"),
               "own:1:1: found features by number, expected them by name as in pool.txt");
}

}  // namespace
}  // namespace rulerank::datasets::joined_test
