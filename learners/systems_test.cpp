#include "learners/systems.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "core/sha256.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/model/scorer.hpp"
#include "learners/lightgbm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

namespace rulerank::inline v0::learners::systems_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

context with_threads(int n) {
  context ctx;
  ctx.threads = n;
  return ctx;
}

struct drawn_set {
  datasets::dataset data;
  datasets::binned_dataset items;
  std::shared_ptr<datasets::discretizer const> cuts;
  documents view() const { return {data, items, cuts}; }
};

/// Twenty documents per query. The label depends on features 1 and 2; feature 3 is noise; a share
/// `gaps` of the values is missing.
std::string drawn_text(std::uint64_t seed, std::size_t queries, double gaps) {
  random_engine engine(seed);
  std::string text;
  for (std::size_t q = 0; q < queries; ++q)
    for (std::size_t d = 0; d < 20; ++d) {
      double const x = uniform_unit(engine), y = uniform_unit(engine);
      text += fmt::format("{} qid:{}", x + y > 1.2 ? 2 : x + y > 0.8 ? 1 : 0, q);
      for (auto const& [f, value] : {std::pair{1, x}, {2, y}, {3, uniform_unit(engine)}})
        text += uniform_unit(engine) < gaps ? fmt::format(" {}:nan", f)
                                            : fmt::format(" {}:{}", f, value);
      text += '\n';
    }
  return text;
}

/// A training and a test set, both binned by the training set's cuts.
struct drawn_sets {
  explicit drawn_sets(double gaps = 0,
                      datasets::normalization norm = datasets::normalization::none) {
    context const ctx = with_threads(1);
    train.data = datasets::parse_svmlight(ctx, drawn_text(1, 40, gaps), "train");
    test.data = datasets::parse_svmlight(ctx, drawn_text(2, 30, gaps), "test");
    datasets::discretizer_options how{.method = datasets::binning::width, .bins = 6};
    how.norm = norm;
    auto const cuts = std::make_shared<datasets::discretizer const>(
        datasets::fit_discretizer(ctx, train.data, how));
    for (drawn_set* const one : {&train, &test}) {
      one->items = datasets::apply_discretizer(ctx, one->data, *cuts);
      one->cuts = cuts;
    }
    for (std::size_t d = 0; d < train.data.size(); d += 2) known.push_back(d);
  }

  learners::labelled labelled() const { return {known, train.data.labels}; }
  /// The training documents, with only the known labels.
  datasets::dataset pool() const {
    datasets::dataset all = train.data;
    for (std::size_t d = 0; d < all.size(); ++d)
      if (!std::ranges::binary_search(known, d)) all.labels[d] = datasets::unlabelled;
    return all;
  }

  drawn_set train, test;
  std::vector<std::size_t> known;
};

/// The share of pairs with different labels that are ordered correctly.
double right(datasets::dataset const& data, std::vector<double> const& scores) {
  double good = 0, all = 0;
  for (auto const& q : data.queries)
    for (std::size_t a = q.begin; a < q.end; ++a)
      for (std::size_t b = q.begin; b < q.end; ++b)
        if (data.labels[a] > data.labels[b]) {
          ++all;
          good += scores[a] > scores[b] ? 1 : scores[a] == scores[b] ? 0.5 : 0;
        }
  return good / all;
}

/// LightGBM's path: $RULERANK_LIGHTGBM, an installed package, or that of python3; else empty.
std::string lightgbm_here() {
  if (char const* const path = std::getenv("RULERANK_LIGHTGBM")) return path;
  if (std::string path = find_lightgbm(); !path.empty()) return path;
  FILE* const asked = popen(
      "python3 -c 'import lightgbm, pathlib; "
      "print(pathlib.Path(lightgbm.__file__).parent / \"lib\" / \"lib_lightgbm.so\")' 2>/dev/null",
      "r");
  std::string path;
  for (int c = 0; asked != nullptr && (c = std::fgetc(asked)) != EOF && c != '\n';)
    path += static_cast<char>(c);
  if (asked != nullptr) pclose(asked);
  return path;
}

