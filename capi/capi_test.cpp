#include "core/version.hpp"
#include "datasets/arrays.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/scorer.hpp"
#include "rulerank.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::capi_test {
namespace {

constexpr std::size_t columns = 5;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
using handle = std::unique_ptr<rulerank_model, void (*)(rulerank_model*)>;

/// Rows of five features, some of them missing; values follow from `salt`. Floats hold them.
std::vector<double> values_of(std::size_t rows, std::size_t salt) {
  std::vector<double> values;
  for (std::size_t d = 0; d < rows; ++d) {
    std::size_t const x = (d * 37 + salt * 101) % 997;
    for (std::size_t const value : {x % 11, x % 7, d % 9, x % 29, (x * 13) % 17})
      values.push_back(value == 3 ? missing : static_cast<double>(value) * .5);
  }
  return values;
}

/// The rows as documents of lists that begin there.
datasets::dataset documents_of(std::vector<double> const& values,
                               std::vector<std::size_t> const& list_begin) {
  std::vector<std::size_t> sizes(list_begin.size());
  std::adjacent_difference(list_begin.begin(), list_begin.end(), sizes.begin());
  sizes.erase(sizes.begin());
  std::size_t const rows = values.size() / columns;
  std::vector<std::int32_t> labels;
  for (std::size_t d = 0; d < rows; ++d) labels.push_back(static_cast<std::int32_t>(d * 7 % 3));
  datasets::document_arrays about;
  about.group_sizes = sizes;
  about.labels = labels;
  return datasets::make_dataset(
      context{}, datasets::dense_rows<double>{values.data(), rows, columns, columns}, about);
}

std::vector<std::size_t> const lists_of_60{0, 9, 20, 21, 45, 60};

l2r::model fitted(std::vector<l2r::recipe> const& recipes) {
  return l2r::fit(context{}, documents_of(values_of(60, 1), lists_of_60), recipes);
}

struct kind {
  std::string name;
  l2r::model model;
  bool portable;
};

std::vector<kind> kinds() {
  l2r::rules_recipe rules;
  l2r::scorecard_recipe in_queries;
  in_queries.discretizer.norm = datasets::normalization::query_zscore;
  l2r::model joint = fitted({l2r::joint_recipe{}});
  auto& tables = std::get<l2r::joint_member>(joint.members.front());
  if (tables.pairs.empty()) {
    tables.pairs.push_back({0, 1, std::vector<std::int64_t>(36, 5)});  // 6 x 6 groups
    tables.moved.push_back(5);
  }
  return {{"rules", fitted({rules}), true},
          {"scorecard", fitted({l2r::scorecard_recipe{}}), true},
          {"scorecard within queries", fitted({in_queries}), false},
          {"linear", fitted({l2r::linear_recipe{}}), false},
          {"joint", joint, false},
          {"three", fitted({rules, l2r::scorecard_recipe{}, l2r::linear_recipe{}}), false}};
}

handle loaded(l2r::model const& model) {
  std::string const bytes = l2r::to_bytes(model);
  rulerank_model* made = nullptr;
  std::array<char, 256> error{};
  EXPECT_EQ(
      rulerank_model_from_bytes(bytes.data(), bytes.size(), &made, error.data(), error.size()),
      RULERANK_OK)
      << error.data();
  return {made, rulerank_model_free};
}

std::vector<std::uint64_t> bits_of(std::vector<double> const& scores) {
  std::vector<std::uint64_t> bits;
  for (double const score : scores) bits.push_back(std::bit_cast<std::uint64_t>(score));
  return bits;
}

/// The scores by the C interface.
std::vector<double> scores_of(rulerank_model const* model, std::vector<double> const& values,
                              std::vector<std::size_t> const& list_begin) {
  std::size_t const rows = values.size() / columns;
  std::vector<double> scores(rows);
  std::array<char, 256> error{};
  EXPECT_EQ(rulerank_score_double(model, values.data(), rows, columns, columns, list_begin.data(),
                                  list_begin.size() - 1, scores.data(), error.data(), error.size()),
            RULERANK_OK)
      << error.data();
  return scores;
}

TEST(capi, scores_have_the_bits_of_the_library) {
  auto const values = values_of(60, 2);
  for (kind const& one : kinds()) {
    SCOPED_TRACE(one.name);
    auto const model = loaded(one.model);
    l2r::scorer const scorer(context{}, one.model);
    auto const expected = scorer.score(context{}, documents_of(values, lists_of_60)).scores;
    EXPECT_EQ(bits_of(scores_of(model.get(), values, lists_of_60)), bits_of(expected));
  }
}

TEST(capi, rows_may_be_float_and_have_a_stride) {
  auto const values = values_of(60, 2);
  for (kind const& one : kinds()) {
    SCOPED_TRACE(one.name);
    auto const model = loaded(one.model);
    auto const expected = bits_of(scores_of(model.get(), values, {0, 60}));
    std::vector<float> wide(60 * 7, -1);
    for (std::size_t i = 0; i < values.size(); ++i)
      wide[i / columns * 7 + i % columns] = static_cast<float>(values[i]);
    std::vector<double> scores(60);
    // All rows are one list.
    EXPECT_EQ(rulerank_score_float(model.get(), wide.data(), 60, columns, 7, nullptr, 0,
                                   scores.data(), nullptr, 0),
              RULERANK_OK);
    EXPECT_EQ(bits_of(scores), expected);
    std::size_t const terms = rulerank_model_terms(model.get());
    std::vector<double> base(60), added(60 * terms), base_float(60), added_float(60 * terms);
    EXPECT_EQ(rulerank_explain_float(model.get(), wide.data(), 60, columns, 7, nullptr, 0,
                                     base_float.data(), added_float.data(), nullptr, 0),
              RULERANK_OK);
    EXPECT_EQ(rulerank_explain_double(model.get(), values.data(), 60, columns, columns, nullptr, 0,
                                      base.data(), added.data(), nullptr, 0),
              RULERANK_OK);
    EXPECT_EQ(bits_of(base_float), bits_of(base));
    EXPECT_EQ(bits_of(added_float), bits_of(added));
  }
}

TEST(capi, empty_lists_and_no_rows_are_allowed) {
  auto const values = values_of(60, 2);
  auto const model = loaded(fitted({l2r::linear_recipe{}}));
  EXPECT_EQ(bits_of(scores_of(model.get(), values, {0, 0, 9, 9, 20, 21, 45, 60, 60})),
            bits_of(scores_of(model.get(), values, lists_of_60)));
  EXPECT_EQ(rulerank_score_double(model.get(), nullptr, 0, columns, columns, nullptr, 0, nullptr,
                                  nullptr, 0),
            RULERANK_OK);
  EXPECT_EQ(rulerank_explain_double(model.get(), nullptr, 0, columns, columns, nullptr, 0, nullptr,
                                    nullptr, nullptr, 0),
            RULERANK_OK);
}

TEST(capi, terms_are_the_effects_of_the_explainer) {
  auto const values = values_of(30, 3);
  for (kind const& one : kinds()) {
    SCOPED_TRACE(one.name);
    auto const model = loaded(one.model);
    std::size_t const terms = rulerank_model_terms(model.get());
    std::vector<double> base(30), added(30 * terms);
    ASSERT_EQ(rulerank_explain_double(model.get(), values.data(), 30, columns, columns, nullptr, 0,
                                      base.data(), added.data(), nullptr, 0),
              RULERANK_OK);
    l2r::scorer const scorer(context{}, one.model);
    auto const documents = documents_of(values, {0, 30});
    l2r::explainer const explainer(context{}, scorer, documents);
    auto const effects = explainer.effects(context{});
    for (std::size_t d = 0; d < 30; ++d) {
      EXPECT_EQ(base[d], effects[d].base);
      ASSERT_EQ(effects[d].features.size(), terms);
      double sum = base[d];
      for (std::size_t t = 0; t < terms; ++t) {
        l2r::feature_effect const& effect = effects[d].features[t];
        std::size_t column = 99, partner = 99;
        ASSERT_EQ(rulerank_model_term(model.get(), t, &column, &partner, nullptr, 0), RULERANK_OK);
        EXPECT_EQ(column, effect.feature - 1);
        EXPECT_EQ(partner, effect.partner.value_or(effect.feature) - 1);
        EXPECT_EQ(added[d * terms + t], effect.adds);
        sum += added[d * terms + t];
      }
      EXPECT_NEAR(sum, scorer.score(context{}, documents).scores[d], 1e-12);
    }
  }
}

TEST(capi, says_what_a_model_is) {
  for (kind const& one : kinds()) {
    SCOPED_TRACE(one.name);
    auto const model = loaded(one.model);
    EXPECT_EQ(rulerank_model_columns(model.get()), columns);
    EXPECT_EQ(rulerank_model_column_name(model.get(), 0), nullptr);
    EXPECT_EQ(rulerank_model_is_portable(model.get()), one.portable ? 1 : 0);
    EXPECT_EQ(rulerank_model_portability(model.get()), l2r::portability_of(one.model).words);
    EXPECT_EQ(std::string(rulerank_model_portability(model.get())).starts_with("portable: "),
              one.portable);
  }
  auto const named = datasets::parse_svmlight(
      context{}, "1 qid:1 b:1 c:2\n0 qid:1 a:5 b:2 c:1\n0 qid:1 a:1 c:4\n", "named");
  auto const model =
      loaded(l2r::fit(context{}, named, std::vector<l2r::recipe>{l2r::scorecard_recipe{}}));
  ASSERT_EQ(rulerank_model_columns(model.get()), 3U);
  EXPECT_STREQ(rulerank_model_column_name(model.get(), 0), "a");
  EXPECT_STREQ(rulerank_model_column_name(model.get(), 2), "c");
  EXPECT_EQ(rulerank_model_column_name(model.get(), 3), nullptr);
  EXPECT_STREQ(rulerank_version(), rulerank::version);
  EXPECT_EQ(rulerank_model_column_unit(model.get(), 0), nullptr);
  l2r::model described =
      l2r::fit(context{}, named, std::vector<l2r::recipe>{l2r::scorecard_recipe{}});
  described.descriptions = {{1, {"EUR", "catalog"}}, {3, {"", "log"}}};
  auto const with_units = loaded(described);
  EXPECT_STREQ(rulerank_model_column_unit(with_units.get(), 0), "EUR");
  EXPECT_STREQ(rulerank_model_column_origin(with_units.get(), 0), "catalog");
  EXPECT_EQ(rulerank_model_column_unit(with_units.get(), 1), nullptr);
  EXPECT_EQ(rulerank_model_column_unit(with_units.get(), 2), nullptr);
  EXPECT_STREQ(rulerank_model_column_origin(with_units.get(), 2), "log");
  EXPECT_EQ(rulerank_model_column_unit(with_units.get(), 3), nullptr);
  EXPECT_EQ(rulerank_model_column_origin(nullptr, 0), nullptr);
  described.list_normalized = {2};
  EXPECT_EQ(std::string(rulerank_model_portability(loaded(described).get())).substr(0, 24),
            "portable only where its ");
}

TEST(capi, a_portable_score_does_not_depend_on_the_list) {
  auto const values = values_of(60, 2);
  std::vector<std::size_t> alone(61);
  std::iota(alone.begin(), alone.end(), std::size_t{0});
  for (kind const& one : kinds()) {
    SCOPED_TRACE(one.name);
    auto const model = loaded(one.model);
    EXPECT_EQ(bits_of(scores_of(model.get(), values, alone)) ==
                  bits_of(scores_of(model.get(), values, {0, 60})),
              one.portable);
  }
}

TEST(capi, features_may_be_numbered_from_0) {
  datasets::svmlight_options from_zero;
  from_zero.zero_based = true;
  auto const train = datasets::parse_svmlight(
      context{}, "1 qid:1 0:1 1:2\n0 qid:1 0:5 1:1\n0 qid:1 0:3 1:4\n2 qid:1 0:0 1:0\n", "zero",
      from_zero);
  auto const by = l2r::fit(context{}, train, std::vector<l2r::recipe>{l2r::scorecard_recipe{}});
  auto const model = loaded(by);
  ASSERT_EQ(rulerank_model_columns(model.get()), 2U);
  std::vector<double> const values{1, 2, 5, 1, 3, 4, 0, 0};
  std::vector<double> scores(4);
  EXPECT_EQ(rulerank_score_double(model.get(), values.data(), 4, 2, 2, nullptr, 0, scores.data(),
                                  nullptr, 0),
            RULERANK_OK);
  EXPECT_EQ(bits_of(scores), bits_of(l2r::scorer(context{}, by).score(context{}, train).scores));
}

/// The rows of a call, right but for what a test changes.
struct call {
  rulerank_model const* model;
  std::vector<double> values = values_of(4, 2);
  double const* at = values.data();
  std::size_t width = columns, stride = columns;
  std::vector<std::size_t> list_begin{0, 4};
  std::vector<double> scores = std::vector<double>(4);
  double* to = scores.data();

