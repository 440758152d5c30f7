#include "datasets/arrays.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::arrays_test {
namespace {

using rulerank::testing_tools::message_of;
using views = std::vector<std::string_view>;

bool same_value(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Compares labels, queries, entries, ids and comments.
void expect_equal(dataset const& a, dataset const& b) {
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.row, b.row);
  EXPECT_EQ(a.comments, b.comments);
  EXPECT_EQ(a.ids, b.ids);
  ASSERT_EQ(a.queries.size(), b.queries.size());
  for (std::size_t q = 0; q < a.queries.size(); ++q) {
    EXPECT_EQ(a.queries[q].qid, b.queries[q].qid);
    EXPECT_EQ(a.queries[q].begin, b.queries[q].begin);
    EXPECT_EQ(a.queries[q].end, b.queries[q].end);
  }
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    EXPECT_EQ(a.entries[i].feature, b.entries[i].feature);
    EXPECT_TRUE(same_value(a.entries[i].value, b.entries[i].value)) << a.entries[i].value;
  }
  for (std::size_t d = 0; d < a.size(); ++d) EXPECT_EQ(a.docid(d), b.docid(d));
}

dataset written_and_read(dataset const& data) {
  testing_tools::temporary_folder const folder;
  output_file out(folder / "w");
  write_svmlight(data, out);
  out.commit();
  svmlight_options options;
  options.zero_based = true;
  options.unlabelled = unlabelled;
  return read_svmlight(context(), folder / "w", options);
}

double drawn_value(random_engine& engine) {
  switch (uniform_below(engine, 6)) {
    case 0:
      return 0;
    case 1:
      return std::numeric_limits<double>::quiet_NaN();
    case 2:
      return -0.0;
    case 3:
      return std::ldexp(uniform_unit(engine), static_cast<int>(uniform_below(engine, 2000)) - 1070);
    default:
      return uniform_unit(engine) - 0.5;
  }
}

/// Random documents with and without labels, ids, comments and entries.
dataset drawn(random_engine& engine) {
  std::size_t const documents = 1 + uniform_below(engine, 30);
  bool const with_ids = uniform_below(engine, 3) > 0;
  std::vector<std::int32_t> labels;
  std::vector<std::string> qids, ids, comments;
  std::vector<std::int64_t> row{0}, columns;
  std::vector<double> values;
  std::vector<std::uint32_t> features(12);
  for (std::size_t c = 0; c < features.size(); ++c)
    features[c] = static_cast<std::uint32_t>(c * c * 1000);
  char const* const texts[] = {"",          " a  b ",  "#docid = own", "inc = 1 # more",
                               "\tdocid x", "\xc3\xa9"};
  for (std::size_t d = 0; d < documents; ++d) {
    labels.push_back(static_cast<std::int32_t>(uniform_below(engine, 4)) - 1);
    qids.push_back(d == 0                          ? "q:0"
                   : uniform_below(engine, 4) == 0 ? fmt::format("q:{}", d)
                                                   : qids.back());
    ids.push_back(with_ids && uniform_below(engine, 4) > 0 ? fmt::format("D#{}", d) : "");
    comments.emplace_back(texts[uniform_below(engine, std::size(texts))]);
    for (std::size_t c = features.size(); c-- > 0;)
      if (uniform_below(engine, 2) == 0) {
        columns.push_back(static_cast<std::int64_t>(c));
        values.push_back(drawn_value(engine));
      }
    row.push_back(static_cast<std::int64_t>(values.size()));
  }
  document_arrays about;
  views const qid_views(qids.begin(), qids.end()), id_views(ids.begin(), ids.end()),
      comment_views(comments.begin(), comments.end());
  about.labels = labels;
  about.qids = qid_views;
  about.ids = id_views;
  about.comments = comment_views;
  about.features = features;
  context ctx;
  ctx.threads = 2;
  return make_dataset(ctx, csr_rows<double, std::int64_t>{row, columns, values}, about);
}

