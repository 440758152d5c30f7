#include "datasets/feature_order.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::feature_order_test {
namespace {

using rulerank::testing_tools::complaint_of;
using rulerank::testing_tools::input_and_message;

/// Makes columns from codes; `bins` counts the bins of values, without "missing".
binned_dataset make(std::vector<std::vector<std::uint8_t>> const& columns, std::uint32_t bins,
                    bool missing_item, std::vector<std::int32_t> labels = {}) {
  binned_dataset data;
  data.documents = columns.front().size();
  data.stride = round_up(data.documents, 64);
  data.item_begin = {0};
  for (std::size_t f = 0; f < columns.size(); ++f) {
    data.features.push_back(static_cast<std::uint32_t>(10 * f + 5));
    data.item_begin.push_back(data.item_begin.back() + bins + (missing_item ? 1 : 0));
    data.has_missing_item.push_back(missing_item);
    data.codes.insert(data.codes.end(), columns[f].begin(), columns[f].end());
    data.codes.resize((f + 1) * data.stride, no_item);
  }
  data.labels = labels.empty() ? std::vector<std::int32_t>(data.documents) : std::move(labels);
  return data;
}

/// Computes chi2 by the textbook formula, and V by its definition.
double plain_chi2(std::vector<std::pair<int, int>> const& pairs, double& v) {
  double const n = static_cast<double>(pairs.size());
  double chi2 = 0;
  int rows = 0, columns = 0;
  auto const count = [&](auto const& keep) {
    return static_cast<double>(std::count_if(pairs.begin(), pairs.end(), keep));
  };
  for (int a = 0; a < 256; ++a) rows += count([a](auto p) { return p.first == a; }) > 0;
  for (int b = 0; b < 256; ++b) columns += count([b](auto p) { return p.second == b; }) > 0;
  for (int a = 0; a < 256; ++a) {
    double const in_a = count([a](auto p) { return p.first == a; });
    if (in_a == 0) continue;
    for (int b = 0; b < 256; ++b) {
      double const in_b = count([b](auto p) { return p.second == b; });
      if (in_b == 0) continue;
      double const both = count([a, b](auto p) { return p.first == a && p.second == b; });
      double const expected = in_a * in_b / n;
      chi2 += (both - expected) * (both - expected) / expected;
    }
  }
  int const least = std::min(rows, columns);
  v = least < 2 ? 0 : std::sqrt(chi2 / (n * (least - 1)));
  return chi2;
}

double plain_v(binned_dataset const& data, std::size_t f, std::size_t g) {
  std::vector<std::pair<int, int>> pairs;
  auto const present = [&](std::size_t c, std::size_t d) {
    return data.code(c, d) < data.bins(c) - (data.has_missing_item[c] ? 1 : 0);
  };
  for (std::size_t d = 0; d < data.documents; ++d)
    if (present(f, d) && present(g, d)) pairs.emplace_back(data.code(f, d), data.code(g, d));
  double v = 0;
  if (!pairs.empty()) plain_chi2(pairs, v);
  return v;
}

binned_dataset drawn(random_engine& engine, std::size_t features, std::size_t documents,
                     std::uint32_t bins, bool missing_item) {
  std::vector<std::vector<std::uint8_t>> columns(features);
  std::vector<std::int32_t> labels(documents);
  for (auto& label : labels) label = static_cast<std::int32_t>(uniform_below(engine, 4)) - 1;
  for (std::size_t f = 0; f < features; ++f)
    for (std::size_t d = 0; d < documents; ++d) {
      std::uint64_t code = uniform_below(engine, bins);
      if (f > 0 && uniform_below(engine, features) >= f) code = columns[0][d] % bins;
      if (uniform_below(engine, 3) == 0) code = static_cast<std::uint64_t>(labels[d] + 1) % bins;
      auto const absent = uniform_below(engine, 12);
      if (absent == 0) code = no_item;
      if (absent == 1 && missing_item) code = bins;
      columns[f].push_back(static_cast<std::uint8_t>(code));
    }
  return make(columns, bins, missing_item, labels);
}

TEST(cramers_v, by_hand) {
  // Equal; independent; constant; two of four cells.
  binned_dataset const data =
      make({{0, 0, 1, 1}, {1, 1, 0, 0}, {0, 1, 0, 1}, {1, 1, 1, 1}, {0, 0, 0, 1}}, 2, false);
  EXPECT_EQ(cramers_v(data, 0, 1), 1);
  EXPECT_EQ(cramers_v(data, 0, 2), 0);
  EXPECT_EQ(cramers_v(data, 0, 3), 0);
  EXPECT_NEAR(cramers_v(data, 0, 4), std::sqrt(1.0 / 3), 1e-14);
  EXPECT_EQ(cramers_v(data, 4, 0), cramers_v(data, 0, 4));
}

TEST(cramers_v, missing_is_no_bin) {
  // Documents with values in both columns: 0 1 0 1 against 0 1 0 1.
  binned_dataset const data = make({{0, 1, 0, 1, 2, 0, no_item}, {0, 1, 0, 1, 0, 2, 1}}, 2, true);
  EXPECT_EQ(cramers_v(data, 0, 1), 1);
  binned_dataset const never = make({{0, 1, 2, 2}, {2, 2, 0, 1}}, 2, true);
  EXPECT_EQ(cramers_v(never, 0, 1), 0);
}

/// Makes features from counts of documents by bin and label.
binned_dataset of_tables(std::vector<std::vector<std::vector<int>>> const& tables,
                         std::vector<std::int32_t> const& labels) {
  std::vector<std::vector<std::uint8_t>> columns;
  for (auto const& table : tables) {
    std::vector<std::uint8_t>& column = columns.emplace_back(labels.size(), no_item);
    std::vector<std::vector<int>> left = table;
    for (std::size_t d = 0; d < labels.size(); ++d)
      for (std::size_t b = 0; b < left.size() && column[d] == no_item; ++b)
        if (left[b][static_cast<std::size_t>(labels[d])]-- > 0)
          column[d] = static_cast<std::uint8_t>(b);
  }
  return make(columns, 4, false, labels);
}

TEST(feature_order, label_settles_by_index_what_the_mathematics_make_equal) {
  // For any bins, a feature that determines the label has chi2 = N.
  std::vector<std::int32_t> labels(12, 0);
  std::fill_n(labels.begin(), 6, 1);
  std::vector<std::vector<std::vector<int>>> const tables{
      {{6, 0}, {0, 6}},          // 1 + 1
      {{1, 0}, {5, 0}, {0, 6}},  // 1/6 + 5/6 + 1
      {{2, 0}, {4, 0}, {0, 6}},  // 1/3 + 2/3 + 1
      {{6, 0}, {0, 1}, {0, 5}}, {{2, 0}, {4, 0}, {0, 1}, {0, 5}},
      {{5, 1}, {1, 5}},         {{1, 5}, {5, 1}},
  };
  std::vector<std::size_t> permutation(tables.size() - 2);
  std::iota(permutation.begin(), permutation.end(), std::size_t{0});
  do {
    std::vector<std::vector<std::vector<int>>> permuted;
    for (std::size_t const f : permutation) permuted.push_back(tables[f]);
    permuted.insert(permuted.begin() + 2, tables.end() - 2, tables.end());
    EXPECT_EQ(order_features({}, of_tables(permuted, labels), feature_order::label),
              (std::vector<std::size_t>{0, 1, 4, 5, 6, 2, 3}));
  } while (std::next_permutation(permutation.begin(), permutation.end()));
}

TEST(cramers_v, what_the_mathematics_make_equal_is_equal) {
  // Each bin of one column is inside a bin of the other: V = 1 for all sizes.
  for (std::size_t const size : {3, 7, 10, 49, 1000}) {
    std::vector<std::uint8_t> coarse(size), fine(size), finer(size);
    for (std::size_t d = 0; d < size; ++d) {
      coarse[d] = d % 3 == 0;
      fine[d] = static_cast<std::uint8_t>(d % 3);
      finer[d] = static_cast<std::uint8_t>(d % 3 * 3 + d / 3 % 3);
    }
    binned_dataset const data = make({coarse, fine, finer}, 9, false);
    EXPECT_EQ(cramers_v(data, 0, 1), 1) << size;
    EXPECT_EQ(cramers_v(data, 0, 2), 1) << size;
    EXPECT_EQ(cramers_v(data, 1, 2), 1) << size;
    EXPECT_EQ(cramers_v(data, 2, 1), 1) << size;
  }
  // Independent: exactly 0, not the root of a rounding error.
  std::vector<std::uint8_t> a, b;
  for (int d = 0; d < 7 * 11 * 3; ++d) {
    a.push_back(static_cast<std::uint8_t>(d % 7));
    b.push_back(static_cast<std::uint8_t>(d / 7 % 11 % 9));
  }
  EXPECT_EQ(cramers_v(make({a, b}, 9, false), 0, 1), 0);
}

TEST(cramers_v, drawn_columns_against_the_textbook) {
  random_engine engine(14);
  for (std::uint32_t const bins : {2U, 3U, 10U, 16U, 250U})
    for (std::size_t const documents : {1, 64, 500, 5000}) {
      binned_dataset const data = drawn(engine, 3, documents, bins, documents % 3 != 0);
      if (bins == 250U && documents == 5000) continue;
      for (std::size_t f = 0; f < 3; ++f)
        for (std::size_t g = 0; g < 3; ++g)
          EXPECT_NEAR(cramers_v(data, f, g), plain_v(data, f, g), 1e-7)
              << bins << " bins, " << documents << " documents";
    }
}

TEST(feature_order, chi2_is_the_mean_v_descending_for_any_number_of_threads_and_processes) {
  random_engine engine(31);
  for (std::size_t const features : {1, 2, 5, 6, 11, 40}) {
    binned_dataset const data = drawn(engine, features, 300, 5, true);
    std::vector<double> mean(features);
    for (std::size_t f = 0; f < features; ++f)
      for (std::size_t g = 0; g < features; ++g)
        if (f != g) mean[f] += plain_v(data, f, g);
    std::vector<std::size_t> expected(features);
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::size_t a, std::size_t b) { return mean[a] > mean[b]; });
    for (int const threads : {1, 2, 5}) {
      context ctx;
      ctx.threads = threads;
      EXPECT_EQ(order_features(ctx, data, feature_order::chi2), expected);
    }
    for (int const processes : {2, 3, 16})
      testing_tools::run_processes(processes, [&](process_group const& group) {
        context ctx;
        ctx.threads = 2;
        ctx.processes = &group;
        EXPECT_EQ(order_features(ctx, data, feature_order::chi2), expected);
      });
  }
}

