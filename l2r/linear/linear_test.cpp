#include "l2r/linear/linear.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/options_json.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r::linear_test {
namespace {

datasets::dataset parsed(std::string const& text) {
  return datasets::parse_svmlight(context{}, text, "small");
}

/// Documents of four features, two with missing values, in queries of six.
datasets::dataset drawn(std::size_t documents, std::uint64_t seed) {
  random_engine engine(seed);
  std::string text;
  auto const number = [&](std::uint64_t missing) {
    std::uint64_t const x = uniform_below(engine, 20);
    return x < missing ? std::string("NULL") : fmt::format("{}", static_cast<double>(x) * .37);
  };
  for (std::size_t d = 0; d < documents; ++d) {
    std::uint64_t const a = uniform_below(engine, 12);
    text += fmt::format("{} qid:{} 1:{} 2:{} 5:{} 9:{}\n", (a + uniform_below(engine, 9)) / 7,
                        d / 6, a, number(3), number(0), number(6));
  }
  return parsed(text);
}

/// The rows of the regression and the labels, centred within the query: for every feature its
/// z-scores, then for features 2 and 9 whether the value is missing.
struct rows {
  std::vector<std::vector<double>> x;
  std::vector<double> y;
};

rows rows_of(datasets::dataset const& data) {
  constexpr std::uint32_t features[] = {1, 2, 5, 9};
  rows all;
  for (auto const& q : data.queries) {
    std::size_t const begin = all.x.size();
    auto const n = static_cast<double>(q.size());
    for (std::size_t d = q.begin; d < q.end; ++d) {
      std::vector<double> row(6);
      for (std::size_t k = 0; k < 4; ++k)
        for (auto const& v : data.document(d))
          if (v.feature == features[k]) row[k] = v.value;
      row[4] = std::isnan(row[1]) ? 1 : 0;
      row[5] = std::isnan(row[3]) ? 1 : 0;
      all.x.push_back(row);
      all.y.push_back(data.labels[d]);
    }
    double mean_label = 0;
    for (std::size_t i = begin; i < all.x.size(); ++i) mean_label += all.y[i] / n;
    for (std::size_t i = begin; i < all.x.size(); ++i) all.y[i] -= mean_label;
    for (std::size_t k = 0; k < 6; ++k) {
      double sum = 0, squares = 0, present = 0;
      for (std::size_t i = begin; i < all.x.size(); ++i)
        if (!std::isnan(all.x[i][k])) sum += all.x[i][k], present += 1;
      for (std::size_t i = begin; i < all.x.size(); ++i)
        if (!std::isnan(all.x[i][k])) squares += std::pow(all.x[i][k] - sum / present, 2);
      double const deviation = std::sqrt(squares / present);
      for (std::size_t i = begin; i < all.x.size(); ++i) {
        double& x = all.x[i][k];
        if (std::isnan(x))
          x = 0;
        else if (k >= 4)
          x -= sum / n;
        else
          x = deviation > 1e-12 ? (x - sum / present) / deviation : 0;
      }
    }
  }
  return all;
}

/// Ridge by Gauss elimination.
std::vector<double> ridge(rows const& of, std::vector<bool> const& used, double strength) {
  std::size_t const n = of.x.front().size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1));
  for (std::size_t i = 0; i < of.x.size(); ++i)
    for (std::size_t r = 0; r < n && used[i]; ++r) {
      for (std::size_t c = 0; c < n; ++c) a[r][c] += of.x[i][r] * of.x[i][c];
      a[r][n] += of.x[i][r] * of.y[i];
    }
  for (std::size_t r = 0; r < n; ++r) a[r][r] += strength;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t r = 0; r < n; ++r) {
      if (r == k) continue;
      double const factor = a[r][k] / a[k][k];
      for (std::size_t c = k; c <= n; ++c) a[r][c] -= factor * a[k][c];
    }
  std::vector<double> w;
  for (std::size_t r = 0; r < n; ++r) w.push_back(a[r][n] / a[r][r]);
  return w;
}

