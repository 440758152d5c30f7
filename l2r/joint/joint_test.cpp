#include "l2r/joint/joint.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "core/sha256.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/explain/inspection.hpp"
#include "l2r/joint/pair_quadratic.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/scorer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::joint_test {
namespace {

using rulerank::testing_tools::message_of;

datasets::dataset parsed(std::string const& text) {
  return datasets::parse_svmlight(context{}, text, "small");
}

context on_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

/// Documents of three features, in queries of ten; values are missing.
datasets::dataset random_documents(std::size_t documents, std::uint64_t seed) {
  random_engine engine(seed);
  std::string text;
  for (std::size_t d = 0; d < documents; ++d) {
    std::uint64_t const a = uniform_below(engine, 12), b = uniform_below(engine, 9);
    text +=
        fmt::format("{} qid:{} 1:{} 2:{} 5:{}\n", (a + b + uniform_below(engine, 6)) / 9, d / 10, a,
                    b == 0 ? "NULL" : fmt::format("{}", b), uniform_below(engine, 30));
  }
  return parsed(text);
}

/// The label is 1 where exactly one of features 1 and 2 is large; feature 3 says nothing.
datasets::dataset exclusive_or(std::size_t documents, std::uint64_t seed) {
  random_engine engine(seed);
  std::string text;
  for (std::size_t d = 0; d < documents; ++d) {
    std::uint64_t const a = uniform_below(engine, 100), b = uniform_below(engine, 100);
    text += fmt::format("{} qid:{} 1:{} 2:{} 3:{}\n", (a < 40) != (b < 40) ? 1 : 0, d / 10, a, b,
                        uniform_below(engine, 100));
  }
  return parsed(text);
}

joint_member fitted(datasets::dataset const& train, joint_options const& options = {},
                    context const& ctx = {}) {
  joint_recipe how;
  how.options = options;
  recipe const one = how;
  model const made = fit(ctx, train, {&one, 1});
  return std::get<joint_member>(made.members.front());
}

model model_of(joint_member const& member) {
  return {{member}, 0};
}

TEST(joint, two_documents_by_hand) {
  // z-scores -1 and 1, a bin each. By symmetry the points are -p and p, and the scores differ by
  // m = 2 w + 2 p. The penalties of one query are 0.1 w^2 + 0.1 (2 p^2) + (2 p)^2.
  joint_member const made = fitted(parsed("0 qid:1 1:1\n1 qid:1 1:3\n"));
  double const start = 40 + 2 / 2.1;
  double m = start / (1 + start);
  double u = 0;
  for (int round = 0; round < 3; ++round) {
    double const wrong = 1 / (1 + std::exp(m));
    double const curve = wrong * (1 - wrong);
    double const by = 160 + 4 / 1.05;
    u = (wrong + curve * m) / (1 + curve * by);
    m = by * u;
  }
  ASSERT_EQ(made.features, (std::vector<std::uint32_t>{1}));
  EXPECT_NEAR(value_of_weight(made.weights[0]), 80 * u, 1e-8);
  ASSERT_EQ(made.points.size(), 3U);
  EXPECT_NEAR(value_of_points(made.points[0]), -2 / 1.05 * u, 1e-8);
  EXPECT_NEAR(value_of_points(made.points[1]), 2 / 1.05 * u, 1e-8);
  EXPECT_EQ(made.points[2], 0);  // no value is missing
  EXPECT_NEAR(value_of_weight(made.moved[0]), m / 2, 1e-8);
}

/// A design with a table, and its inputs.
struct problem {
  datasets::dataset train;
  joint_documents documents;
  joint_design design;
  joint_queries queries;