  /// `CODE: TEXT`.
  std::string outcome() const {
    std::array<char, 256> error{};
    auto const code = rulerank_score_double(model, at, 4, width, stride, list_begin.data(),
                                            list_begin.size() - 1, to, error.data(), error.size());
    std::vector<double> added(4 * rulerank_model_terms(model));
    EXPECT_EQ(rulerank_explain_double(model, at, 4, width, stride, list_begin.data(),
                                      list_begin.size() - 1, to, added.data(), nullptr, 0),
              to == nullptr ? RULERANK_USAGE : code);
    return fmt::format("{}: {}", static_cast<int>(code), error.data());
  }
};

TEST(capi, bad_arguments_are_errors) {
  auto const model = loaded(fitted({l2r::scorecard_recipe{}}));
  call const good{model.get()};
  EXPECT_EQ(good.outcome(), "0: ");
  auto const outcome = [&](auto const& change) {
    call bad{model.get()};
    change(bad);
    return bad.outcome();
  };
  EXPECT_EQ(outcome([](call& c) { c.model = nullptr; }),
            "2: model: found NULL, expected a pointer");
  EXPECT_EQ(outcome([](call& c) { c.at = nullptr; }), "2: values: found NULL, expected a pointer");
  EXPECT_EQ(outcome([](call& c) { c.to = nullptr; }), "2: scores: found NULL, expected a pointer");
  EXPECT_EQ(outcome([](call& c) { c.width = 4; }),
            "2: columns: found 4, expected 5, the columns of the model");
  EXPECT_EQ(outcome([](call& c) { c.stride = 4; }),
            "2: stride: found 4, expected at least 5, the number of columns");
  EXPECT_EQ(outcome([](call& c) {
              c.list_begin = {1, 4};
            }),
            "2: list_begin[0]: found 1, expected 0");
  EXPECT_EQ(outcome([](call& c) {
              c.list_begin = {0, 3, 2, 4};
            }),
            "2: list_begin[2]: found 2, expected 3 to 4");
  EXPECT_EQ(outcome([](call& c) {
              c.list_begin = {0, 5};
            }),
            "2: list_begin[1]: found 5, expected 0 to 4");
  EXPECT_EQ(outcome([](call& c) {
              c.list_begin = {0, 3};
            }),
            "2: list_begin[1]: found 3, expected 4, the number of rows");
  EXPECT_EQ(outcome([](call& c) { c.values[7] = -infinite; }),
            "3: values:2:1: value of feature 3 is infinite, expected a finite number or NaN");
}

TEST(capi, bad_models_are_errors) {
  std::string const bytes = l2r::to_bytes(fitted({l2r::scorecard_recipe{}}));
  rulerank_model* model = nullptr;
  std::array<char, 300> error{};
  auto const outcome = [&](std::string const& of) {
    model = reinterpret_cast<rulerank_model*>(&error);
    auto const code =
        rulerank_model_from_bytes(of.data(), of.size(), &model, error.data(), error.size());
    EXPECT_EQ(model, nullptr);
    EXPECT_EQ(code, RULERANK_BAD_INPUT);
    return std::string(error.data());
  };
  EXPECT_EQ(outcome("").substr(0, 8), "model:1:");
  for (std::size_t const size : {std::size_t{1}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_EQ(outcome(bytes.substr(0, size)).substr(0, 6), "model:");
  std::string other = bytes;
  other[bytes.find(' ') + 1] = '9';
  EXPECT_NE(outcome(other).find("version"), std::string::npos) << error.data();
  EXPECT_EQ(rulerank_model_from_bytes(nullptr, 3, &model, error.data(), error.size()),
            RULERANK_USAGE);
  EXPECT_EQ(rulerank_model_from_bytes(bytes.data(), 3, nullptr, error.data(), error.size()),
            RULERANK_USAGE);
  EXPECT_EQ(rulerank_model_read(nullptr, &model, error.data(), error.size()), RULERANK_USAGE);
  EXPECT_EQ(rulerank_model_read("none/at all", &model, error.data(), error.size()),
            RULERANK_BAD_INPUT);
  EXPECT_EQ(std::string(error.data()).substr(0, 12), "none/at all:");
}

TEST(capi, accessors_take_null_and_numbers_out_of_range) {
  rulerank_model_free(nullptr);
  EXPECT_EQ(rulerank_model_columns(nullptr), 0U);
  EXPECT_EQ(rulerank_model_terms(nullptr), 0U);
  EXPECT_EQ(rulerank_model_is_portable(nullptr), 0);
  EXPECT_EQ(rulerank_model_portability(nullptr), nullptr);
  EXPECT_EQ(rulerank_model_column_name(nullptr, 0), nullptr);
  auto const model = loaded(fitted({l2r::linear_recipe{}}));
  std::size_t column = 0, partner = 0;
  EXPECT_EQ(rulerank_model_term(model.get(), 5, &column, &partner, nullptr, 0), RULERANK_USAGE);
  EXPECT_EQ(rulerank_model_term(model.get(), 0, nullptr, &partner, nullptr, 0), RULERANK_USAGE);
}

TEST(capi, a_text_is_cut_between_characters) {
  rulerank_model* model = nullptr;
  std::string const whole = "ab\u00e9\u00e9/none: ";  // of 14 bytes
  std::vector<std::size_t> const lengths{0, 1, 2, 2, 4, 4, 6, 7};
  for (std::size_t size = 1; size <= lengths.size(); ++size) {
    std::array<char, 16> room;
    room.fill('x');
    EXPECT_EQ(rulerank_model_read("ab\u00e9\u00e9/none", &model, room.data(), size),
              RULERANK_BAD_INPUT);
    EXPECT_EQ(std::string(room.data()), whole.substr(0, lengths[size - 1]));
    for (std::size_t i = size; i < room.size(); ++i) EXPECT_EQ(room[i], 'x');
  }
  EXPECT_EQ(rulerank_model_read("none", &model, nullptr, 5), RULERANK_USAGE);
}

TEST(capi, many_threads_use_one_model) {
  auto const values = values_of(60, 2);
  for (kind const& one : kinds()) {
    SCOPED_TRACE(one.name);
    auto const model = loaded(one.model);
    auto const expected = bits_of(scores_of(model.get(), values, lists_of_60));
    std::vector<std::vector<double>> scores(8, std::vector<double>(60));
    std::vector<int> wrong(8);
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < scores.size(); ++t)
        threads.emplace_back([&, t] {
          for (int i = 0; i < 5; ++i) {
            std::array<char, 64> error{};
            wrong[t] += rulerank_score_double(model.get(), values.data(), 60, columns, columns,
                                              lists_of_60.data(), lists_of_60.size() - 1,
                                              scores[t].data(), error.data(), error.size()) != 0;
            wrong[t] += rulerank_score_double(model.get(), values.data(), 60, columns - 1, columns,
                                              nullptr, 0, scores[t].data(), error.data(),
                                              error.size()) != RULERANK_USAGE;
          }
        });
    }
    for (std::size_t t = 0; t < scores.size(); ++t) {
      EXPECT_EQ(wrong[t], 0);
      EXPECT_EQ(bits_of(scores[t]), expected);
    }
  }
}

}  // namespace
}  // namespace rulerank::capi_test