TEST(linear, two_documents_by_hand) {
  // z-scores -1 and 1, labels -1/2 and 1/2: the weight is 1 / (2 + strength).
  auto const data = parsed("0 qid:1 1:1 2:7\n1 qid:1 1:3 2:7\n");
  context const ctx;
  linear_weights const w = fit_linear(ctx, data, {2});
  ASSERT_EQ(w.features.size(), 2U);
  EXPECT_EQ(w.features[0].weight, 1LL << 30);
  EXPECT_EQ(w.features[1].weight, 0);  // a constant
  EXPECT_EQ(score(ctx, w, data), (std::vector{-.25, .25}));
  // A missing value: the three others have z-scores; half of that is learned from one document.
  auto const missing = parsed("2 qid:1 1:NULL\n0 qid:1 1:1\n");
  linear_weights const m = fit_linear(ctx, missing, {.5});
  EXPECT_TRUE(m.features[0].misses);
  EXPECT_EQ(value_of_weight(m.features[0].missing), 1);  // 1/2 and -1/2 with labels 1, -1
  EXPECT_EQ(m.features[0].weight, 0);
  EXPECT_EQ(score(ctx, m, missing), (std::vector{1., 0.}));
}

TEST(linear, weights_are_those_of_a_plain_solver) {
  auto const data = drawn(240, 3);
  auto const of = rows_of(data);
  for (double const strength : {.1, 10., 1000.}) {
    auto const expected = ridge(of, std::vector<bool>(data.size(), true), strength);
    linear_weights const w = fit_linear(context{}, data, {strength});
    ASSERT_EQ(w.features.size(), 4U);
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(value_of_weight(w.features[k].weight), expected[k], 1e-9);
    EXPECT_FALSE(w.features[0].misses);
    EXPECT_NEAR(value_of_weight(w.features[1].missing), expected[4], 1e-9);
    EXPECT_NEAR(value_of_weight(w.features[3].missing), expected[5], 1e-9);
  }
}

TEST(linear, documents_without_a_label_are_of_their_query) {
  auto data = drawn(240, 5);
  auto of = rows_of(data);  // among all documents of the query
  std::vector<bool> used(data.size());
  double sum = 0, count = 0;
  for (std::size_t d = 0; d < data.size(); ++d) {
    used[d] = d % 6 == 1 || d % 7 == 3;  // of most queries one
    if (used[d])
      sum += data.labels[d], count += 1;
    else
      data.labels[d] = datasets::unlabelled;
  }
  for (std::size_t d = 0; d < data.size(); ++d) of.y[d] = data.labels[d] - sum / count;
  linear_weights const w = fit_linear(context{}, data, {10});
  auto const expected = ridge(of, used, 10);
  ASSERT_EQ(w.features.size(), 4U);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(value_of_weight(w.features[k].weight), expected[k], 1e-9);
  EXPECT_NEAR(value_of_weight(w.features[1].missing), expected[4], 1e-9);
  EXPECT_NEAR(value_of_weight(w.features[3].missing), expected[5], 1e-9);
  EXPECT_GT(std::abs(expected[0]), .01);
  // Alone, these documents teach nothing: most are their query's only document.
  std::vector<std::size_t> known;
  for (std::size_t d = 0; d < data.size(); ++d)
    if (d % 6 == 1) known.push_back(d);
  for (auto const& one : fit_linear(context{}, datasets::subset(data, known), {10}).features)
    EXPECT_EQ(one.weight, 0);
}

TEST(linear, cross_fitting_chooses_what_leaves_least) {
  // Folds of one query each, so that the seed does not matter.
  auto const data = drawn(30, 5);
  auto const of = rows_of(data);
  double best = 0, least = INFINITY;
  for (double const strength : {3., 10., 30., 100., 300., 1000., 3000.}) {
    double left = 0;
    for (auto const& q : data.queries) {
      std::vector<bool> used(data.size(), true);
      for (std::size_t d = q.begin; d < q.end; ++d) used[d] = false;
      auto const w = ridge(of, used, strength);
      for (std::size_t d = q.begin; d < q.end; ++d) {
        double away = of.y[d];
        for (std::size_t k = 0; k < w.size(); ++k) away -= w[k] * of.x[d][k];
        left += away * away;
      }
    }
    if (left < least) {
      least = left;
      best = strength;
    }
  }
  linear_weights const w = fit_linear(context{}, data, {0});
  EXPECT_EQ(w.options.strength, best);
  auto const expected = ridge(of, std::vector<bool>(data.size(), true), best);
  EXPECT_NEAR(value_of_weight(w.features[0].weight), expected[0], 1e-9);
  // One query cannot be held out; two make a fold each.
  EXPECT_EQ(fit_linear(context{}, drawn(6, 5), {0}).options.strength, 10);
  EXPECT_NO_THROW(fit_linear(context{}, drawn(12, 5), {0}));
}