TEST(write_svmlight, reads_back_equal) {
  random_engine engine(3);
  for (int round = 0; round < 300; ++round) {
    dataset const data = drawn(engine);
    expect_equal(written_and_read(data), data);
    std::vector<std::size_t> some;
    for (std::size_t d = 0; d < data.size(); ++d)
      if (uniform_below(engine, 2) == 0) some.push_back(d);
    if (some.empty()) continue;
    dataset const part = subset(data, some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(part.comment(i), data.comment(some[i]));
      if (!part.ids.empty()) {
        EXPECT_EQ(part.ids[i], data.ids[some[i]]);
      }
    }
  }
}

TEST(make_dataset, from_dense_rows) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> const values{1, 0, 9, 2, nan, 9, 0.5F, -0.0F, 9};
  std::vector<std::int32_t> const labels{2, 0, unlabelled};
  std::vector<std::size_t> const sizes{1, 2};
  views const ids{"A", "", "C"};
  document_arrays about;
  about.labels = labels;
  about.group_sizes = sizes;
  about.ids = ids;
  dataset const data = make_dataset(context(), dense_rows<float>{values.data(), 3, 2, 3}, about);
  EXPECT_EQ(data.labels, labels);
  EXPECT_EQ(data.queries[1].qid, "2");
  EXPECT_EQ(data.queries[1].end, 3U);
  EXPECT_EQ(data.document(2)[0].feature, 1U);
  EXPECT_EQ(data.document(2)[0].value, 0.5);
  EXPECT_TRUE(std::isnan(data.document(1)[1].value));
  EXPECT_EQ(data.comment(0), "docid = A");
  EXPECT_EQ(data.docid(1), "2-2");
  EXPECT_EQ(data.docid(2), "C");
  expect_equal(written_and_read(data), data);
  dataset const alone = make_dataset(context(), dense_rows<float>{values.data(), 3, 2, 3}, {});
  EXPECT_EQ(alone.queries.size(), 1U);
  EXPECT_EQ(alone.labels[0], unlabelled);
  EXPECT_EQ(make_dataset(context(), dense_rows<double>{}, {}).size(), 0U);
}

TEST(make_dataset, lines_read_back_equal) {
  std::vector<double> const values{1, 0.1, std::nan(""), 2};
  std::vector<std::int32_t> const labels{3, unlabelled};
  views const ids{"A", ""}, comments{"", "x docid"};
  document_arrays about;
  about.labels = labels;
  about.ids = ids;
  about.comments = comments;
  about.lines = true;
  dataset const data = make_dataset(context(), dense_rows<double>{values.data(), 2, 2, 2}, about);
  EXPECT_EQ(data.lines, (views{"3 qid:1 1:1 2:0.1 # docid = A", "-1 qid:1 1:NaN 2:2 # x docid"}));
  EXPECT_EQ(data.ids, (views{"A", ""}));
  testing_tools::temporary_folder const folder;
  output_file out(folder / "w");
  write_lines(data, std::vector<std::size_t>{0, 1}, out);
  out.commit();
  svmlight_options options;
  options.unlabelled = unlabelled;
  expect_equal(read_svmlight(context(), folder / "w", options), data);
}

/// Returns the message for one row with column 0 and the value, or for `about`.
std::string fault_of(document_arrays const& about, double value = 1, std::int32_t column = 0) {
  std::vector<std::int32_t> const row{0, 0, 1}, columns{column};
  std::vector<double> const values{value};
  return message_of<std::exception>([&] {
    make_dataset(context(), csr_rows<double, std::int32_t>{row, columns, values}, about);
  });
}