class each_system : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if ((GetParam() == "lightgbm" || GetParam() == "ilmart") && lightgbm_here().empty())
      GTEST_SKIP() << GetParam() << " needs $RULERANK_LIGHTGBM or the Python package";
    for (learner_info const& l : learners())
      if (GetParam().starts_with(l.name) && !l.available) {
        EXPECT_THROW(make_system(GetParam()), usage_error);
        GTEST_SKIP() << GetParam() << " needs a build with " << l.library;
      }
    what = make_system(GetParam(), {.lightgbm = lightgbm_here()});
  }
  system what;
};

TEST_P(each_system, has_as_many_distinct_settings_as_the_others_the_defaults_among_them) {
  EXPECT_EQ(what.name, GetParam());
  std::set<std::string> const ours{"card",   "joint",   "rules",       "scorecard",
                                   "linear", "members", "recommended", "feature"};
  std::set<std::string> const fixed{"card", "joint", "recommended",
                                    "feature"};  // the labels choose
  EXPECT_EQ(what.library.empty(), ours.contains(GetParam()));
  std::set<std::string> names{what.defaults.name};
  for (trial const& t : what.trials) EXPECT_TRUE(names.insert(t.name).second) << t.name;
  EXPECT_EQ(names.size(), fixed.contains(GetParam()) ? 1U : most_trials);
  EXPECT_FALSE(names.contains(""));
}

TEST_P(each_system, orders_what_can_be_told_apart_by_every_trial) {
  drawn_sets const sets;
  context const ctx = with_threads(1);
  std::vector<trial> trials = what.trials;
  trials.push_back(what.defaults);
  for (trial const& t : trials) {
    auto const learner = t.make(1, 20);
    learner->fit(ctx, sets.train.view(), sets.labelled());
    std::vector<double> const scores = learner->score(ctx, sets.test.view());
    ASSERT_EQ(scores.size(), sets.test.data.size());
    // One feature determines half of the label.
    EXPECT_GT(right(sets.test.data, scores), what.name == "feature" ? 0.7 : 0.9) << t.name;
  }
}

TEST_P(each_system, has_the_same_bits_twice_and_for_any_number_of_threads) {
  drawn_sets const sets(0.2);
  std::vector<double> want;
  int const before = omp_get_max_threads();
  for (int const threads : {1, 1, 3}) {
    omp_set_num_threads(threads);  // libraries may ask
    auto const learner = what.defaults.make(7, 0);
    learner->fit(with_threads(threads), sets.train.view(), sets.labelled());
    std::vector<double> const scores = learner->score(with_threads(threads), sets.test.view());
    if (want.empty()) want = scores;
    EXPECT_EQ(scores, want);
  }
  omp_set_num_threads(before);
  EXPECT_GT(std::set<double>(want.begin(), want.end()).size(), 10U);
}

TEST_P(each_system, reads_only_the_labels_that_are_known) {
  drawn_sets sets;
  auto const learner = what.defaults.make(1, 0);
  learner->fit(with_threads(1), sets.train.view(), sets.labelled());
  std::vector<double> const want = learner->score(with_threads(1), sets.test.view());
  for (std::size_t d = 1; d < sets.train.data.size(); d += 2) {
    sets.train.data.labels[d] = datasets::unlabelled;
    sets.train.items.labels[d] = datasets::unlabelled;
  }
  learner->fit(with_threads(1), sets.train.view(), sets.labelled());
  EXPECT_EQ(learner->score(with_threads(1), sets.test.view()), want);
}

