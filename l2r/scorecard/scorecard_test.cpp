#include "l2r/scorecard/scorecard.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/scorecard/points_objective.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r::scorecard_test {
namespace {

constexpr card_loss all_losses[] = {card_loss::pair, card_loss::list, card_loss::point};

datasets::dataset parsed(std::string const& text) {
  return datasets::parse_svmlight(context{}, text, "small");
}

/// Documents of three features, one with missing values, in queries of seven. Labels follow the
/// values, loosely.
datasets::dataset drawn(std::size_t documents, std::uint64_t seed, std::int32_t labels = 3) {
  random_engine engine(seed);
  std::string text;
  for (std::size_t d = 0; d < documents; ++d) {
    std::uint64_t const a = uniform_below(engine, 10), b = uniform_below(engine, 10);
    auto const label = static_cast<std::int32_t>(a + uniform_below(engine, 6)) * labels / 16;
    text += fmt::format("{} qid:{} 1:{} 2:{} 4:{}\n", label, d / 7, a,
                        b == 0 ? "NULL" : fmt::format("{}", b), uniform_below(engine, 10));
  }
  return parsed(text);
}

datasets::binned_dataset items_of(datasets::dataset const& data, int bins = 4,
                                  datasets::missing_values missing = {}) {
  context const ctx;
  datasets::discretizer_options how{datasets::binning::frequency, bins};
  how.missing = missing;
  return datasets::apply_discretizer(ctx, data, datasets::fit_discretizer(ctx, data, how));
}

/// A card's objective by the definition, pair by pair.
double value_by_definition(datasets::dataset const& data, datasets::binned_dataset const& items,
                           scorecard_options const& options, std::vector<double> const& p) {
  std::vector<double> s(data.size());
  for (std::size_t d = 0; d < data.size(); ++d)
    for (std::size_t f = 0; f < items.feature_count(); ++f)
      if (items.code(f, d) != datasets::no_item) s[d] += p[items.item_begin[f] + items.code(f, d)];
  auto const& y = data.labels;
  double loss = 0, counted = 0;
  for (auto const& q : data.queries) {
    double of_query = 0, weights = 0;
    for (std::size_t i = q.begin; i < q.end; ++i) {
      if (options.loss == card_loss::list) {
        double sum = 0;
        for (std::size_t j = q.begin; j < q.end; ++j) sum += std::exp(s[j] - s[i]);
        of_query += (std::exp2(y[i]) - 1) * std::log(sum);
        weights += std::exp2(y[i]) - 1;
      }
      for (std::size_t j = q.begin; j < q.end && options.loss == card_loss::pair; ++j) {
        if (y[i] <= y[j]) continue;
        double const w = std::exp2(y[i]) - std::exp2(y[j]);
        of_query += w * std::log(1 + std::exp(s[j] - s[i]));
        weights += w;
      }
    }
    if (options.loss == card_loss::pair || weights > 0) counted += 1;
    if (weights > 0) loss += of_query / weights;
  }
  loss /= std::max(counted, 1.0);
  if (options.loss == card_loss::point) {
    double mean = 0, variance = 0;
    auto const n = static_cast<double>(data.size());
    for (auto const label : y) mean += label / n;
    for (auto const label : y) variance += (label - mean) * (label - mean) / n;
    for (std::size_t d = 0; d < s.size(); ++d) {
      double const away = s[d] - (y[d] - mean);
      loss += away * away / variance / n;
    }
  }
  for (std::size_t f = 0; f < items.feature_count(); ++f) {
    std::uint32_t const begin = items.item_begin[f], end = items.item_begin[f + 1];
    for (std::uint32_t x = begin; x < end; ++x) loss += options.points_penalty * p[x] * p[x];
    for (std::uint32_t x = begin; x + 1 < end - (items.has_missing_item[f] ? 1 : 0); ++x)
      loss += options.smoothness * (p[x + 1] - p[x]) * (p[x + 1] - p[x]);
  }
  return loss;
}

std::vector<double> values_of(scorecard const& card) {
  std::vector<double> values;
  for (std::int64_t const p : card.points) values.push_back(value_of_points(p));
  return values;
}

TEST(scorecard, two_documents_by_hand) {
  // Two bins with the points -p and p. Least squares: 4 (p - 1/2)^2 + 2 lambda p^2 + 4 mu p^2.
  auto const data = parsed("0 qid:1 1:0\n1 qid:1 1:1\n");
  auto const items = items_of(data, 2, datasets::missing_values::none);
  ASSERT_EQ(items.items(), 2U);
  context const ctx;
  scorecard const squares = fit_scorecard(ctx, {data.queries, items}, {card_loss::point, 1, .5});
  EXPECT_EQ(squares.points, (std::vector<std::int64_t>{-(1LL << 30), 1LL << 30}));
  EXPECT_EQ(values_of(squares), (std::vector{-.25, .25}));
  // log(1 + exp(-2p)) + 2 lambda p^2 is smallest where 4 lambda p = 2 / (1 + exp(2p)).
  double const lambda = .25 / std::log(3);
  for (card_loss const loss : {card_loss::pair, card_loss::list}) {
    auto const p = values_of(fit_scorecard(ctx, {data.queries, items}, {loss, lambda, 0}));
    EXPECT_NEAR(p[0], -std::log(3) / 2, 1e-8) << name_of(loss);
    EXPECT_NEAR(p[1], std::log(3) / 2, 1e-8) << name_of(loss);
    // mu (p1 - p0)^2 = 4 mu p^2 equals the penalty with lambda = 2 mu.
    auto const q =
        values_of(fit_scorecard(ctx, {data.queries, items}, {loss, lambda / 2, lambda / 4}));
    EXPECT_NEAR(q[1], std::log(3) / 2, 1e-8) << name_of(loss);
  }
}

TEST(scorecard, the_objective_is_what_the_definition_says) {
  auto const data = drawn(130, 3);
  auto const items = items_of(data);
  context const ctx;
  random_engine engine(5);
  for (card_loss const loss : all_losses) {
    scorecard_options const options{loss, .01, .2};
    points_objective objective(data.queries, items, options);
    std::vector<double> p(items.items()), gradient(p.size()), other(p.size()), v(p.size());
    for (double& one : p) one = uniform_unit(engine) * 4 - 2;
    for (double& one : v) one = uniform_unit(engine) - .5;
    EXPECT_NEAR(objective.evaluate(ctx, p, gradient), value_by_definition(data, items, options, p),
                1e-12)
        << name_of(loss);
    for (std::size_t x = 0; x < p.size(); ++x) {
      auto up = p, down = p;
      up[x] += 1e-5;
      down[x] -= 1e-5;
      EXPECT_NEAR(gradient[x],
                  (value_by_definition(data, items, options, up) -
                   value_by_definition(data, items, options, down)) /
                      2e-5,
                  1e-8)
          << name_of(loss) << ", item " << x;
    }
    std::vector<double> product(p.size()), up = p, down = p, below(p.size());
    objective.multiply(ctx, v, product);
    for (std::size_t x = 0; x < p.size(); ++x) {
      up[x] += 1e-5 * v[x];
      down[x] -= 1e-5 * v[x];
    }
    objective.evaluate(ctx, up, other);
    objective.evaluate(ctx, down, below);
    for (std::size_t x = 0; x < p.size(); ++x)
      EXPECT_NEAR(product[x], (other[x] - below[x]) / 2e-5, 1e-7) << name_of(loss);
  }
}

TEST(scorecard, no_other_points_are_better) {
  auto const data = drawn(200, 7);
  auto const items = items_of(data, 6);
  context const ctx;
  random_engine engine(9);
  for (card_loss const loss : all_losses) {
    scorecard_options const options{loss, 1e-3, .05};
    auto const p = values_of(fit_scorecard(ctx, {data.queries, items}, options));
    std::vector<double> gradient(p.size());
    points_objective(data.queries, items, options).evaluate(ctx, p, gradient);
    double const least = value_by_definition(data, items, options, p);
    for (std::size_t x = 0; x < p.size(); ++x) {
      EXPECT_LT(std::abs(gradient[x]), 1e-8) << name_of(loss);  // rounded points
      for (double const by : {.01, -.01}) {
        auto moved = p;
        moved[x] += by;
        EXPECT_GT(value_by_definition(data, items, options, moved), least) << name_of(loss);
      }
    }
    for (int round = 0; round < 50; ++round) {
      auto moved = p;
      for (double& one : moved) one += .02 * (uniform_unit(engine) - .5);
      EXPECT_GT(value_by_definition(data, items, options, moved), least) << name_of(loss);
    }
  }
}

TEST(scorecard, least_squares_has_two_ways) {
  auto const data = drawn(300, 11);
  auto const items = items_of(data, 8);
  scorecard_options const options{card_loss::point, 1e-2, .1};
  context const ctx;
  points_objective objective(data.queries, items, options);
  auto const by_steps = smallest_points(ctx, objective);
  auto const at_once = least_squares_points(ctx, items, options);
  for (std::size_t x = 0; x < by_steps.size(); ++x) EXPECT_NEAR(by_steps[x], at_once[x], 1e-7);
}

TEST(scorecard, any_number_of_threads_gives_the_same_points) {
  auto const data = drawn(5000, 13);
  auto const items = items_of(data, 10);
  for (card_loss const loss : all_losses) {
    std::vector<scorecard> cards;
    std::vector<std::vector<double>> sums;
    for (int const threads : {1, 2, 5}) {
      context ctx;
      ctx.threads = threads;
      cards.push_back(fit_scorecard(ctx, {data.queries, items}, {loss, 1e-4, .1}));
      sums.push_back(score(ctx, cards.back(), items));
    }
    EXPECT_NE(cards[0].points, std::vector<std::int64_t>(items.items())) << name_of(loss);
    for (std::size_t i = 1; i < cards.size(); ++i) {
      EXPECT_EQ(cards[i].points, cards[0].points) << name_of(loss);
      EXPECT_EQ(sums[i], sums[0]) << name_of(loss);
    }
  }
}

TEST(scorecard, queries_that_teach_nothing) {
  std::string const text = "0 qid:1 1:0 2:5\n1 qid:1 1:1 2:3\n2 qid:1 1:2 2:4\n";
  std::string const more = "0 qid:2 1:2 2:5\n0 qid:2 1:0 2:3\n";
  auto const few = parsed(text), many = parsed(text + more);
  context const ctx;
  auto const cuts = datasets::fit_discretizer(ctx, few, {datasets::binning::width, 3});
  auto const fitted = [&](datasets::dataset const& data, scorecard_options const& options) {
    return values_of(
        fit_scorecard(ctx, {data.queries, datasets::apply_discretizer(ctx, data, cuts)}, options));
  };
  EXPECT_EQ(fitted(many, {card_loss::list, .1, .1}), fitted(few, {card_loss::list, .1, .1}));
  // The mean over pairs is over all queries: half the loss equals twice the penalties.
  auto const halved = fitted(many, {card_loss::pair, .1, .1});
  auto const whole = fitted(few, {card_loss::pair, .2, .2});
  for (std::size_t x = 0; x < whole.size(); ++x) EXPECT_NEAR(halved[x], whole[x], 1e-7);
  EXPECT_GT(std::abs(whole[0]), .01);
}

TEST(scorecard, one_label_makes_a_constant_card) {
  auto const data = parsed("0 qid:1 1:0\n0 qid:1 1:1\n0 qid:2 1:3\n");
  auto const items = items_of(data);
  for (card_loss const loss : all_losses) {
    scorecard const card = fit_scorecard(context{}, {data.queries, items}, {loss, .1, .1});
    EXPECT_EQ(card.points, std::vector<std::int64_t>(items.items())) << name_of(loss);
  }
}

TEST(scorecard, missing_values_have_points_but_no_neighbour) {
  auto const data = drawn(140, 17);
  auto const items = items_of(data);
  auto const next = neighbours_of(items);
  ASSERT_EQ(next.size(), items.items());
  for (std::size_t f = 0; f < items.feature_count(); ++f) {
    ASSERT_TRUE(items.has_missing_item[f]);
    EXPECT_FALSE(next[items.item_begin[f + 1] - 1]);  // missing
    EXPECT_FALSE(next[items.item_begin[f + 1] - 2]);  // the last bin
    EXPECT_TRUE(next[items.item_begin[f]]);
  }
  // An extreme smoothness makes bins equal and does not affect the missing values' points.
  auto const p =
      values_of(fit_scorecard(context{}, {data.queries, items}, {card_loss::pair, 1e-3, 1e4}));
  std::uint32_t const begin = items.item_begin[1], end = items.item_begin[2];
  for (std::uint32_t x = begin + 1; x + 1 < end; ++x) EXPECT_NEAR(p[x], p[begin], 1e-3);
  EXPECT_GT(std::abs(p[end - 1] - p[begin]), 1e-2);
}

TEST(scorecard, large_labels_and_no_items_are_taken) {
  auto const data = parsed("2147483647 qid:1 1:0\n5 qid:1 1:1\n3 qid:1 1:NULL\n0 qid:1 1:3\n");
  auto const items = items_of(data, 3, datasets::missing_values::none);
  ASSERT_EQ(items.code(0, 2), datasets::no_item);
  for (card_loss const loss : all_losses) {
    context const ctx;
    scorecard const card = fit_scorecard(ctx, {data.queries, items}, {loss, 1, .1});
    auto const points = score(ctx, card, items);
    EXPECT_EQ(points[2], 0) << name_of(loss);
    EXPECT_GT(points[0], points[3]) << name_of(loss);
  }
}

TEST(scorecard, features_are_matched_by_number) {
  auto const data = drawn(70, 19);
  auto const items = items_of(data);
  context const ctx;
  scorecard const card = fit_scorecard(ctx, {data.queries, items}, {});
  scorecard fewer;  // without the second feature
  fewer.features = {card.features[0], card.features[2]};
  fewer.item_begin = {0, items.bins(0), items.bins(0) + items.bins(2)};
  for (std::size_t x = 0; x < card.points.size(); ++x)
    if (x < card.item_begin[1] || x >= card.item_begin[2]) fewer.points.push_back(card.points[x]);
  auto const all = score(ctx, card, items), some = score(ctx, fewer, items);
  for (std::size_t d = 0; d < data.size(); ++d)
    EXPECT_EQ(all[d] - some[d],
              value_of_points(card.points[items.item_begin[1] + items.code(1, d)]));
  fewer.item_begin[1] -= 1;
  EXPECT_THROW(score(ctx, fewer, items), usage_error);
}

/// The loss without penalties for the documents of the chosen queries.
double loss_by_definition(datasets::dataset const& data, datasets::binned_dataset const& items,
                          card_loss loss, std::vector<double> const& p) {
  scorecard_options const without{loss, 0, 0};
  return value_by_definition(data, items, without, p);
}

/// Sparsely sampled documents: queries of one, two or three.
datasets::dataset sparse(std::size_t queries, std::uint64_t seed) {
  random_engine engine(seed);
  std::string text;
  for (std::size_t q = 0; q < queries; ++q)
    for (std::uint64_t d = 0; d < 1 + uniform_below(engine, 3); ++d) {
      std::uint64_t const a = uniform_below(engine, 10);
      text += fmt::format("{} qid:{} 1:{} 2:{}\n", (a + uniform_below(engine, 8)) / 7, q, a,
                          uniform_below(engine, 10));
    }
  return parsed(text);
}

/// The expected result of choose_penalties, by separate converged fits: folds of one query each.
std::pair<double, double> best_penalties(datasets::dataset const& data,
                                         datasets::binned_dataset const& items, card_loss loss) {
  context const ctx;
  std::pair<double, double> best;
  double least = INFINITY;
  for (double const lambda : {1e-4, 1e-3, 1e-2, 1e-1})
    for (double const mu : {.01, .1, 1., 10.}) {
      double lost = 0;
      for (auto const& q : data.queries) {
        std::vector<std::size_t> others, left;
        for (std::size_t d = 0; d < data.size(); ++d)
          (d >= q.begin && d < q.end ? left : others).push_back(d);
        auto const to_fit = datasets::subset(data, others), to_judge = datasets::subset(data, left);
        auto const p = values_of(fit_scorecard(
            ctx, {to_fit.queries, datasets::subset(items, others)}, {loss, lambda, mu}));
        auto const judged = datasets::subset(items, left);
        if (loss != card_loss::point) {
          lost += loss_by_definition(to_judge, judged, loss, p);
          continue;
        }
        double mean = 0;
        for (auto const y : to_fit.labels) mean += y / static_cast<double>(others.size());
        for (std::size_t d = 0; d < left.size(); ++d) {
          double away = to_judge.labels[d] - mean;
          for (std::size_t f = 0; f < judged.feature_count(); ++f)
            away -= p[judged.item_begin[f] + judged.code(f, d)];
          lost += away * away;
        }
      }
      if (lost < least) {
        least = lost;
        best = {lambda, mu};
      }
    }
  return best;
}

TEST(scorecard, cross_fitting_chooses_what_loses_least) {
  // The last has more items than documents.
  for (auto const& [data, bins] :
       {std::pair{drawn(70, 31), 6}, {sparse(24, 37), 6}, {drawn(21, 37), 10}}) {
    auto const items = items_of(data, bins);
    for (card_loss const loss : all_losses) {
      scorecard_options asked{loss};
      asked.cross_fit = true;
      asked.folds = 1000;  // a query each, so that the seed does not matter
      scorecard_options const chosen = choose_penalties(context{}, {data.queries, items}, asked);
      EXPECT_FALSE(chosen.cross_fit);
      EXPECT_EQ(std::pair(chosen.points_penalty, chosen.smoothness),
                best_penalties(data, items, loss))
          << name_of(loss) << ", " << data.size();
      EXPECT_EQ(fit_scorecard(context{}, {data.queries, items}, asked).points,
                fit_scorecard(context{}, {data.queries, items}, chosen).points);
    }
  }
}

TEST(scorecard, noise_makes_penalties_large_and_signal_small) {
  random_engine engine(41);
  std::string noise, signal;
  for (int d = 0; d < 400; ++d) {
    std::uint64_t const a = uniform_below(engine, 20);
    noise += fmt::format("{} qid:{} 1:{}\n", uniform_below(engine, 2), d / 5, a);
    signal += fmt::format("{} qid:{} 1:{}\n", a % 2, d / 5, a);  // neighbours differ
  }
  for (card_loss const loss : all_losses) {
    scorecard_options asked{loss};
    asked.cross_fit = true;
    auto const chosen = [&](std::string const& text) {
      auto const data = parsed(text);
      return choose_penalties(context{}, {data.queries, items_of(data, 20)}, asked);
    };
    EXPECT_EQ(chosen(noise).points_penalty, .1) << name_of(loss);
    EXPECT_EQ(chosen(signal).smoothness, .01) << name_of(loss);
    EXPECT_LT(chosen(signal).points_penalty, .1) << name_of(loss);
  }
}

TEST(scorecard, cross_fitting_does_not_depend_on_threads) {
  auto const data = drawn(1400, 43);
  auto const items = items_of(data, 10);
  for (card_loss const loss : all_losses) {
    scorecard_options asked{loss};
    asked.cross_fit = true;
    std::vector<scorecard> cards;
    for (int const threads : {1, 2, 5}) {
      context ctx;
      ctx.threads = threads;
      cards.push_back(fit_scorecard(ctx, {data.queries, items}, asked));
    }
    EXPECT_EQ(cards[1].points, cards[0].points) << name_of(loss);
    EXPECT_EQ(cards[2].points, cards[0].points) << name_of(loss);
  }
}

TEST(scorecard, cross_fitting_of_little) {
  context const ctx;
  for (card_loss const loss : all_losses) {
    scorecard_options asked{loss, .5, 7};
    asked.cross_fit = true;
    auto const one = drawn(6, 47);  // cannot be held out: the defaults
    scorecard_options chosen = choose_penalties(ctx, {one.queries, items_of(one)}, asked);
    EXPECT_EQ(chosen.points_penalty, 1e-4);
    EXPECT_EQ(chosen.smoothness, .1);
    // Nothing to learn: all trials are equal, and the first wins.
    auto const alike = parsed("1 qid:1 1:0\n1 qid:1 1:1\n1 qid:2 1:3\n1 qid:3 1:3\n");
    chosen = choose_penalties(ctx, {alike.queries, items_of(alike)}, asked);
    EXPECT_EQ(chosen.points_penalty, 1e-4) << name_of(loss);
    EXPECT_EQ(chosen.smoothness, .01) << name_of(loss);
    // Without cross_fit nothing changes.
    asked.cross_fit = false;
    EXPECT_EQ(choose_penalties(ctx, {one.queries, items_of(one)}, asked).smoothness, 7);
  }
}

TEST(scorecard, cross_fitting_stops_when_asked) {
  auto const data = drawn(70, 53);
  auto const items = items_of(data);
  for (card_loss const loss : all_losses) {
    scorecard_options asked{loss};
    asked.cross_fit = true;
    context ctx;
    std::uint64_t last = 0;
    ctx.progress = [&](std::string_view stage, std::uint64_t done, std::uint64_t total) {
      if (stage == "penalties") {
        EXPECT_EQ(total, 80U);
      }
      last = std::max(last, done);
      return done < 20;
    };
    EXPECT_THROW(fit_scorecard(ctx, {data.queries, items}, asked), interrupted);
    EXPECT_EQ(last, 20U);
    std::stop_source source;
    ctx = {};
    ctx.stop = source.get_token();
    source.request_stop();
    EXPECT_THROW(choose_penalties(ctx, {data.queries, items}, asked), interrupted);
  }
}

TEST(scorecard, stops_when_asked) {
  auto const data = drawn(700, 23);
  auto const items = items_of(data);
  for (card_loss const loss : all_losses) {
    std::stop_source source;
    context ctx;
    ctx.stop = source.get_token();
    source.request_stop();
    EXPECT_THROW(fit_scorecard(ctx, {data.queries, items}, {loss, .1, .1}), interrupted);
  }
  context ctx;
  int calls = 0;
  ctx.progress = [&](std::string_view, std::uint64_t, std::uint64_t) { return ++calls < 2; };
  EXPECT_THROW(fit_scorecard(ctx, {data.queries, items}, {}), interrupted);
}

TEST(scorecard, what_is_refused) {
  auto data = drawn(70, 29);
  auto items = items_of(data);
  context const ctx;
  for (scorecard_options const& wrong : {scorecard_options{card_loss::pair, 0, .1},
                                         {card_loss::pair, -1, .1},
                                         {card_loss::pair, std::nan(""), .1},
                                         {card_loss::pair, 1e5, .1},
                                         {card_loss::pair, .1, -.1},
                                         {card_loss::pair, .1, std::nan("")},
                                         {card_loss::pair, .1, 1e5},
                                         {card_loss::pair, .1, .1, true, 1},
                                         {card_loss::pair, .1, .1, true, 1001}}) {
    EXPECT_THROW(check(wrong), usage_error);
    EXPECT_THROW(fit_scorecard(ctx, {data.queries, items}, wrong), usage_error);
  }
  EXPECT_THROW(card_loss_from("pairs"), usage_error);
  auto unlabelled = items;
  unlabelled.labels[4] = datasets::unlabelled;
  EXPECT_THROW(fit_scorecard(ctx, {data.queries, unlabelled}, {}), usage_error);
  EXPECT_THROW(fit_scorecard(ctx, {std::span(data.queries).first(2), items}, {}), usage_error);
}

TEST(scorecard, options_come_back) {
  for (card_loss const loss : all_losses) {
    auto const json = to_json(scorecard_options{loss, .25, 3});
    scorecard_options const back = scorecard_options_from(json, "s");
    EXPECT_EQ(back.loss, loss);
    EXPECT_EQ(back.points_penalty, .25);
    EXPECT_EQ(back.smoothness, 3);
  }
  scorecard_options crossed{card_loss::list};
  crossed.cross_fit = true;
  crossed.folds = 7;
  EXPECT_EQ(to_json(crossed).dump(), R"({"loss":"list","points_penalty":"cross-fit","folds":7})");
  scorecard_options const back = scorecard_options_from(to_json(crossed), "s");
  EXPECT_TRUE(back.cross_fit);
  EXPECT_EQ(back.folds, 7U);
  EXPECT_EQ(back.loss, card_loss::list);
  for (auto const& [key, value] : {std::pair{"points_penalty", "\"often\""},
                                   {"folds", "1"},
                                   {"folds", "1001"},
                                   {"folds", "null"},
                                   {"smoothness", "0.1"}}) {
    auto json = to_json(crossed);
    json[key] = nlohmann::ordered_json::parse(value);
    EXPECT_THROW(scorecard_options_from(json, "s"), error) << key;
  }
  for (auto const& [key, value] : {std::pair{"loss", "1"},
                                   {"loss", "\"pairs\""},
                                   {"points_penalty", "0"},
                                   {"smoothness", "[]"}}) {
    auto json = to_json(scorecard_options{});
    json[key] = nlohmann::ordered_json::parse(value);
    EXPECT_THROW(scorecard_options_from(json, "s"), error) << key;
    json.erase(key);
    EXPECT_THROW(scorecard_options_from(json, "s"), error) << key;
  }
}

}  // namespace
}  // namespace rulerank::l2r::scorecard_test