TEST(make_dataset, names_what_is_wrong) {
  EXPECT_EQ(fault_of({}), "OK");
  EXPECT_EQ(fault_of({}, HUGE_VAL),
            "arrays:2:1: value of feature 1 is infinite, expected a finite number or NaN");
  EXPECT_EQ(fault_of({}, 1, -1), "arrays:2:1: column -1, expected 0 to 2147483646");
  document_arrays about;
  std::vector<std::int32_t> const labels{0, -2};
  about.labels = labels;
  EXPECT_EQ(fault_of(about).substr(0, 31), "arrays:2:1: label -2 is negativ");
  about = {};
  views const qids[] = {{"a", "a b"}, {"", "a"}, {"a", "x#"}};
  for (views const& bad : qids) {
    about.qids = bad;
    EXPECT_NE(fault_of(about).find("expected text without blanks and #"), std::string::npos);
  }
  about = {};
  views const ids{"a", "b c"};
  about.ids = ids;
  EXPECT_EQ(fault_of(about), "arrays:2:1: id \"b c\", expected text without blanks");
  about = {};
  views const comments{"a", "b\nc"};
  about.comments = comments;
  EXPECT_NE(fault_of(about).find("expected one line of text"), std::string::npos);
  views const three{"a", "b", "c"};
  about = {};
  about.ids = three;
  EXPECT_EQ(fault_of(about), "arrays: found 3 ids, expected 2, one for each document");
  std::vector<std::int32_t> const row{0, 2}, columns{3, 3};
  std::vector<float> const values{1, 2};
  csr_rows<float, std::int32_t> const twice{row, columns, values};
  EXPECT_THROW(make_dataset(context(), twice, {}), error);
  std::vector<std::int32_t> const beyond{0, 3};
  csr_rows<float, std::int32_t> const long_rows{beyond, columns, values};
  EXPECT_THROW(make_dataset(context(), long_rows, {}), usage_error);
  EXPECT_THROW(make_dataset(context(), dense_rows<float>{values.data(), 2, 2, 1}, {}), usage_error);
}

TEST(make_dataset, a_query_whose_rows_are_apart) {
  std::vector<double> const values{1, 2, 3};
  views const qids{"a", "b", "a"};
  document_arrays about;
  about.qids = qids;
  EXPECT_THROW(make_dataset(context(), dense_rows<double>{values.data(), 3, 1, 1}, about), error);
}

TEST(labels_from, numbers) {
  std::vector<double> const whole{2, 0, -1, 2147483647};
  numeric_labels found = labels_from(whole, "y");
  EXPECT_EQ(found.whole, (std::vector<std::int32_t>{2, 0, unlabelled, 2147483647}));
  EXPECT_TRUE(found.fractional.empty());
  std::vector<double> const fractional{0.5, -1, 2.75};
  found = labels_from(fractional, "y");
  EXPECT_EQ(found.whole, (std::vector<std::int32_t>{0, unlabelled, 2}));
  EXPECT_EQ(found.fractional, fractional);
  EXPECT_TRUE(labels_from({}, "y").whole.empty());
}

TEST(labels_from, names_the_row_of_what_is_no_label) {
  auto const fault_of_label = [](double value) {
    std::vector<double> const labels{1, 0.5, value, std::nan("")};
    return message_of([&] { labels_from(labels, "y"); });
  };
  std::string const expected =
      ", expected a number of 0 to 2147483647, or -1 for a row without a label";
  EXPECT_EQ(fault_of_label(std::nan("")), "y:3:1: label nan" + expected);
  EXPECT_EQ(fault_of_label(HUGE_VAL), "y:3:1: label inf" + expected);
  EXPECT_EQ(fault_of_label(-HUGE_VAL), "y:3:1: label -inf" + expected);
  EXPECT_EQ(fault_of_label(-5.5), "y:3:1: label -5.5 is negative" + expected);
  EXPECT_EQ(fault_of_label(-0.5), "y:3:1: label -0.5 is negative" + expected);
  EXPECT_EQ(fault_of_label(2147483648), "y:3:1: label 2147483648 is out of range" + expected);
}

}  // namespace
}  // namespace rulerank::datasets::arrays_test
