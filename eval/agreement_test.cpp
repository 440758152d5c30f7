#include "eval/agreement.hpp"

#include "core/error.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <gtest/gtest.h>

namespace rulerank::inline v0::eval::agreement_test {
namespace {

/// A row per source and a column per unit; `.` is no label. Every unit is a query of its own.
ratings table(std::vector<std::string> const& rows) {
  ratings made;
  for (std::size_t u = 0; u < rows[0].size(); ++u) {
    made.query_of.push_back(u);
    made.qids.push_back(std::to_string(u));
  }
  for (std::size_t s = 0; s < rows.size(); ++s) {
    made.sources.push_back(std::string(1, static_cast<char>('A' + s)));
    for (std::size_t u = 0; u < rows[s].size(); ++u)
      if (rows[s][u] != '.') made.all.push_back({u, s, rows[s][u] - '0'});
  }
  return made;
}

/// Krippendorff, Computing Krippendorff's alpha-reliability, 2011: four observers, twelve units.
TEST(agreement, of_krippendorffs_example) {
  ratings const given = table({"123321412...", "1233224125.3", ".3332342251.", "12332441251."});
  EXPECT_NEAR(*krippendorff_alpha(given, label_scale::nominal), 0.743, 5e-4);
  EXPECT_NEAR(*krippendorff_alpha(given, label_scale::ordinal), 0.815, 5e-4);
  EXPECT_FALSE(fleiss_kappa(given)) << "units have 2 to 4 labels";
}

/// The table of 14 raters, 10 subjects and 5 categories of Wikipedia's article on Fleiss' kappa.
TEST(agreement, of_fleiss_example) {
  std::size_t const counts[10][5] = {
      {0, 0, 0, 0, 14}, {0, 2, 6, 4, 2}, {0, 0, 3, 5, 6}, {0, 3, 9, 2, 0}, {2, 2, 8, 1, 1},
      {7, 7, 0, 0, 0},  {3, 2, 6, 3, 0}, {2, 5, 3, 2, 2}, {6, 5, 2, 1, 0}, {0, 2, 2, 3, 7}};
  std::vector<std::string> rows(14, std::string(10, '.'));
  for (std::size_t u = 0; u < 10; ++u)
    for (std::size_t c = 0, s = 0; c < 5; ++c)
      for (std::size_t i = 0; i < counts[u][c]; ++i) rows[s++][u] = static_cast<char>('0' + c);
  ratings const given = table(rows);
  EXPECT_NEAR(*fleiss_kappa(given), 0.210, 5e-4);
  EXPECT_NEAR(*equal_share(given), 0.378, 5e-4);
}

/// By hand: 20 and 15 of 50 equal; expected (25 * 30 + 25 * 20) / 50^2 = .5; (.7 - .5) / .5 = .4.
TEST(agreement, of_two_by_cohens_kappa) {
  ratings const given = table(
      {std::string(25, '1') + std::string(25, '0'),
       std::string(20, '1') + std::string(5, '0') + std::string(10, '1') + std::string(15, '0')});
  auto const pairs = pairs_of(given);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].units, 50U);
  EXPECT_EQ(pairs[0].counts, (std::vector<std::size_t>{15, 10, 5, 20}));
  EXPECT_DOUBLE_EQ(pairs[0].share, 0.7);
  EXPECT_DOUBLE_EQ(*pairs[0].kappa, 0.4);
  EXPECT_DOUBLE_EQ(*pairs[0].weighted_kappa, 0.4) << "two labels have one difference";
  auto const three = pairs_of(table({"0012", "0110"}));
  // Shares: first (1/2, 1/4, 1/4), second (1/2, 1/2, 0). Observed 5/4; expected
  // 1/2*1/2*1 + 1/4*1/2*1 + 1/4*1/2*4 + 1/4*1/2*1 = 1.
  EXPECT_DOUBLE_EQ(*three[0].weighted_kappa, 1 - 1.25);
}

TEST(agreement, is_undefined_without_differences_or_pairs) {
  EXPECT_FALSE(krippendorff_alpha(table({"111", "111"}), label_scale::nominal));
  EXPECT_FALSE(pairs_of(table({"111", "111"}))[0].kappa);
  EXPECT_FALSE(equal_share(table({"1..", ".1."})));
  EXPECT_TRUE(pairs_of(table({"1..", ".1."})).empty());
  EXPECT_FALSE(summarize({}, table({"1..", ".1."})).share.value);
}

TEST(agreement, is_0_by_chance_and_1_if_equal) {
  random_engine engine(3);
  std::vector<std::string> rows(3, std::string(3000, '0'));
  for (std::string& row : rows)
    for (char& label : row) label = static_cast<char>('0' + uniform_below(engine, 4));
  agreement_summary const chance = summarize({}, table(rows), 200);
  for (agreement_value const& value : {chance.fleiss, chance.alpha_nominal, chance.alpha_ordinal}) {
    EXPECT_NEAR(*value.value, 0, 0.03);
    EXPECT_LE(*value.low, *value.value);
    EXPECT_GE(*value.high, *value.value);
    EXPECT_LT(*value.high - *value.low, 0.08);
  }
  rows[1] = rows[2] = rows[0];
  agreement_summary const equal = summarize({}, table(rows), 200);
  EXPECT_DOUBLE_EQ(*equal.alpha_ordinal.value, 1);
  EXPECT_DOUBLE_EQ(*equal.fleiss.low, 1);
}