TEST(feature_order, chi2_of_few_and_many_bins_and_documents) {
  random_engine engine(33);
  for (std::size_t const documents : {1, 63, 64, 65, 4500}) {
    binned_dataset data = drawn(engine, 9, documents, 40, false);
    // Features of 2 to 40 bins, some counted by products of bits and some in passes.
    for (std::uint32_t f = 0; f < 9; ++f) {
      std::uint32_t const bins = f % 3 == 0 ? 2 + f : 31 + f % 4;
      data.item_begin[f + 1] = data.item_begin[f] + bins;
      for (std::size_t d = 0; d < documents; ++d) {
        std::uint8_t& code = data.codes[f * data.stride + d];
        if (code != no_item) code = static_cast<std::uint8_t>(code % bins);
      }
    }
    std::vector<std::uint64_t> sums(9);
    for (std::size_t f = 0; f < 9; ++f)
      for (std::size_t g = 0; g < 9; ++g)
        if (f != g) sums[f] += static_cast<std::uint64_t>(cramers_v(data, f, g) * 0x1p52);
    std::vector<std::size_t> expected(9);
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    std::stable_sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
      return (sums[a] + (1 << 19)) >> 20 > (sums[b] + (1 << 19)) >> 20;
    });
    for (int const threads : {1, 3}) {
      context ctx;
      ctx.threads = threads;
      EXPECT_EQ(order_features(ctx, data, feature_order::chi2), expected);
    }
  }
}