  explicit problem(std::size_t size)
      : train(random_documents(size, 3)),
        documents(joint_documents_of(
            {}, datasets::fit_discretizer({}, train, {datasets::binning::frequency, 5}), train)),
        design(documents) {
    design.add_table(0, 2);
    design.add_table(0, 1);
    std::vector<std::size_t> all(train.queries.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    queries = {train.queries, train.labels, std::move(all)};
  }
};

/// The gradient A x - b at x.
std::vector<double> gradient(quadratic const& of, std::vector<double> const& x) {
  std::vector<double> found(x.size());
  for (std::size_t r = 0; r < x.size(); ++r) {
    found[r] -= of.b[r];
    for (std::size_t c = 0; c < x.size(); ++c)
      found[r] += of.a.row(std::max(r, c))[std::min(r, c)] * x[c];
  }
  return found;
}

std::vector<double> some_values(std::size_t size) {
  random_engine engine(9);
  std::vector<double> x(size);
  for (double& one : x) one = static_cast<double>(uniform_below(engine, 1000)) / 1000 - 0.5;
  return x;
}

/// Compares a quadratic's gradient with differences of `loss` of scores.
template <class Loss>
void expect_gradient(problem const& of, quadratic const& found, std::vector<double> const& x,
                     double scale, Loss const& loss) {
  std::vector<double> const by = gradient(found, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<double> up = x, down = x;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    double const difference =
        (loss(of.design.scores({}, up)) - loss(of.design.scores({}, down))) / 2e-5;
    ASSERT_NEAR(scale * by[i], difference, 1e-7) << "unknown " << i;
  }
}

TEST(joint, quadratics_have_the_gradients_of_their_losses) {
  problem const of(60);
  std::vector<double> const x = some_values(of.design.unknowns());
  auto const sum_over_pairs = [&](std::vector<double> const& s, auto const& weights_of,
                                  auto const& loss) {
    double sum = 0;
    for (auto const& q : of.train.queries) {
      pair_weights const weights = weights_of(q);
      for (std::size_t i = 0; i < q.size(); ++i)
        for (std::size_t j = 0; j < q.size(); ++j)
          sum += weights(i, j) * loss(s[q.begin + i] - s[q.begin + j]);
    }
    return sum;
  };
  auto const labels_of = [&](datasets::query_group const& q) {
    return std::span(of.train.labels).subspan(q.begin, q.size());
  };
  expect_gradient(of, squared_pairs({}, of.design, of.queries, 1), x, 2,
                  [&](std::vector<double> const& s) {
                    return sum_over_pairs(
                        s, [&](auto const& q) { return gain_weights(labels_of(q)); },
                        [](double m) { return (1 - m) * (1 - m); });
                  });
  std::vector<double> const at = of.design.scores({}, x);
  auto const lambdas = [&](datasets::query_group const& q) {
    return lambda_weights(labels_of(q), std::span(at).subspan(q.begin, q.size()));
  };
  double all = 0;
  for (auto const& q : of.train.queries) all += lambdas(q).sum();
  expect_gradient(
      of, logistic_pairs({}, of.design, of.queries, at), x, 1, [&](std::vector<double> const& s) {
        return sum_over_pairs(s, lambdas, [](double m) { return std::log1p(std::exp(-m)); }) / all;
      });
  expect_gradient(of, squares({}, of.design, of.queries, .7, 3), x, 2,
                  [&](std::vector<double> const& s) {
                    double sum = 0;
                    for (std::size_t d = 0; d < s.size(); ++d)
                      sum += std::pow(s[d] - (of.train.labels[d] - .7), 2) / 3;
                    return sum;
                  });
}

TEST(joint, lambda_weights_by_hand) {
  // Ranks 2 and 1: rho = |1 / log2 3 - 1|, delta of ranks one apart the same; ideal DCG 1.
  std::int32_t const labels[] = {1, 0};
  double const scores[] = {0, 1};
  double const once = 1 - 1 / std::log2(3);
  EXPECT_NEAR(lambda_weights(labels, scores)(0, 1), once + 5 * once, 1e-12);
  EXPECT_EQ(lambda_weights(labels, scores)(1, 0), 0);
  // Labels 2, 1, 0: gains 3, 1, 0 of the pairs 2, 3, 1.
  std::int32_t const three[] = {2, 1, 0};
  EXPECT_NEAR(gain_weights(three)(0, 2), 3.0 / 6, 1e-12);
  EXPECT_NEAR(gain_weights(three)(1, 2), 1.0 / 6, 1e-12);
}

TEST(joint, tables_of_items_without_missing_ones) {
  datasets::dataset const train = exclusive_or(600, 5);
  joint_recipe how;
  how.discretizer.missing = datasets::missing_values::none;
  recipe const one = how;
  model const made = fit(context{}, train, {&one, 1});
  joint_member const& member = std::get<joint_member>(made.members.front());
  ASSERT_FALSE(member.pairs.empty());
  // `moved` is the mean size of the parts of the training documents.
  joint_documents const documents = joint_documents_of({}, *member.cuts, train);
  std::vector<double> mean(member.moved.size());
  for (std::size_t d = 0; d < train.size(); ++d) {
    std::vector<double> const parts = joint_parts(member, documents, d);
    for (std::size_t k = 0; k < parts.size(); ++k) mean[k] += std::abs(parts[k]) / 600;
  }
  for (std::size_t k = 0; k < mean.size(); ++k)
    EXPECT_NEAR(std::ldexp(static_cast<double>(member.moved[k]), -joint_bits), mean[k], 1e-9) << k;
}

TEST(joint, same_bits_on_any_threads) {
  datasets::dataset const train = random_documents(200, 5);
  std::string const one = to_bytes(model_of(fitted(train, {}, on_threads(1))));
  EXPECT_EQ(to_bytes(model_of(fitted(train, {}, on_threads(3)))), one);
  model const made = model_from_bytes(one, "m");
  EXPECT_EQ(score(on_threads(1), made, train).scores, score(on_threads(4), made, train).scores);
}

TEST(joint, finds_the_pair_of_features_that_decides) {
  joint_member const made = fitted(exclusive_or(600, 1));
  ASSERT_FALSE(made.pairs.empty());
  EXPECT_EQ(made.pairs[0].first, 0U);
  EXPECT_EQ(made.pairs[0].second, 1U);
  datasets::dataset const test = exclusive_or(200, 2);
  std::vector<double> const scores = score({}, model_of(made), test).scores;
  std::size_t right = 0, all = 0;
  for (auto const& q : test.queries)
    for (std::size_t i = q.begin; i < q.end; ++i)
      for (std::size_t j = q.begin; j < q.end; ++j)
        if (test.labels[i] > test.labels[j]) {
          ++all;
          right += scores[i] > scores[j] ? 1 : 0;
        }
  EXPECT_GT(right, all * 9 / 10);
  EXPECT_TRUE(fitted(exclusive_or(600, 1), {.max_pairs = 0}).pairs.empty());
  EXPECT_TRUE(fitted(random_documents(400, 2)).pairs.empty());  // labels of a sum of features
}

TEST(joint, few_documents_with_others_of_their_query_count_one_by_one) {
  // Most queries have one labelled document.
  datasets::dataset alone = random_documents(200, 8);
  for (std::size_t d = 0; d < alone.size(); ++d)
    if (d % 10 != 0) alone.labels[d] = datasets::unlabelled;
  joint_member const made = fitted(alone);
  EXPECT_EQ(made.loss, card_loss::point);
  EXPECT_EQ(made.training_documents, 20U);
  EXPECT_NE(made.weights[0], 0);
  EXPECT_EQ(fitted(random_documents(200, 8)).loss, card_loss::pair);
  // Equal labels teach nothing.
  joint_member const none = fitted(parsed("1 qid:1 1:1\n1 qid:1 1:3\n"));
  EXPECT_TRUE(std::ranges::all_of(none.points, [](auto p) { return p == 0; }));
  EXPECT_EQ(none.weights[0], 0);
}

TEST(joint, documents_without_a_label_count_for_z_scores) {
  auto const made = fitted(parsed("0 qid:1 1:1\n1 qid:1 1:3\n0 qid:2 1:2\n1 qid:2 1:5\n"));
  datasets::dataset pool =
      parsed("0 qid:1 1:1\n1 qid:1 1:3\n0 qid:2 1:2\n1 qid:2 1:5\n0 qid:2 1:40\n");
  pool.labels.back() = datasets::unlabelled;
  EXPECT_NE(fitted(pool).weights, made.weights);
  EXPECT_EQ(fitted(pool).training_documents, 4U);
}

TEST(joint, model_comes_back_and_explains_itself) {
  for (datasets::dataset const& train : {random_documents(120, 4), exclusive_or(600, 3)}) {
    model const made = model_of(fitted(train));
    std::string const bytes = to_bytes(made);
    model const back = model_from_bytes(bytes, "m");
    EXPECT_EQ(to_bytes(back), bytes);
    scorer const by({}, back);
    EXPECT_EQ(by.score({}, train).scores, score({}, made, train).scores);
    std::vector<std::size_t> const first{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    explainer const why({}, by, datasets::subset(train, first));
    auto const& member = std::get<joint_member>(back.members.front());
    for (std::size_t d = 0; d < first.size(); ++d) {
      auto const sum = std::get<sum_explanation>(why.explain({}, d).members.front().why);
      ASSERT_EQ(sum.terms.size(), member.features.size() + member.pairs.size());
      double added = 0;
      for (score_term const& term : sum.terms) {
        added += term.adds;
        EXPECT_NEAR(term.adds, term.weight * term.z + term.points, 1e-12);
      }
      EXPECT_EQ(added, sum.score);
    }
    std::vector<feature_part> const parts = inspect(member);
    EXPECT_EQ(parts.size(), member.features.size());
    combined_inspection const all = inspect({}, by, train);
    EXPECT_EQ(all.features.size(), member.features.size());
  }
}

TEST(joint, refuses_what_makes_no_sense) {
  datasets::dataset const train = random_documents(40, 4);
  EXPECT_THROW(fitted(train, {.max_pairs = 1001}), usage_error);
  EXPECT_THROW(fitted(train, {.folds = 1}), usage_error);
  std::string wide;
  for (int d = 0; d < 30; ++d) {
    wide += fmt::format("{} qid:1", d % 2);
    for (int f = 1; f <= 400; ++f) wide += fmt::format(" {}:{}", f, (d * f) % 29);
    wide += '\n';
  }
  EXPECT_THROW(fitted(parsed(wide)), usage_error);
  joint_member const made = fitted(train);
  joint_documents const others = joint_documents_of(
      {}, datasets::fit_discretizer({}, train, {datasets::binning::frequency, 3}), train);
  EXPECT_THROW(joint_parts(made, others, 0), usage_error);
  EXPECT_THROW(score({}, model_of(made), binned_lists{train.queries, {&others.items}}),
               usage_error);
}

TEST(joint, refuses_damaged_model_files) {
  std::string const whole = to_bytes(model_of(fitted(exclusive_or(600, 3))));
  std::string const body = whole.substr(whole.find('\n') + 1);
  auto const with = [&](std::string const& from, std::string const& to) {
    std::string changed = body;
    std::size_t const at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return message_of([&] {
      model_from_bytes(
          fmt::format("rulerank-model {} {}\n", model_version, sha256_hex(changed)) + changed,
          "m.model");
    });
  };
  for (auto const& [from, to, expected] : std::vector<std::array<std::string, 3>>{
           {R"("unit_bits":32)", R"("unit_bits":31)", "unit_bits"},
           {R"("first":0)", R"("first":7)", "pairs[0].first"},
           {R"("first":0)", R"("first":1)", "ascending positions"},
           {R"("weights":[)", R"("weights":[1,)", "list of 3 integers"},
           {R"("weights":[)", R"("weights":[1.5,)", "list of 3 integers"},
           {R"("points":[[)", R"("points":[[0,)", "points[0]"},
           {R"("max_pairs":24)", R"("max_pairs":0)", "expected at most 0"},
           {R"("loss":"pair")", R"("loss":"list")", "expected pair or point"},
           {R"("moved":[)", R"("moved":[-1,)", "moved"}})
    EXPECT_NE(with(from, to).find(expected), std::string::npos) << with(from, to);
}

}  // namespace
}  // namespace rulerank::l2r::joint_test
