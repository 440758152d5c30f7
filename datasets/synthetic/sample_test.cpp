#include "datasets/sample.hpp"

#include "core/error.hpp"
#include "core/sha256.hpp"
#include "core/testing.hpp"
#include "datasets/split.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::sample_test {
namespace {

using testing_tools::temporary_folder;

context seeded(std::uint64_t seed, int threads = 0) {
  context ctx;
  ctx.seed = seed;
  ctx.threads = threads;
  return ctx;
}

std::string content(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void expect_same(dataset const& a, dataset const& b) {
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.row, b.row);
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    ASSERT_EQ(a.entries[i].feature, b.entries[i].feature) << i;
    ASSERT_EQ(a.entries[i].value, b.entries[i].value) << i;
  }
  ASSERT_EQ(a.queries.size(), b.queries.size());
  for (std::size_t q = 0; q < a.queries.size(); ++q) {
    EXPECT_EQ(a.queries[q].qid, b.queries[q].qid);
    EXPECT_EQ(a.queries[q].begin, b.queries[q].begin);
    EXPECT_EQ(a.queries[q].end, b.queries[q].end);
  }
}

/// Returns the values of one feature (all features are listed).
std::vector<double> column(dataset const& data, std::uint32_t feature) {
  std::vector<double> values;
  for (std::size_t d = 0; d < data.size(); ++d)
    values.push_back(data.document(d)[feature - 1].value);
  return values;
}