TEST(feature_order, equal_columns_stay_in_order_wherever_they_are) {
  random_engine engine(32);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::vector<std::uint8_t>> columns(9, std::vector<std::uint8_t>(97));
    for (auto& column : columns)
      for (auto& code : column) code = static_cast<std::uint8_t>(uniform_below(engine, 7));
    columns[5] = columns[1];
    columns[8] = columns[1];
    for (std::size_t d = 0; d < columns[1].size(); ++d)
      columns[7][d] = static_cast<std::uint8_t>(6 - columns[1][d]);  // other codes, same bins
    auto const order = order_features({}, make(columns, 7, false), feature_order::chi2);
    std::vector<std::size_t> same;
    for (std::size_t const f : order)
      if (f == 1 || f == 5 || f == 7 || f == 8) same.push_back(f);
    EXPECT_EQ(same, (std::vector<std::size_t>{1, 5, 7, 8}));
    EXPECT_EQ(order.size(), 9U);
  }
}

TEST(feature_order, label_is_chi2_against_known_labels) {
  random_engine engine(33);
  binned_dataset const data = drawn(engine, 12, 400, 6, true);
  std::vector<double> chi2(12);
  for (std::size_t f = 0; f < 12; ++f) {
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t d = 0; d < data.documents; ++d)
      if (data.code(f, d) < 6 && data.labels[d] >= 0)
        pairs.emplace_back(data.code(f, d), data.labels[d]);
    double ignored = 0;
    chi2[f] = plain_chi2(pairs, ignored);
  }
  auto const order = order_features({}, data, feature_order::label);
  ASSERT_EQ(order.size(), 12U);
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_GE(chi2[order[i - 1]], chi2[order[i]] - 1e-9);
  // Labels may be any integers; ties keep their order.
  binned_dataset const few =
      make({{0, 1, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}}, 2, false, {2147483647, 7, 2147483647, 7});
  EXPECT_EQ(order_features({}, few, feature_order::label), (std::vector<std::size_t>{0, 1, 2}));
  binned_dataset const none = make({{0, 1}, {1, 1}}, 2, false, {unlabelled, unlabelled});
  EXPECT_EQ(order_features({}, none, feature_order::label), (std::vector<std::size_t>{0, 1}));
}

