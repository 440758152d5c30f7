#include "datasets/item_words.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::item_words_test {
namespace {

using rulerank::testing_tools::complaint_of;
using rulerank::testing_tools::input_and_message;

class names_of_features : public ::testing::Test {
 protected:
  feature_names read(std::string_view text) {
    write_file(path_, text);
    return read_feature_names(context{}, path_);
  }
  /// Returns the message about a file, without its path.
  std::string complaint(std::string_view text) {
    return complaint_of(path_, [&] { read(text); });
  }
  testing_tools::temporary_folder folder_;
  std::string path_ = folder_ / "names.tsv";
};

TEST_F(names_of_features, are_read) {
  EXPECT_EQ(read("1\tBM25 of title\n# those of pages\n\n 12  inlink count \t\r\n0 zero"),
            (feature_names{{0, "zero"}, {1, "BM25 of title"}, {12, "inlink count"}}));
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "4294967295 last\n"),
            (feature_names{{4294967295U, "last"}}));
  EXPECT_EQ(read("1 \"BM25 of \"\"a\"\"\"\n"), (feature_names{{1, "BM25 of \"a\""}}));
}

TEST_F(names_of_features, are_refused_where_they_are_wrong) {
  input_and_message const rows[] = {
      {"", ":1:1: found no features, expected lines with a feature's number and its name"},
      {"# none\n", ":1:1: found no features, expected lines with a feature's number and its name"},
      {"1 a\n  BM25 b\n", ":2:3: found \"BM25\", expected a feature's number and its name"},
      {"1:a\n", ":1:1: found \"1:a\", expected a feature's number and its name"},
      {"-1 a\n", ":1:1: found \"-1\", expected a feature's number and its name"},
      {"4294967296 a\n", ":1:1: found \"4294967296\", expected a feature's number and its name"},
      {"1 a\n2 \t\n", ":2:2: found nothing after feature 2, expected its name"},
      {"1 a\n2 b\n1 c\n", ":3:1: found feature 1 twice, expected each feature once"},
      {"1 a\n2 \"a\"\n", ":2:3: found the name \"a\" of feature 1 again, expected each name once"},
      {"1 a\x01\n2 a\x01\n",
       ":2:3: found the name \"a\\x01\" of feature 1 again, expected each name once"},
      {"0\ta\tq\n",
       ":1:4: found a third column, expected a feature's number and its name (cut -f1,2)"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text); });
  EXPECT_THROW(read_feature_names(context{}, folder_ / "none"), error);
}

TEST_F(names_of_features, may_be_many) {
  std::string text;
  for (int f = 0; f < 300'000; ++f) text += fmt::format("{} name {}\n", f, f);
  EXPECT_EQ(read(text).at(299'999), "name 299999") << "a search of all names takes minutes";
}

TEST(item_ranges, are_those_of_the_cuts) {
  context const ctx;
  discretizer fitted;
  fitted.features = {{2, {.25, .5}}, {5, {}}, {7, {1}}};
  auto const data = parse_svmlight(ctx, "1 qid:1 2:0.3 5:1 7:NULL\n0 qid:1 2:0.1 5:1 7:2\n", "d");
  auto const ranges = item_ranges(apply_discretizer(ctx, data, fitted), fitted);
  feature_names const names{{2, "BM25"}};
  std::vector<std::string> words;
  for (item_range const& r : ranges) words.push_back(words_of(r, names));
  EXPECT_EQ(words, (std::vector<std::string>{"BM25 < 0.25", "BM25 in [0.25, 0.5)", "BM25 >= 0.5",
                                             "BM25 missing", "feature 7 < 1", "feature 7 >= 1",
                                             "feature 7 missing"}));
  EXPECT_TRUE(ranges.front().whole);
  fitted.options.norm = normalization::query_minmax;
  EXPECT_FALSE(item_ranges(apply_discretizer(ctx, data, fitted), fitted).front().whole);
  fitted.options.norm = normalization::none;
  // Every value is in the range of its item.
  auto const binned = apply_discretizer(ctx, data, fitted);
  EXPECT_EQ(ranges[binned.item_begin[0] + binned.code(0, 0)].low, .25);
  EXPECT_EQ(ranges[binned.item_begin[0] + binned.code(0, 1)].high, .25);
  EXPECT_TRUE(ranges[binned.item_begin[1] + binned.code(1, 0)].missing);

  fitted.features[0].cuts.pop_back();
  EXPECT_THROW(item_ranges(binned, fitted), usage_error);
  fitted.features.erase(fitted.features.begin());
  EXPECT_THROW(item_ranges(binned, fitted), usage_error);
}

TEST(item_ranges, bounds_are_told_apart) {
  EXPECT_EQ(words_of({.feature = 3, .low = 0.1234567, .high = 2}, {}),
            "feature 3 in [0.123457, 2)");
  EXPECT_EQ(words_of({.feature = 3, .low = 0.12345671, .high = 0.12345672}, {}),
            "feature 3 in [0.12345671, 0.12345672)");
  EXPECT_EQ(words_of({.feature = 3}, {}), "feature 3 of any value");
  // 1234567 is below the bound, so it must be below the shown bound.
  EXPECT_EQ(words_of({.feature = 3, .low = 1234567.5, .whole = true}, {}),
            "feature 3 >= 1234567.5");
  EXPECT_EQ(words_of({.feature = 3, .high = 0.1 + 0.2, .whole = true}, {}), "feature 3 < 0.3");
  EXPECT_EQ(words_of({.feature = 3, .high = 1700000000123.5, .whole = true}, {}),
            "feature 3 < 1700000000123.5");
}

}  // namespace
}  // namespace rulerank::datasets::item_words_test