double correlation(std::vector<double> const& a, std::vector<double> const& b) {
  auto const n = static_cast<double>(a.size());
  double const ma = std::accumulate(a.begin(), a.end(), 0.0) / n;
  double const mb = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

double zero_share(std::vector<double> const& values) {
  return static_cast<double>(std::count(values.begin(), values.end(), 0.0)) /
         static_cast<double>(values.size());
}

double label_share(dataset const& data, std::int32_t label) {
  return static_cast<double>(std::count(data.labels.begin(), data.labels.end(), label)) /
         static_cast<double>(data.size());
}

TEST(shape, names_are_found) {
  EXPECT_EQ(shapes().size(), 8U);
  shape const& web = find_shape("web10k");
  EXPECT_EQ(web.train_documents, 720116U);
  EXPECT_EQ(web.features, 131U);
  EXPECT_EQ(web.reduced_3, 2101U);
  EXPECT_EQ(web.reduced_4, 7337U);
  EXPECT_EQ(web.iterations_3, 170U);
  EXPECT_EQ(web.iterations_4, 635U);
  for (shape const& s : shapes()) {
    EXPECT_EQ(&find_shape(s.name), &s);
    EXPECT_NEAR(std::accumulate(s.label_shares.begin(), s.label_shares.end(), 0.0), 1, 1e-9);
  }
  EXPECT_THROW(find_shape("td2005"), usage_error);
  EXPECT_THROW(find_shape(""), usage_error);
}

// The bytes of a synthetic set are a promise: figures are compared across machines and versions. A
// change here must be intentional.
TEST(sample, bytes_never_change) {
  temporary_folder const folder;
  write_sample(seeded(42), options_of(300, 130, 12, 3, 3), folder / "drawn");
  std::string all;
  for (int fold = 1; fold <= 3; ++fold)
    for (char const* name : {"train", "vali", "test"})
      all += content(fmt::format("{}/Fold{}/{}.txt", folder / "drawn", fold, name));
  EXPECT_EQ(sha256_hex(all), "d84bb978f639e6814c5740ce2cb9d7921a66e8759b4f7f242dd2d30774ccbca8");
}

TEST(sample, is_the_same_for_any_number_of_threads) {
  sample_options const options = options_of(2000, 37, 41, 4, 5);
  dataset const one = sample_documents(seeded(9, 1), options);
  expect_same(one, sample_documents(seeded(9, 2), options));
  expect_same(one, sample_documents(seeded(9, 5), options));
  dataset const other = sample_documents(seeded(10, 1), options);
  EXPECT_NE(column(one, 1), column(other, 1));
  EXPECT_NE(one.labels, other.labels);
}

TEST(sample, a_subset_does_not_depend_on_the_others_drawn) {
  sample_options const options = options_of(900, 12, 30, 3, 5);
  dataset const all = sample_documents(seeded(3), options);
  std::size_t first = 0;
  for (std::size_t s = 0; s < 5; ++s) {
    dataset const alone = sample_subsets(seeded(3), options, std::array{s});
    std::vector<std::size_t> chosen(options.subsets[s].documents);
    std::iota(chosen.begin(), chosen.end(), first);
    expect_same(alone, subset(all, chosen));
    first += chosen.size();
  }
  EXPECT_EQ(first, all.size());
  EXPECT_THROW(sample_subsets(seeded(3), options, std::array<std::size_t, 1>{5}), usage_error);
}

TEST(sample, has_no_text) {
  dataset const data = sample_documents(seeded(1), options_of(50, 3, 5, 3, 5));
  EXPECT_TRUE(data.lines.empty());
  EXPECT_TRUE(data.line_numbers.empty());
  EXPECT_EQ(data.text, nullptr);
  EXPECT_EQ(data.comment(0), "");
  EXPECT_EQ(data.docid(0), "1-1");
  EXPECT_EQ(data.row.size(), data.size() + 1);
}

TEST(sample, sizes_are_met_exactly) {
  for (auto const [documents, queries, folds] : {std::array<std::size_t, 3>{3, 3, 3},
                                                 {3, 3, 1},
                                                 {5, 5, 5},
                                                 {1001, 7, 1},
                                                 {1001, 7, 7},
                                                 {1001, 1001, 5},
                                                 {640, 0, 5}}) {
    sample_options const options = options_of(documents, 2, queries, 2, folds);
    dataset const data = sample_documents(seeded(5), options);
    EXPECT_EQ(data.size(), documents);
    EXPECT_EQ(data.queries.size(), queries == 0 ? 7U : queries);
    std::size_t next = 0;
    for (query_group const& q : data.queries) {
      EXPECT_EQ(q.begin, next);
      EXPECT_GE(q.size(), 1U);
      next = q.end;
    }
    EXPECT_EQ(next, documents);
    EXPECT_EQ(options.subsets.size(), folds == 1 ? 3U : folds);
  }
  sample_options const fifths = options_of(1000, 2, 50, 2, 1);
  EXPECT_EQ(fifths.subsets[0].documents, 600U);
  EXPECT_EQ(fifths.subsets[1].queries, 10U);
  EXPECT_EQ(fifths.subsets[2].documents, 200U);
}

TEST(sample, refuses_sizes_that_cannot_be_drawn) {
  EXPECT_THROW(options_of(100, 5, 10, 3, 2), usage_error);
  EXPECT_THROW(options_of(100, 5, 10, 3, 0), usage_error);
  EXPECT_THROW(options_of(100, 0, 10, 3, 5), usage_error);
  EXPECT_THROW(options_of(100, (1U << 20) + 1, 10, 3, 5), usage_error);
  EXPECT_THROW(options_of(100, 5, 101, 3, 5), usage_error);
  EXPECT_THROW(options_of(100, 5, 4, 3, 5), usage_error);
  EXPECT_THROW(options_of(2, 5, 0, 3, 5), usage_error);
  EXPECT_THROW(options_of(0, 5, 0, 3, 5), usage_error);
  EXPECT_THROW(options_of(100, 5, 10, 0, 5), usage_error);
  EXPECT_THROW(options_of(100, 5, 10, 17, 5), usage_error);
  EXPECT_THROW(options_of(~std::size_t{0}, 5, 10, 3, 5), usage_error);
  sample_options options = options_of(100, 5, 10, 3, 5);
  options.label_shares = {0.5, -0.5};
  EXPECT_THROW(sample_documents(seeded(1), options), usage_error);
  options.label_shares = {};
  EXPECT_THROW(sample_documents(seeded(1), options), usage_error);
  options.label_shares = {1};
  options.folds = 6;
  EXPECT_THROW(write_sample(seeded(1), options, "never"), usage_error);
  EXPECT_FALSE(std::filesystem::exists("never"));
}

TEST(sample, looks_like_letor) {
  shape const& td2003 = find_shape("td2003");
  auto const [train, test] = sample_fold(seeded(1), td2003);
  EXPECT_EQ(train.size(), 29435U);
  EXPECT_EQ(test.size(), 9812U);
  EXPECT_EQ(train.queries.size(), 30U);
  EXPECT_EQ(test.queries.size(), 10U);
  EXPECT_EQ(listed_features(train).size(), 59U);
  // Few relevant documents.
  EXPECT_EQ(train.max_label(), 1);
  EXPECT_GT(label_share(train, 1), 0.005);
  EXPECT_LT(label_share(train, 1), 0.02);
  // Values are in [0, 1], each feature reaches both ends, and at most 85 % are zeros.
  std::size_t many_zeros = 0, few_values = 0;
  std::vector<std::vector<double>> columns;
  for (std::uint32_t f = 1; f <= 59; ++f) {
    columns.push_back(column(train, f));
    std::set<double> const distinct(columns.back().begin(), columns.back().end());
    EXPECT_EQ(*distinct.begin(), 0);
    EXPECT_EQ(*distinct.rbegin(), 1);
    EXPECT_LT(zero_share(columns.back()), 0.85);
    many_zeros += zero_share(columns.back()) > 0.4 ? 1 : 0;
    few_values += distinct.size() < 200 ? 1 : 0;
  }
  EXPECT_GE(many_zeros, 20U);
  EXPECT_GE(few_values, 10U);
  // Statistics of one field are highly correlated, those of different fields less so.
  EXPECT_GT(correlation(columns[20], columns[25]), 0.9);
  EXPECT_GT(correlation(columns[15], columns[20]), 0.6);
  double sum = 0, high = 0, pairs = 0;
  for (std::size_t f = 0; f < 59; ++f)
    for (std::size_t g = f + 1; g < 59; ++g) {
      double const c = std::abs(correlation(columns[f], columns[g]));
      sum += c;
      high += c > 0.5 ? 1 : 0;
      pairs += 1;
    }
  EXPECT_GT(sum / pairs, 0.1);
  EXPECT_LT(sum / pairs, 0.4);
  EXPECT_GT(high / pairs, 0.05);
}

TEST(sample, labels_follow_the_shares) {
  sample_options options = options_of(60000, 3, 600, 5, 5);
  dataset const quarters = sample_documents(seeded(2), options);
  for (std::int32_t l = 0; l < 5; ++l)
    EXPECT_NEAR(label_share(quarters, l), 0.75 * std::pow(0.25, l), 0.02) << l;
  EXPECT_GT(label_share(quarters, 4), 0.0005);
  options.label_shares = {0.52, 0.32, 0.13, 0.02, 0.01};
  dataset const web = sample_documents(seeded(2), options);
  for (std::size_t l = 0; l < 5; ++l)
    EXPECT_NEAR(label_share(web, static_cast<std::int32_t>(l)), options.label_shares[l], 0.02);
  options.label_shares = {1};
  EXPECT_EQ(sample_documents(seeded(2), options).max_label(), 0);
}

/// Mean over queries of the share of pairs of unequal labels that the scores order correctly.
double pair_accuracy(dataset const& data, std::vector<double> const& scores) {
  double sum = 0, queries = 0;
  for (query_group const& q : data.queries) {
    double right = 0, pairs = 0;
    for (std::size_t a = q.begin; a < q.end; ++a)
      for (std::size_t b = q.begin; b < q.end; ++b) {
        if (data.labels[a] <= data.labels[b]) continue;
        pairs += 1;
        right += scores[a] > scores[b] ? 1 : scores[a] == scores[b] ? 0.5 : 0;
      }
    if (pairs == 0) continue;
    sum += right / pairs;
    queries += 1;
  }
  return sum / queries;
}

TEST(sample, features_tell_of_the_label_but_not_all) {
  for (std::uint64_t const seed : {1, 2, 3}) {
    dataset const data = sample_documents(seeded(seed), options_of(6000, 59, 60, 3, 5));
    double best = 0;
    std::vector<double> together(data.size(), 0);
    for (std::uint32_t f = 1; f <= 59; ++f) {
      std::vector<double> const values = column(data, f);
      best = std::max(best, pair_accuracy(data, values));
      for (std::size_t d = 0; d < data.size(); ++d) together[d] += values[d];
    }
    EXPECT_GT(best, 0.62);
    EXPECT_LT(best, 0.95);
    EXPECT_GT(pair_accuracy(data, together), 0.62);
    EXPECT_LT(pair_accuracy(data, together), 0.97);
  }
}

TEST(sample, query_sizes_vary) {
  dataset const data = sample_documents(seeded(4), options_of(20000, 1, 200, 2, 5));
  std::size_t smallest = data.size(), largest = 0;
  for (query_group const& q : data.queries) {
    smallest = std::min(smallest, q.size());
    largest = std::max(largest, q.size());
  }
  EXPECT_LT(smallest, 50U);
  EXPECT_GT(largest, 200U);
  EXPECT_GT(smallest, 20U);
  EXPECT_LT(largest, 400U);
}

TEST(write_sample, reads_back_as_the_set_in_memory) {
  temporary_folder const folder;
  sample_options const options = options_of(400, 29, 20, 3, 5);
  write_sample(seeded(6), options, folder / "drawn");
  std::map<std::string, int> tested;
  for (std::size_t fold = 0; fold < 5; ++fold) {
    fold_subsets const roles = letor_rotation(fold, 5);
    std::string const place = fmt::format("{}/Fold{}", folder / "drawn", fold + 1);
    expect_same(read_svmlight({}, place + "/train.txt"),
                sample_subsets(seeded(6), options, roles.train));
    expect_same(read_svmlight({}, place + "/vali.txt"),
                sample_subsets(seeded(6), options, std::array{roles.vali}));
    dataset const test = read_svmlight({}, place + "/test.txt");
    expect_same(test, sample_subsets(seeded(6), options, std::array{roles.test}));
    EXPECT_EQ(test.docid(0), test.queries[0].qid + "-1");
    for (query_group const& q : test.queries) ++tested[q.qid];
  }
  EXPECT_EQ(tested.size(), 20U);
  for (auto const& [qid, times] : tested) EXPECT_EQ(times, 1) << qid;
}

TEST(write_sample, first_fold_of_a_shape_is_that_of_sample_fold) {
  shape small = find_shape("td2003");
  small.train_documents = 301;
  small.vali_documents = small.test_documents = 99;
  for (int const folds : {5, 1}) {
    temporary_folder const folder;
    small.folds = folds;
    sample_options options = options_of(small);
    EXPECT_EQ(options.subsets.size(), folds == 5 ? 5U : 3U);
    options.folds = 1;
    write_sample(seeded(8), options, folder / "drawn");
    auto const [train, test] = sample_fold(seeded(8), small);
    EXPECT_EQ(train.size(), 301U);
    EXPECT_EQ(test.size(), 99U);
    expect_same(read_svmlight({}, folder / "drawn/Fold1/train.txt"), train);
    expect_same(read_svmlight({}, folder / "drawn/Fold1/test.txt"), test);
    EXPECT_FALSE(std::filesystem::exists(folder / "drawn/Fold2"));
  }
}

TEST(write_sample, stops_when_told_and_leaves_no_file) {
  temporary_folder const folder;
  context ctx = seeded(1);
  ctx.progress = [](std::string_view stage, std::uint64_t, std::uint64_t total) {
    EXPECT_EQ(stage, "sample");
    EXPECT_EQ(total, 5U * 500U);
    return false;
  };
  EXPECT_THROW(write_sample(ctx, options_of(500, 9, 20, 3, 5), folder / "drawn"), interrupted);
  std::stop_source stop;
  stop.request_stop();
  ctx = seeded(1);
  ctx.stop = stop.get_token();
  EXPECT_THROW(sample_documents(ctx, options_of(500, 9, 20, 3, 5)), interrupted);
  EXPECT_THROW(write_sample(ctx, options_of(500, 9, 20, 3, 5), folder / "drawn"), interrupted);
  for (auto const& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

}  // namespace
}  // namespace rulerank::datasets::sample_test