TEST(best_features, are_the_first_by_label_in_their_order) {
  random_engine engine(34);
  binned_dataset const data = drawn(engine, 9, 200, 5, true);
  auto const order = order_features({}, data, feature_order::label);
  for (auto const& [share, count] : {std::pair(1e-9, 1U), {.3, 3U}, {1. / 3, 3U}, {.9, 9U}}) {
    binned_dataset const best = best_features({}, data, share);
    std::set<std::uint32_t> expected;
    for (std::size_t i = 0; i < count; ++i) expected.insert(data.features[order[i]]);
    ASSERT_EQ(best.features, std::vector<std::uint32_t>(expected.begin(), expected.end()));
    EXPECT_EQ(best.labels, data.labels);
    for (std::size_t g = 0; g < count; ++g) {
      auto const f = static_cast<std::size_t>(std::ranges::find(data.features, best.features[g]) -
                                              data.features.begin());
      EXPECT_EQ(best.bins(g), data.bins(f));
      EXPECT_EQ(best.has_missing_item[g], data.has_missing_item[f]);
      for (std::size_t d = 0; d < data.documents; ++d) ASSERT_EQ(best.code(g, d), data.code(f, d));
    }
  }
}

TEST(feature_order, as_they_come) {
  binned_dataset const data = make({{0}, {1}, {0}}, 2, false);
  EXPECT_EQ(order_features({}, data, feature_order::none), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(feature_order, from_a_file) {
  binned_dataset const data = make({{0}, {1}, {0}, {1}}, 2, false);  // features 5 15 25 35
  testing_tools::temporary_folder folder;
  std::string const path = folder / "order";
  write_file(path,
             "\xef\xbb\xbf"
             "25\r\n# mine\n\n  5 # BM25\n999\n15\n35");
  EXPECT_EQ(order_features({}, data, feature_order::file, path),
            (std::vector<std::size_t>{2, 0, 1, 3}));
  auto const complaint = [&](binned_dataset const& of) {
    return complaint_of(path, [&] { order_features({}, of, feature_order::file, path); });
  };
  input_and_message const rows[] = {
      {"25\n x5\n", ":2:2:..."},  {"25\n5.5\n", ":2:1:..."},       {"-5\n", ":1:1:..."},
      {"25\n\n25\n", ":3:1:..."}, {"99999999999\n", ":1:1:..."},   {"5 15\n", ":1:1:..."},
      {"# none\n", ":1:1:..."},   {"25\n5\n35\n999\n", ":1:1:..."}};
  expect_messages(rows, [&](std::string const& text) {
    write_file(path, text);
    return complaint(data);
  });
  EXPECT_THROW(order_features({}, data, feature_order::file, folder / "absent"), error);
  write_file(path, "25\n5\n35\n");
  EXPECT_EQ(complaint(data),
            ":1:1: found 3 of the 4 features with items, expected all of them: 15 is missing");
  binned_dataset const wide = make(std::vector<std::vector<std::uint8_t>>(15, {0, 1}), 2, false);
  EXPECT_EQ(complaint(wide),
            ":1:1: found 3 of the 15 features with items, expected all of them: 15, 45, 55, 65, "
            "75, 85, 95, 105, 115, 125 and 2 more are missing");
}

TEST(feature_order, words) {
  for (feature_order const order :
       {feature_order::chi2, feature_order::label, feature_order::none, feature_order::file})
    EXPECT_EQ(feature_order_from(name_of(order)), order);
  EXPECT_THROW(feature_order_from("chi"), usage_error);
}

}  // namespace
}  // namespace rulerank::datasets::feature_order_test