TEST(linear, any_number_of_threads_gives_the_same_bits) {
  auto const data = drawn(4000, 7);
  auto const test = drawn(900, 8);
  std::vector<std::string> seen;
  for (int const threads : {1, 2, 5}) {
    context ctx;
    ctx.threads = threads;
    linear_weights const w = fit_linear(ctx, data, {0});
    std::string text = fmt::format("{}", w.options.strength);
    for (feature_weight const& one : w.features)
      text += fmt::format(" {} {}", one.weight, one.missing);
    for (double const one : score(ctx, w, test))
      text += fmt::format(" {:x}", std::bit_cast<std::uint64_t>(one));
    seen.push_back(text);
  }
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[2], seen[0]);
}

TEST(linear, parts_add_up_to_scores) {
  context const ctx;
  linear_weights const w = fit_linear(ctx, drawn(240, 9), {10});
  auto const test = drawn(40, 10);
  auto const scores = score(ctx, w, test);
  auto const parts = linear_parts(ctx, w, test);
  ASSERT_EQ(parts.size(), 4 * test.size());
  bool any_missing = false;
  for (std::size_t d = 0; d < test.size(); ++d) {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      linear_part const& part = parts[4 * d + k];
      sum += part.part;
      any_missing = any_missing || part.missing;
      EXPECT_EQ(part.part, part.missing ? value_of_weight(w.features[k].missing)
                                        : part.z * value_of_weight(w.features[k].weight));
    }
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), std::bit_cast<std::uint64_t>(scores[d]));
  }
  EXPECT_TRUE(any_missing);
}

TEST(linear, what_is_missing_or_unlisted_is_as_the_options_say) {
  using enum datasets::missing_values;
  auto const listed = parsed("0 qid:1 1:0 2:1\n1 qid:1 1:3 2:1\n2 qid:1 1:7 2:2\n");
  auto const unlisted = parsed("0 qid:1 2:1\n1 qid:1 1:3 2:1\n2 qid:1 1:7 2:2\n");
  auto const null = parsed("0 qid:1 1:NULL 2:1\n1 qid:1 1:3 2:1\n2 qid:1 1:7 2:2\n");
  context const ctx;
  auto const scores = [&](datasets::dataset const& data, linear_options const& how) {
    return score(ctx, fit_linear(ctx, data, how), data);
  };
  linear_options how{10};
  auto const as_zero = scores(listed, how);
  EXPECT_EQ(scores(unlisted, how), as_zero);
  how.missing = zero;
  EXPECT_EQ(scores(null, how), as_zero);
  how.missing = item;
  EXPECT_NE(scores(null, how), as_zero);
  how.unlisted = datasets::unlisted_values::missing;
  EXPECT_EQ(scores(unlisted, how), scores(null, how));
  EXPECT_TRUE(fit_linear(ctx, unlisted, how).features[0].misses);
  how.missing = none;
  EXPECT_FALSE(fit_linear(ctx, unlisted, how).features[0].misses);
  EXPECT_EQ(scores(unlisted, how), scores(null, how));
}

TEST(linear, features_are_found_by_their_names) {
  context const ctx;
  auto const train = parsed("0 qid:1 a:1 b:5\n1 qid:1 a:3 b:4\n2 qid:1 a:4 b:4\n");
  auto const other = parsed("0 qid:1 a:1 aa:9 b:5\n1 qid:1 a:3 aa:8 b:4\n2 qid:1 a:4 aa:1 b:4\n");
  linear_weights const w = fit_linear(ctx, train, {1});
  EXPECT_EQ(score(ctx, w, other), score(ctx, w, train));
  EXPECT_THROW(score(ctx, w, parsed("0 qid:1 1:1 2:5\n")), error);
  EXPECT_THROW(score(ctx, w, parsed("0 qid:1 c:1 d:5\n")), error);
}

TEST(linear, one_label_has_no_weights) {
  context const ctx;
  linear_weights const w = fit_linear(ctx, parsed("1 qid:1 1:1\n1 qid:1 1:2\n0 qid:2 1:4\n"), {});
  EXPECT_EQ(w.features[0].weight, 0);
}

