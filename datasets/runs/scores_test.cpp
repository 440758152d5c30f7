#include "datasets/scores.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/testing.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::scores_test {
namespace {

using rulerank::testing_tools::complaint_of;
using rulerank::testing_tools::input_and_message;

class score_files : public ::testing::Test {
 protected:
  std::string file(std::string_view text) {
    std::string const path = folder_ / "s.txt";
    write_file(path, text);
    return path;
  }
  /// Returns the message about a file, without its path.
  std::string complaint(std::string_view text, dataset const* test = nullptr) {
    std::string const path = file(text);
    return complaint_of(path, [&] {
      test == nullptr ? void(read_scores(context{}, path))
                      : void(read_scores_of(context{}, path, *test));
    });
  }
  testing_tools::temporary_folder folder_;
  dataset const test_ =
      parse_svmlight(context{}, "1 qid:a 1:1\n0 qid:a 1:2\n0 qid:b 1:3\n", "test.txt");
};

TEST_F(score_files, are_read) {
  EXPECT_EQ(read_scores(context{}, file("1\n-2.5e-3\r\n\n 0.1 \n7")).values,
            (std::vector<double>{1, -2.5e-3, 0.1, 7}));
  score_list const ranklib = read_scores(context{}, file("a\t0\t1.5\na\t1\t2\nb\t0\t-1\n"));
  EXPECT_EQ(ranklib.values, (std::vector<double>{1.5, 2, -1}));
  EXPECT_EQ(ranklib.qids, (std::vector<std::string>{"a", "a", "b"}));
  EXPECT_EQ(ranklib.index, (std::vector<std::uint64_t>{0, 1, 0}));
  EXPECT_EQ(read_scores_of(context{}, file("1\n2\n3\n"), test_), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(read_scores_of(context{}, file("a 0 1\na 1 2\nb 0 3\n"), test_),
            (std::vector<double>{1, 2, 3}));
}

TEST_F(score_files, are_refused_where_they_are_wrong) {
  input_and_message const rows[] = {
      {"", ":1:1: found no scores, expected a number on each line"},
      {"\n \n", ":1:1: found no scores, expected a number on each line"},
      {"1\n 2x\n", ":2:2: found '2x', expected a finite number as score"},
      {"1\nnan\n", ":2:1: found 'nan', expected a finite number as score"},
      {"-inf\n", ":1:1: found '-inf', expected a finite number as score"},
      {"1e999\n", ":1:1: found '1e999', expected a finite number as score"},
      {"1 2\n", ":1:3: found 2 columns, expected a score, or qid, index and score"},
      {"1\n1 2 3\n", ":2:3: found 3 columns, expected 1 as on the lines before"},
      {"a 0 3\n4\n", ":2:1: found 1 column, expected 3 as on the lines before"},
      {"a -1 3\n", ":1:3: found '-1', expected a document's index within its query"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text); });
  EXPECT_THROW(read_scores(context{}, folder_ / "absent"), error);
}

TEST_F(score_files, of_catboost) {
  std::string const header = "SampleId\tRawFormulaVal\n";
  EXPECT_EQ(read_scores(context{}, file(header + "0\t0.53\n1\t-0.2\n")).values,
            (std::vector<double>{0.53, -0.2}));
  input_and_message const rows[] = {
      {header, ":1:1: found no scores, expected a number on each line"},
      {header + "0\t1\n2\t1\n",
       ":3:1: found document 2, expected 1: scores in the order of the documents"},
      {header + "0\t1\t2\n", ":2:5: found 3 columns, expected 2 as on the lines before"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text); });
}

TEST_F(score_files, belong_to_a_test_set) {
  input_and_message const rows[] = {
      {"1\n2\n", ":2:1: found 2 scores, expected 3, one for each document of test.txt"},
      {"1\n2\n3\n4\n5\n", ":4:1: found 5 scores, expected 3, one for each document of test.txt"},
      {"a 0 1\nb 0 2\nb 1 3\n", ":2:1: found qid 'b', expected 'a' as in test.txt"},
      {"a 1 1\na 0 2\nb 0 3\n", ":1:1: found index 1, expected 0: scores in the order of test.txt"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text, &test_); });
}

TEST_F(score_files, come_back_the_same) {
  std::vector<double> const scores{0.1, 1.0 / 3, -5e-324, 1.7976931348623157e308, 0, 42};
  std::string const path = folder_ / "out.txt";
  output_file out(path);
  dataset test;
  test.labels.resize(scores.size());
  write_scores(test, scores, out);
  out.commit();
  EXPECT_EQ(read_scores(context{}, path).values, scores);
  EXPECT_EQ(read_scores_of(context{}, path, test), scores);
}

TEST_F(score_files, keep_the_order_of_the_lines_when_queries_were_gathered) {
  svmlight_options options;
  options.regroup = true;
  write_file(folder_ / "test.txt", "1 qid:a 1:1\n0 qid:b 1:2\n\n2 qid:a 1:3\n1 qid:b 1:4\n");
  dataset const test = read_svmlight(context{}, folder_ / "test.txt", options);
  EXPECT_EQ(test.labels, (std::vector<std::int32_t>{1, 2, 0, 1}));
  EXPECT_EQ(input_places(test), (std::vector<std::size_t>{0, 2, 1, 3}));
  EXPECT_EQ(input_places(subset(test, std::vector<std::size_t>{1, 2, 3})),
            (std::vector<std::size_t>{1, 0, 2}));
  std::string const path = folder_ / "scores.txt";
  output_file out(path);
  write_scores(test, std::vector<double>{.1, .2, .3, .4}, out);
  out.commit();
  EXPECT_EQ(read_scores(context{}, path).values, (std::vector<double>{.1, .3, .2, .4}));
  EXPECT_EQ(read_scores_of(context{}, path, test), (std::vector<double>{.1, .2, .3, .4}));
  write_file(path, "a 0 1\nb 0 2\na 1 3\nb 1 4\n");  // RankLib's columns
  EXPECT_EQ(read_scores_of(context{}, path, test), (std::vector<double>{1, 3, 2, 4}));
  write_file(path, "a 0 1\na 1 3\nb 0 2\nb 1 4\n");
  EXPECT_THROW(read_scores_of(context{}, path, test), error);
  // The message names the first faulty line, not that of the first document.
  EXPECT_EQ(complaint("a 0 1\na 1 3\nb 0 2\nb 1 4\n", &test).substr(0, 33),
            ":2:1: found qid 'a', expected 'b'");
  EXPECT_EQ(complaint("a 0 1\nb 7 2\na 7 3\nb 1 4\n", &test).substr(0, 31),
            ":2:1: found index 7, expected 0");
  output_file more(path);
  EXPECT_THROW(write_scores(test, std::vector<double>(5), more), usage_error);
}

}  // namespace
}  // namespace rulerank::datasets::scores_test