/// 200 sets of 40 units: the interval of the share contains the true share about as often as
/// stated.
TEST(agreement, intervals_cover) {
  random_engine engine(5);
  int covered = 0;
  for (int set = 0; set < 200; ++set) {
    std::vector<std::string> rows(2, std::string(40, '0'));
    for (std::size_t u = 0; u < 40; ++u) {
      rows[0][u] = static_cast<char>('0' + uniform_below(engine, 2));
      rows[1][u] =
          uniform_unit(engine) < 0.7 ? rows[0][u] : static_cast<char>('1' - rows[0][u] + '0');
    }
    auto const share = summarize({}, table(rows), 400).share;
    covered += *share.low <= 0.7 && 0.7 <= *share.high;
  }
  EXPECT_GE(covered, 200 * 0.90);
}

TEST(agreement, does_not_depend_on_the_order_of_sources_and_labels) {
  ratings given = table({"0120112", "01201.2", "0220102"});
  double const before = *krippendorff_alpha(given, label_scale::ordinal);
  std::ranges::reverse(given.all);
  for (rating& r : given.all) r.source = 2 - r.source;
  EXPECT_DOUBLE_EQ(*krippendorff_alpha(given, label_scale::ordinal), before);
}

/// Dawid and Skene 1979, table 1: 45 patients; observer 1 three times, observers 2 to 5 once.
ratings anaesthetists() {
  constexpr std::string_view rows =
      "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 "
      "2223343 1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 "
      "2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111 "
      "2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 "
      "2222222";
  ratings made;
  made.sources = {"1", "2", "3", "4", "5"};
  made.qids = {"q"};
  for (std::size_t u = 0; u < 45; ++u) {
    made.query_of.push_back(0);
    for (std::size_t i = 0; i < 7; ++i)
      made.all.push_back({u, i < 3 ? 0 : i - 2, rows[u * 8 + i] - '0'});
  }
  return made;
}

TEST(consensus, of_dawid_and_skenes_anaesthetists) {
  consensus const found = combine(anaesthetists(), consensus_method::dawid_skene);
  EXPECT_EQ(found.labels, (std::vector<std::int32_t>{1, 2, 3, 4}));
  double const prior[] = {.40, .42, .11, .07};  // as published
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(found.prior[j], prior[j], 0.005);
  double const first[] = {.89, .11, 0, 0, .07, .88, .05, 0, 0, .34, .66, 0, 0, 0, .56, .44};
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(found.confusion[i], first[i], 0.005) << i;
  EXPECT_EQ(found.label_of(1), 4);
  EXPECT_EQ(found.label_of(2), 2);
  EXPECT_NEAR(found.probability_of(6), 0.981, 5e-4);
  EXPECT_NEAR(found.probability_of(34), 0.948, 5e-4);
  EXPECT_NEAR(found.probability_of(37), 0.979, 5e-4);
}

TEST(consensus, by_majority_takes_the_smallest_of_ties) {
  consensus const found = combine(table({"012.", "022.", "112."}), consensus_method::majority);
  EXPECT_EQ(found.label_of(0), 0);
  EXPECT_EQ(found.label_of(1), 1) << "1, 2, 1";
  EXPECT_EQ(found.label_of(2), 2);
  EXPECT_FALSE(found.label_of(3)) << "no rating";
  EXPECT_NEAR(found.probability_of(0), 2.0 / 3, 1e-12);
  EXPECT_EQ(combine(table({"0", "1"}), consensus_method::majority).label_of(0), 0);
  EXPECT_THROW(combine(ratings{}, consensus_method::majority), usage_error);
}

/// Two good sources and three that give the largest label half of the time.
TEST(consensus, recovers_labels_from_sources_that_err) {
  random_engine engine(11);
  std::string truth(600, '0');
  for (char& label : truth) label = static_cast<char>('0' + uniform_below(engine, 3));
  std::vector<std::string> rows(5, truth);
  for (std::size_t s = 0; s < 5; ++s)
    for (char& label : rows[s]) {
      double const x = uniform_unit(engine);
      if (s < 2 ? x < 0.1 : x < 0.55)
        label = s < 2 ? static_cast<char>('0' + (label - '0' + 1) % 3) : '2';
    }
  ratings const given = table(rows);
  auto const right = [&](consensus_method how) {
    consensus const found = combine(given, how);
    std::size_t equal = 0;
    for (std::size_t u = 0; u < truth.size(); ++u) equal += found.label_of(u) == truth[u] - '0';
    for (std::size_t u = 0; u < truth.size(); ++u) {
      double sum = 0;
      for (std::size_t j = 0; j < 3; ++j) sum += found.probabilities[u * 3 + j];
      EXPECT_NEAR(sum, 1, 1e-9);
    }
    return static_cast<double>(equal) / static_cast<double>(truth.size());
  };
  double const majority = right(consensus_method::majority);
  EXPECT_GT(right(consensus_method::dawid_skene), majority + 0.05);
  EXPECT_GT(right(consensus_method::ordinal), majority + 0.02);
}

TEST(consensus, by_thresholds_is_dawid_skene_for_two_labels) {
  ratings const given = table({"0110100110", "0110110100", "0010100111"});
  consensus const nominal = combine(given, consensus_method::dawid_skene);
  consensus const ordinal = combine(given, consensus_method::ordinal);
  for (std::size_t i = 0; i < nominal.probabilities.size(); ++i)
    EXPECT_NEAR(nominal.probabilities[i], ordinal.probabilities[i], 1e-9);
}

}  // namespace
}  // namespace rulerank::eval::agreement_test