TEST_P(each_system, scores_by_its_first_steps_as_one_that_took_no_more) {
  drawn_sets const sets;
  context const ctx = with_threads(1);
  auto const whole = what.defaults.make(1, 30), half = what.defaults.make(1, 15);
  whole->fit(ctx, sets.train.view(), sets.labelled());
  half->fit(ctx, sets.train.view(), sets.labelled());
  std::vector<double> const all = whole->score(ctx, sets.test.view());
  EXPECT_EQ(whole->score_by_steps(ctx, sets.test.view(), whole->steps()), all);
  EXPECT_THROW(whole->score_by_steps(ctx, sets.test.view(), 0), usage_error);
  EXPECT_THROW(whole->score_by_steps(ctx, sets.test.view(), whole->steps() + 1), usage_error);
  if (whole->steps() == 1) return;
  EXPECT_EQ(whole->steps(), 30U);
  std::vector<double> const first = half->score(ctx, sets.test.view());
  EXPECT_EQ(whole->score_by_steps(ctx, sets.test.view(), 15), first);
  EXPECT_NE(first, all);
  std::vector<std::size_t> const counts{30, 15, 15};
  EXPECT_EQ(whole->scores_by_steps(ctx, sets.test.view(), counts),
            (std::vector<std::vector<double>>{all, first, first}));
}