TEST(linear, stops_when_asked) {
  std::stop_source source;
  context ctx;
  ctx.stop = source.get_token();
  auto const data = drawn(60, 11);
  linear_weights const w = fit_linear(ctx, data, {});
  source.request_stop();
  EXPECT_THROW(fit_linear(ctx, data, {}), interrupted);
  EXPECT_THROW(score(ctx, w, data), interrupted);
}

TEST(linear, what_is_refused) {
  context const ctx;
  auto data = drawn(60, 13);
  for (linear_options const& wrong :
       {linear_options{-1}, {std::nan("")}, {1e10}, {1e-10}, {10, 1}, {10, 1001}})
    EXPECT_THROW(fit_linear(ctx, data, wrong), usage_error);
  EXPECT_THROW(fit_linear(ctx, parsed("1 qid:1\n0 qid:1\n"), {}), error);
  data.labels.assign(data.size(), datasets::unlabelled);
  EXPECT_THROW(fit_linear(ctx, data, {}), error);
}

TEST(linear, options_come_back) {
  for (double const strength : {0., 10., .5}) {
    linear_options options{strength, 7, datasets::missing_values::none,
                           datasets::unlisted_values::missing};
    linear_options const back = linear_options_from(to_json(options), "s");
    EXPECT_EQ(back.strength, strength);
    EXPECT_EQ(back.folds, 7U);
    EXPECT_EQ(back.missing, options.missing);
    EXPECT_EQ(back.unlisted, options.unlisted);
  }
  for (auto const& [key, value] : {std::pair{"strength", "0"},
                                   {"strength", "\"often\""},
                                   {"folds", "1"},
                                   {"missing_values", "\"gone\""},
                                   {"unlisted", "2"}}) {
    auto json = to_json(linear_options{});
    json[key] = nlohmann::ordered_json::parse(value);
    EXPECT_THROW(linear_options_from(json, "s"), error) << key;
  }
}

TEST(linear, pool_weights_by_hand) {
  // Differences to the query's mean are -1 and 1, in units of 1000; labels minus their mean -.5,
  // .5.
  auto const train = parsed("0 qid:1 1:0\n1 qid:1 1:2000\n0 qid:2 1:100000\n1 qid:2 1:102000\n");
  linear_options options{10};
  options.scale = linear_scale::pool;
  linear_weights const w = fit_linear(context{}, train, options);
  ASSERT_EQ(w.features.size(), 1U);
  EXPECT_EQ(w.features[0].mean, 51000);
  EXPECT_EQ(w.features[0].deviation, 1000);
  EXPECT_NEAR(value_of_weight(w.features[0].weight), 2. / (4 + 10), 1e-9);
  EXPECT_NEAR(raw_weight(w.features[0]), 2e-3 / 14, 1e-12);
  auto const scores =
      score(context{}, w, parsed("0 qid:1 1:51000\n0 qid:1 1:52000\n0 qid:2 1:1e300\n0 qid:3\n"));
  EXPECT_EQ(scores[0], 0);
  EXPECT_NEAR(scores[1], 1. / 7, 1e-9);
  EXPECT_NEAR(scores[2], 1e6 / 7, 1);      // at most a million deviations
  EXPECT_NEAR(scores[3], -51. / 7, 1e-8);  // not listed: 0
  EXPECT_EQ(linear_options_from(to_json(options), "s").scale, linear_scale::pool);
}

TEST(linear, pool_scores_of_missing_values_are_those_of_the_mean_and_a_weight) {
  for (auto const missing : {datasets::missing_values::item, datasets::missing_values::none,
                             datasets::missing_values::zero}) {
    linear_options options{3};
    options.scale = linear_scale::pool;
    options.missing = missing;
    auto const train = drawn(300, 4);
    linear_weights const w = fit_linear(context{}, train, options);
    double at_missing = 0;
    for (feature_weight const& one : w.features) {
      EXPECT_EQ(one.misses, missing == datasets::missing_values::item && one.feature % 7 == 2);
      at_missing += missing == datasets::missing_values::zero ? -raw_weight(one) * one.mean
                                                              : value_of_weight(one.missing);
    }
    auto const found = score(context{}, w, parsed("0 qid:1 1:NULL 2:NULL 5:NULL 9:NULL\n"));
    EXPECT_NEAR(found[0], at_missing, 1e-9);
    context threads;
    threads.threads = 3;
    EXPECT_EQ(score(threads, w, train), score(context{}, w, train));
  }
}

}  // namespace
}  // namespace rulerank::l2r::linear_test