TEST_P(each_system, learns_from_few_documents_and_equal_labels) {
  drawn_sets const sets;
  context const ctx = with_threads(1);
  for (std::size_t const count : {1U, 2U, 5U}) {
    std::vector<std::size_t> const few(sets.known.begin(),
                                       sets.known.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<std::int32_t> const equal(sets.train.data.size(), 1);
    auto const learner = what.defaults.make(1, 0);
    learner->fit(ctx, sets.train.view(), {few, sets.train.data.labels});
    EXPECT_EQ(learner->score(ctx, sets.test.view()).size(), sets.test.data.size());
    learner->fit(ctx, sets.train.view(), {few, equal});
    std::vector<double> const scores = learner->score(ctx, sets.test.view());
    EXPECT_EQ(std::set<double>(scores.begin(), scores.end()).size(), 1U);
  }
}

TEST_P(each_system, stops_when_asked) {
  drawn_sets const sets;
  std::stop_source source;
  context ctx = with_threads(1);
  ctx.stop = source.get_token();
  source.request_stop();
  auto const learner = what.defaults.make(1, 0);
  EXPECT_THROW(
      {
        learner->fit(ctx, sets.train.view(), sets.labelled());
        learner->score(ctx, sets.test.view());
      },
      interrupted);
}

INSTANTIATE_TEST_SUITE_P(of, each_system,
                         testing::Values("rules", "scorecard", "linear", "members", "lightgbm",
                                         "ilmart", "xgboost", "ranksvm", "ranksvm-zscore"),
                         [](auto const& named) {
                           std::string name = named.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(systems, refuse_what_they_do_not_know) {
  EXPECT_EQ(system_names().size(), 13U);
  EXPECT_PRED2(says, message_of<usage_error>([] { make_system("svm"); }),
               "...card, joint, rules, scorecard, linear, members, recommended, feature, lightgbm, "
               "ilmart...");
}

// The rank SVM

documents without_items(datasets::dataset const& data) {
  static datasets::binned_dataset const none;
  return {data, none};
}

TEST(zscore_ranksvm, sees_z_scores_and_which_values_are_missing) {
  if (!learners()[1].available) GTEST_SKIP() << "needs a build with liblinear";
  // In each query the only relevant document misses feature 1; feature 2 is uninformative.
  std::string lines;
  for (int q = 1; q <= 12; ++q)
    lines += fmt::format("1 qid:{0} 1:nan 2:{1}\n0 qid:{0} 1:-3 2:5\n0 qid:{0} 1:3 2:{2}\n", q,
                         q % 2 == 0 ? 4 : 6, q % 2 == 0 ? 6 : 4);
  datasets::dataset const pool = datasets::parse_dataset({}, lines, "pool");
  std::vector<std::size_t> all(pool.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  auto const learner = make_zscore_ranksvm({});
  learner->fit({}, without_items(pool), {all, pool.labels});
  // Another unit and offset in each query give the same z-scores. Feature 7 is not in the pool.
  datasets::dataset const test =
      datasets::parse_dataset({},
                              "0 qid:1 1:0.1 2:5\n0 qid:1 1:nan 2:5 7:9\n0 qid:1 1:0.2 2:5\n"
                              "0 qid:2 1:1000 2:1\n0 qid:2 1:nan 2:1\n0 qid:2 1:2000 2:1\n",
                              "test");
  auto const scores = learner->score({}, without_items(test));
  for (std::size_t const other : {0, 2}) EXPECT_GT(scores[1], scores[other] + 0.01);
  for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(scores[d], scores[d + 3], 1e-12);
}

TEST(zscore_ranksvm, takes_missing_values_as_the_pool_s_cuts_do) {
  if (!learners()[1].available) GTEST_SKIP() << "needs a build with liblinear";
  std::string lines;
  for (int q = 1; q <= 12; ++q)
    lines += fmt::format("1 qid:{0} 1:nan 2:1\n0 qid:{0} 1:1 2:1\n0 qid:{0} 1:-1 2:1\n", q);
  datasets::dataset const pool = datasets::parse_dataset({}, lines, "pool");
  datasets::binned_dataset const none;
  std::vector<std::size_t> all(pool.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  auto const cuts = std::make_shared<datasets::discretizer>();
  cuts->options.missing = datasets::missing_values::none;
  auto const learner = make_zscore_ranksvm({});
  learner->fit({}, {pool, none, cuts}, {all, pool.labels});
  // The documents differ only in the missing value.
  auto const scores = learner->score({}, {pool, none, cuts});
  EXPECT_NEAR(scores[0], (scores[1] + scores[2]) / 2, 1e-9);
  learner->fit({}, without_items(pool), {all, pool.labels});
  EXPECT_GT(learner->score({}, without_items(pool))[0], scores[0] + 0.01);
}

// Our members

TEST(members, rank_as_a_model_that_is_fitted_on_the_labelled_documents) {
  drawn_sets const sets(0.2);
  context const ctx = with_threads(1);
  std::vector<l2r::recipe> recipes{l2r::rules_recipe{}, l2r::scorecard_recipe{},
                                   l2r::linear_recipe{}};
  auto const learner = make_members_learner(recipes);
  learner->fit(ctx, sets.train.view(), sets.labelled());
  std::get<l2r::rules_recipe>(recipes[0]).cuts = sets.train.cuts;
  std::get<l2r::scorecard_recipe>(recipes[1]).cuts = sets.train.cuts;
  l2r::model const fitted = l2r::fit(ctx, sets.pool(), recipes);
  EXPECT_EQ(learner->score(ctx, sets.test.view()),
            l2r::scorer(ctx, fitted).score(ctx, sets.test.data).scores);
}

TEST(members, of_rules_alone_are_the_system_rules) {
  drawn_sets const sets(0.2);
  context const ctx = with_threads(1);
  auto const learner = make_members_learner({l2r::rules_recipe{}});
  auto const rules = make_system("rules").defaults.make(1, 0);
  learner->fit(ctx, sets.train.view(), sets.labelled());
  rules->fit(ctx, sets.train.view(), sets.labelled());
  EXPECT_EQ(learner->score(ctx, sets.test.view()), rules->score(ctx, sets.test.view()));
}

TEST(members, learn_from_values_that_are_normalized_within_whole_queries) {
  for (auto const norm :
       {datasets::normalization::query_minmax, datasets::normalization::query_zscore}) {
    drawn_sets const sets(0.2, norm);
    context const ctx = with_threads(1);
    auto const learner = make_members_learner({l2r::scorecard_recipe{}});
    learner->fit(ctx, sets.train.view(), sets.labelled());
    datasets::dataset const part = datasets::subset(sets.train.data, sets.known);
    l2r::scorecard const card =
        l2r::fit_scorecard(ctx, {part.queries, datasets::subset(sets.train.items, sets.known)}, {});
    EXPECT_EQ(learner->score(ctx, sets.test.view()), l2r::score(ctx, card, sets.test.items));
    // Raw documents, normalized when ranked, together with a member of another kind.
    auto const both = make_members_learner({l2r::scorecard_recipe{}, l2r::linear_recipe{}});
    both->fit(ctx, sets.train.view(), sets.labelled());
    EXPECT_GT(right(sets.test.data, both->score(ctx, sets.test.view())), 0.9);
  }
}

TEST(recommended, is_a_model_of_the_recommended_members_with_cuts_of_the_pool) {
  drawn_sets const sets(0.2);
  context const ctx = with_threads(1);
  auto const learner = make_recommended_learner();
  learner->fit(ctx, sets.train.view(), sets.labelled());
  l2r::label_counts const labels = l2r::count_labels(sets.pool());
  ASSERT_EQ(labels.documents, sets.known.size());
  // Its cuts use all documents of the pool.
  l2r::model const fitted = l2r::fit(ctx, sets.pool(), l2r::recommend(labels).recipes);
  EXPECT_EQ(learner->score(ctx, sets.test.view()),
            l2r::scorer(ctx, fitted).score(ctx, sets.test.data).scores);
}

TEST(members, without_recipes_cuts_or_values) {
  EXPECT_THROW(make_members_learner({}), usage_error);
  drawn_sets sets;
  context const ctx = with_threads(1);
  auto const learner = make_members_learner({l2r::linear_recipe{}});
  EXPECT_THROW(learner->fit(ctx, {sets.train.data, sets.train.items}, sets.labelled()),
               usage_error);
  // Documents that list no feature: nothing to learn from.
  datasets::dataset empty = datasets::parse_svmlight(ctx, "1 qid:1\n0 qid:1\n", "empty");
  std::vector<std::size_t> const both{0, 1};
  learner->fit(ctx, {empty, sets.train.items, sets.train.cuts}, {both, empty.labels});
  std::vector<double> const scores = learner->score(ctx, sets.test.view());
  EXPECT_EQ(scores, std::vector<double>(sets.test.data.size()));
}

/// The error message for the library at a path.
std::string refusal(std::string const& path) {
  return message_of([&] { make_system("lightgbm", {.lightgbm = path}); });
}

TEST(lightgbm, libraries_that_are_none) {
  EXPECT_TRUE(refusal("/absent/lib_lightgbm.so")
                  .starts_with("/absent/lib_lightgbm.so: cannot be loaded: cannot open "));
  std::filesystem::path const path =
      std::filesystem::path(testing::TempDir()) / "rulerank_no_library.so";
  std::ofstream(path) << "no library";
  EXPECT_TRUE(refusal(path.string()).starts_with(path.string() + ": cannot be loaded: "));
  std::filesystem::remove(path);
  // A file truncated in the middle or in its last table is not mapped.
  std::ifstream whole("/proc/self/exe", std::ios::binary);
  std::string const bytes{std::istreambuf_iterator<char>(whole), {}};
  for (std::size_t const size : {std::size_t{200}, bytes.size() / 2, bytes.size() - 100}) {
    std::ofstream(path, std::ios::binary) << bytes.substr(0, size);
    EXPECT_EQ(refusal(path.string()),
              fmt::format("{}: found {} bytes, expected the {} of a whole library", path.string(),
                          size, bytes.size()));
  }
  std::ofstream(path, std::ios::binary) << bytes.substr(0, 20);
  EXPECT_TRUE(refusal(path.string()).starts_with(path.string() + ": cannot be loaded: "));
  std::filesystem::remove(path);
  // A library other than LightGBM.
  EXPECT_EQ(refusal("libm.so.6"),
            "libm.so.6: found no function LGBM_GetLastError, expected LightGBM 4");
}

TEST(lightgbm, is_named_where_it_is_not_installed) {
  if (!find_lightgbm().empty()) GTEST_SKIP() << "an installed package is there";
  EXPECT_PRED2(says, message_of<usage_error>([] { make_system("lightgbm"); }),
               "...lib_lightgbm.so...");
}

TEST(lightgbm, is_found_in_the_active_virtual_environment) {
  namespace fs = std::filesystem;
  fs::path const environment = fs::path(testing::TempDir()) / "rulerank_environment";
  fs::path const folder = environment / "lib/python3.99/site-packages/lightgbm/lib";
  fs::create_directories(folder);
  std::ofstream(folder / "lib_lightgbm.so") << "found";
  char const* const before = std::getenv("VIRTUAL_ENV");
  std::string const kept = before == nullptr ? "" : before;
  setenv("VIRTUAL_ENV", environment.c_str(), 1);
  EXPECT_EQ(find_lightgbm(), (folder / "lib_lightgbm.so").string());
  if (before == nullptr)
    unsetenv("VIRTUAL_ENV");
  else
    setenv("VIRTUAL_ENV", kept.c_str(), 1);
  fs::remove_all(environment);
}

TEST(lightgbm, without_a_version_beside_it_a_file_has_its_checksum) {
  namespace fs = std::filesystem;
  if (lightgbm_here().empty())
    GTEST_SKIP() << "lightgbm needs $RULERANK_LIGHTGBM or the Python package";
  fs::path const folder = fs::path(testing::TempDir()) / "rulerank_lightgbm/lib";
  fs::create_directories(folder);
  fs::path const file = folder / "lib_lightgbm.so";
  fs::create_symlink(fs::absolute(lightgbm_here()), file);
  EXPECT_EQ(lightgbm_library(file.string()).version(),
            "LightGBM 4 (models v4, SHA-256 " + sha256_of_file(file.string()).substr(0, 12) + ")");
  fs::remove_all(folder.parent_path());
}

TEST(lightgbm, says_its_version_and_its_errors) {
  if (lightgbm_here().empty())
    GTEST_SKIP() << "lightgbm needs $RULERANK_LIGHTGBM or the Python package";
  lightgbm_library const library(lightgbm_here());
  EXPECT_TRUE(library.version().starts_with("LightGBM 4")) << library.version();
  drawn_sets const sets;
  auto const learner = library.make({.objective = "no_such_objective"});
  std::string const text =
      message_of([&] { learner->fit(with_threads(1), sets.train.view(), sets.labelled()); });
  EXPECT_PRED2(says, text, library.version() + ": ...");
  EXPECT_PRED2(says, text, "...no_such_objective...");
  EXPECT_THROW(library.make({.trees = 0}), usage_error);
  EXPECT_THROW(library.make({.leaves = 1}), usage_error);
}

/// Scores on a grid after learning from documents whose label is a function of two of three
/// features that is not a sum of functions of one feature.
struct learnt_by_ilmart {
  explicit learnt_by_ilmart(ilmart_options const& options) {
    context const ctx = with_threads(1);
    random_engine engine(5);
    std::string text;
    for (int d = 0; d < 1200; ++d) {
      double const x = uniform_unit(engine), y = uniform_unit(engine), z = uniform_unit(engine);
      bool const relevant = ((x > 0.4) == (y > 0.6)) != (uniform_unit(engine) < 0.1);
      text += fmt::format("{} qid:{} 1:{} 2:{} 3:{}\n", relevant ? 1 : 0, d / 20, x, y, z);
    }
    train.data = datasets::parse_svmlight(ctx, text, "train");
    for (std::size_t d = 0; d < train.data.size(); ++d) known.push_back(d);
    learner = lightgbm_library(lightgbm_here()).make(options);
    learner->fit(ctx, train.view(), {known, train.data.labels});
  }

  double score(double x, double y, double z) const {
    drawn_set one;
    one.data = datasets::parse_svmlight(with_threads(1),
                                        fmt::format("0 qid:1 1:{} 2:{} 3:{}\n", x, y, z), "one");
    return learner->score(with_threads(1), one.view()).at(0);
  }
  /// 0 if the score is a sum of a function of the first feature and one of the second.
  double together(int a, int b) const {
    double corners[2][2];
    for (int const i : {0, 1})
      for (int const j : {0, 1}) {
        double at[3]{0.5, 0.5, 0.5};
        at[a] = i == 0 ? 0.2 : 0.9;
        at[b] = j == 0 ? 0.2 : 0.9;
        corners[i][j] = score(at[0], at[1], at[2]);
      }
    return corners[0][0] + corners[1][1] - corners[0][1] - corners[1][0];
  }

  drawn_set train;
  std::vector<std::size_t> known;
  std::unique_ptr<learners::learner> learner;
};

TEST(ilmart, is_a_sum_of_functions_of_one_feature_and_of_the_pairs) {
  if (lightgbm_here().empty())
    GTEST_SKIP() << "ilmart needs $RULERANK_LIGHTGBM or the Python package";
  learnt_by_ilmart const single({{}, 0, 100, 0});
  EXPECT_EQ(single.learner->steps(), 100U);
  EXPECT_NE(single.score(0.2, 0.5, 0.5), single.score(0.9, 0.5, 0.5));
  learnt_by_ilmart const one({{}, 1, 100, 0});
  EXPECT_EQ(one.learner->steps(), 200U);
  learnt_by_ilmart const all({{}, 9, 100, 0});
  int pairs_of_one = 0;
  for (auto const& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
    EXPECT_NEAR(single.together(a, b), 0, 1e-9) << a << b;
    pairs_of_one += std::abs(one.together(a, b)) > 1e-9 ? 1 : 0;
  }
  EXPECT_EQ(pairs_of_one, 1);
  EXPECT_GT(all.together(0, 1), 1);
  EXPECT_GT(right(all.train.data, all.learner->score(with_threads(1), all.train.view())),
            right(single.train.data, single.learner->score(with_threads(1), single.train.view())));
}

TEST(ilmart, scores_by_its_first_steps_as_one_that_took_no_more) {
  if (lightgbm_here().empty())
    GTEST_SKIP() << "ilmart needs $RULERANK_LIGHTGBM or the Python package";
  ilmart_options options{{}, 2, 30, 0};
  options.single.trees = 20;
  learnt_by_ilmart const whole(options);
  EXPECT_EQ(whole.learner->steps(), 50U);
  for (std::size_t const count : {10U, 20U, 21U, 45U, 50U}) {
    options.most_trees = count;
    learnt_by_ilmart const first(options);
    EXPECT_EQ(first.learner->steps(), count);
    context const ctx = with_threads(1);
    EXPECT_EQ(whole.learner->score_by_steps(ctx, whole.train.view(), count),
              first.learner->score(ctx, first.train.view()));
  }
  std::vector<std::size_t> const counts{50, 10, 10, 21};
  std::vector<std::vector<double>> const scores =
      whole.learner->scores_by_steps(with_threads(1), whole.train.view(), counts);
  ASSERT_EQ(scores.size(), counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k)
    EXPECT_EQ(scores[k],
              whole.learner->score_by_steps(with_threads(1), whole.train.view(), counts[k]));
  EXPECT_THROW(lightgbm_library(lightgbm_here()).make(ilmart_options{{.leaves = 1}, 0, 0, 0}),
               usage_error);
}

TEST(xgboost, says_its_version_and_its_errors) {
  std::string const version = library_of("xgboost");
  if (version.empty()) GTEST_SKIP() << "xgboost needs a build with XGBoost";
  drawn_sets const sets;
  boosted_options options;
  options.objective = "rank:nothing";
  auto const learner = make_boosted(options);
  EXPECT_PRED2(
      says, message_of([&] { learner->fit(with_threads(1), sets.train.view(), sets.labelled()); }),
      version + ": ...");
}

}  // namespace
}  // namespace rulerank::learners::systems_test
