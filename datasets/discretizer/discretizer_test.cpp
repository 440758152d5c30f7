#include "datasets/discretizer.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/discretizer/cut_points.hpp"
#include "datasets/discretizer/cut_points_reference.hpp"
#include "datasets/discretizer/discretizer_json.hpp"
#include "datasets/discretizer/discretizer_parts.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::datasets::discretizer_test {
namespace {

using rulerank::testing_tools::complaint_of;
using rulerank::testing_tools::input_and_message;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

context with_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

dataset make(std::vector<std::vector<feature_value>> const& rows) {
  dataset data;
  for (auto const& row : rows) {
    data.labels.push_back(static_cast<std::int32_t>(data.labels.size() % 3));
    data.entries.insert(data.entries.end(), row.begin(), row.end());
    data.row.push_back(data.entries.size());
  }
  if (!rows.empty()) data.queries.push_back({"1", 0, rows.size()});
  return data;
}

/// Random features 3, 6, 9, ...: listed in `present` tenths of the documents; one in ten listed
/// values is NaN.
dataset drawn(random_engine& engine, std::size_t documents, std::size_t features,
              std::uint64_t present) {
  std::vector<std::vector<feature_value>> rows(documents);
  for (auto& row : rows)
    for (std::size_t f = 0; f < features; ++f) {
      if (uniform_below(engine, 10) >= present) continue;
      double value = f % 4 == 1 ? std::round(4 * uniform_unit(engine)) : uniform_unit(engine) - 0.3;
      if (f % 5 == 4) value = 7;
      if (uniform_below(engine, 10) == 0) value = nan;
      row.push_back({static_cast<std::uint32_t>(3 * f + 3), value});
    }
  return make(rows);
}

void expect_same(discretizer const& a, discretizer const& b) {
  EXPECT_EQ(a.options.method, b.options.method);
  EXPECT_EQ(a.options.bins, b.options.bins);
  EXPECT_EQ(a.options.missing, b.options.missing);
  EXPECT_EQ(a.options.unlisted, b.options.unlisted);
  EXPECT_EQ(a.options.norm, b.options.norm);
  EXPECT_EQ(a.columns, b.columns);
  ASSERT_EQ(a.features.size(), b.features.size());
  for (std::size_t f = 0; f < a.features.size(); ++f) {
    EXPECT_EQ(a.features[f].feature, b.features[f].feature);
    EXPECT_EQ(a.features[f].cuts, b.features[f].cuts);
  }
}

void expect_same(binned_dataset const& a, binned_dataset const& b) {
  EXPECT_EQ(a.documents, b.documents);
  EXPECT_EQ(a.stride, b.stride);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.item_begin, b.item_begin);
  EXPECT_EQ(a.has_missing_item, b.has_missing_item);
  EXPECT_TRUE(a.codes == b.codes);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.max_label, b.max_label);
}

/// Returns the value of a feature in a document under the options, NaN for missing.
double value_of(dataset const& data, std::size_t d, std::uint32_t feature,
                discretizer_options const& options) {
  bool const missing_is_zero = options.missing == missing_values::zero;
  for (feature_value const& entry : data.document(d))
    if (entry.feature == feature)
      return std::isnan(entry.value) && missing_is_zero ? 0.0 : entry.value;
  return options.unlisted == unlisted_values::zero || missing_is_zero ? 0.0 : nan;
}

/// Compares with the expected result of apply_discretizer, value by value.
void expect_codes(dataset const& data, discretizer const& fitted, binned_dataset const& binned) {
  ASSERT_EQ(binned.documents, data.size());
  EXPECT_EQ(binned.stride % 64, 0U);
  EXPECT_GE(binned.stride, data.size());
  EXPECT_EQ(binned.codes.size(), binned.feature_count() * binned.stride);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(binned.codes.data()) % 64, 0U);
  std::size_t f = 0;
  for (feature_cuts const& cuts : fitted.features) {
    if (cuts.cuts.empty()) continue;
    ASSERT_LT(f, binned.feature_count());
    ASSERT_EQ(binned.features[f], cuts.feature);
    bool const extra = fitted.options.missing == missing_values::item;
    ASSERT_EQ(binned.has_missing_item[f], extra);
    ASSERT_EQ(binned.bins(f), cuts.cuts.size() + 1 + (extra ? 1 : 0));
    for (std::size_t d = 0; d < data.size(); ++d) {
      double const x = value_of(data, d, cuts.feature, fitted.options);
      std::size_t code = 0;
      for (double const cut : cuts.cuts) code += cut <= x;
      if (std::isnan(x)) code = extra ? cuts.cuts.size() + 1 : no_item;
      ASSERT_EQ(binned.code(f, d), code) << "feature " << cuts.feature << ", document " << d;
    }
    for (std::size_t d = data.size(); d < binned.stride; ++d)
      ASSERT_EQ(binned.column(f)[d], no_item);
    ++f;
  }
  EXPECT_EQ(f, binned.feature_count());
  ASSERT_EQ(binned.item_begin.size(), binned.feature_count() + 1);
  EXPECT_EQ(binned.item_begin.front(), 0U);
  EXPECT_EQ(binned.labels, data.labels);
  EXPECT_EQ(binned.max_label, data.max_label());
}

constexpr missing_values all_missing[] = {missing_values::item, missing_values::none,
                                          missing_values::zero};
constexpr unlisted_values all_unlisted[] = {unlisted_values::zero, unlisted_values::missing};

TEST(fit_discretizer, cuts_of_present_values) {
  dataset const data = make({{{1, 1}, {2, nan}, {5, 3}},
                             {{1, 2}, {2, 4}, {5, 3}},
                             {{1, 3}, {5, 3}, {9, nan}},
                             {{1, 4}, {2, 6}, {5, 3}}});
  discretizer_options options;
  options.method = binning::width;
  options.bins = 2;
  discretizer fitted = fit_discretizer({}, data, options);
  ASSERT_EQ(fitted.features.size(), 4U);
  EXPECT_EQ(fitted.features[0].cuts, (std::vector<double>{2.5}));
  EXPECT_EQ(fitted.features[1].feature, 2U);
  EXPECT_EQ(fitted.features[1].cuts, (std::vector<double>{3}));  // 0 (unlisted) .. 6
  EXPECT_TRUE(fitted.features[2].cuts.empty());                  // constant
  EXPECT_EQ(fitted.features[3].feature, 9U);
  EXPECT_TRUE(fitted.features[3].cuts.empty());
  options.unlisted = unlisted_values::missing;
  EXPECT_EQ(fit_discretizer({}, data, options).features[1].cuts, (std::vector<double>{5}));
  options.missing = missing_values::zero;
  EXPECT_EQ(fit_discretizer({}, data, options).features[1].cuts, (std::vector<double>{3}));
}

TEST(fit_discretizer, every_feature_by_itself_for_any_number_of_threads) {
  random_engine engine(8);
  for (std::size_t const features : {1, 8, 9, 70})
    for (std::uint64_t const present : {3, 10})
      for (binning const method : {binning::tube, binning::width, binning::frequency}) {
        dataset const data = drawn(engine, 60, features, present);
        discretizer_options options;
        options.method = method;
        options.missing = all_missing[engine() % 3];
        options.unlisted = all_unlisted[engine() % 2];
        discretizer const fitted = fit_discretizer(with_threads(1), data, options);
        expect_same(fitted, fit_discretizer(with_threads(2), data, options));
        expect_same(fitted, fit_discretizer(with_threads(5), data, options));
        ASSERT_EQ(fitted.features.size(), listed_features(data).size());
        for (feature_cuts const& f : fitted.features) {
          std::vector<double> values;
          for (std::size_t d = 0; d < data.size(); ++d)
            if (double const x = value_of(data, d, f.feature, options); !std::isnan(x))
              values.push_back(x);
          EXPECT_EQ(f.cuts, cut_points(method, options.bins, values)) << "feature " << f.feature;
        }
      }
}

TEST(fit_discretizer, processes_that_have_all_documents_cut_a_share_each) {
  random_engine engine(5);
  for (int const bins : {0, 6})
    for (normalization const norm : {normalization::none, normalization::query_zscore}) {
      dataset const data = drawn(engine, 60, 5, 8);
      discretizer_options options;
      options.bins = bins;
      options.norm = norm;
      discretizer const fitted = fit_discretizer(with_threads(1), data, options);
      expect_same(fitted, fit_discretizer_together(with_threads(1), data, options));
      for (int const processes : {2, 3, 16})
        testing_tools::run_processes(processes, [&](process_group const& group) {
          context ctx = with_threads(2);
          ctx.processes = &group;
          expect_same(fitted, fit_discretizer_together(ctx, data, options));
        });
    }
}

TEST(fit_discretizer, cross_validation_depends_on_the_seed_alone) {
  random_engine engine(21);
  dataset const data = drawn(engine, 150, 6, 10);
  discretizer_options options;
  options.bins = 0;
  discretizer const fitted = fit_discretizer(with_threads(1), data, options);
  expect_same(fitted, fit_discretizer(with_threads(5), data, options));
  for (feature_cuts const& f : fitted.features) EXPECT_LT(f.cuts.size(), 100U);
}

TEST(fit_discretizer, refuses_impossible_numbers_of_bins) {
  dataset const data = make({{{1, 1}}, {{1, 2}}});
  for (int const bins : {-1, 1, 251}) {
    discretizer_options options;
    options.bins = bins;
    EXPECT_THROW(fit_discretizer({}, data, options), usage_error) << bins;
  }
}

TEST(fit_discretizer, one_document_and_none_make_no_items) {
  for (dataset const& data : {make({{{1, 5}, {2, nan}}}), make({})}) {
    discretizer const fitted = fit_discretizer({}, data, {});
    binned_dataset const binned = apply_discretizer({}, data, fitted);
    EXPECT_EQ(binned.feature_count(), 0U);
    EXPECT_EQ(binned.items(), 0U);
    EXPECT_EQ(binned.labels, data.labels);
  }
}

TEST(fit_discretizer, stops_when_asked_to) {
  random_engine engine(2);
  dataset const data = drawn(engine, 50, 20, 10);
  std::stop_source source;
  source.request_stop();
  context ctx;
  ctx.stop = source.get_token();
  EXPECT_THROW(fit_discretizer(ctx, data, {}), interrupted);
  EXPECT_THROW(apply_discretizer(ctx, data, fit_discretizer({}, data, {})), interrupted);
}

TEST(apply_discretizer, every_value_under_every_policy) {
  random_engine engine(99);
  for (std::size_t const documents : {1, 63, 64, 65, 1023, 1025, 2100})
    for (std::size_t const features : {1, 127, 128, 130}) {
      if (documents * features > 150000) continue;
      dataset const train = drawn(engine, 80, features, 8);
      dataset const data = drawn(engine, documents, features + 3, 5);  // including unknown features
      for (missing_values const missing : all_missing)
        for (unlisted_values const unlisted : all_unlisted) {
          discretizer_options options;
          options.method = engine() % 2 == 0 ? binning::width : binning::frequency;
          options.bins = engine() % 3 == 0 ? 40 : 6;  // covers both ways to find a bin
          options.missing = missing;
          options.unlisted = unlisted;
          discretizer const fitted = fit_discretizer({}, train, options);
          binned_dataset const binned = apply_discretizer(with_threads(1), data, fitted);
          expect_codes(data, fitted, binned);
          expect_same(binned, apply_discretizer(with_threads(2), data, fitted));
          expect_same(binned, apply_discretizer(with_threads(5), data, fitted));
        }
    }
}

TEST(apply_discretizer, cuts_belong_to_the_bin_above_and_the_ends_hold_the_rest) {
  discretizer fitted;
  fitted.features = {{4, {1, 2, 3}}};
  dataset const data = make(
      {{{4, -1e300}}, {{4, std::nextafter(1, 0)}}, {{4, 1}}, {{4, 2.5}}, {{4, 3}}, {{4, 1e300}}});
  binned_dataset const binned = apply_discretizer({}, data, fitted);
  std::vector<std::uint8_t> const codes(binned.column(0), binned.column(0) + data.size());
  EXPECT_EQ(codes, (std::vector<std::uint8_t>{0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(binned.bins(0), 5U);
}

TEST(apply_discretizer, as_many_bins_as_there_can_be) {
  std::vector<std::vector<feature_value>> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back({{1, static_cast<double>(i)}});
  rows.push_back({{1, nan}});
  dataset const data = make(rows);
  discretizer_options options;
  options.method = binning::frequency;
  options.bins = 250;
  discretizer const fitted = fit_discretizer({}, data, options);
  ASSERT_EQ(fitted.features[0].cuts.size(), 249U);
  binned_dataset const binned = apply_discretizer({}, data, fitted);
  expect_codes(data, fitted, binned);
  EXPECT_EQ(binned.code(0, 1000), 250);
}

TEST(apply_discretizer, normalises_each_query_first) {
  dataset data = make({{{1, 1}}, {{1, 2}}, {{1, 3}}, {{1, 100}}, {{1, 200}}, {{1, 300}}});
  data.queries = {{"a", 0, 3}, {"b", 3, 6}};
  discretizer_options options;
  options.method = binning::width;
  options.bins = 2;
  options.norm = normalization::query_minmax;
  discretizer const fitted = fit_discretizer({}, data, options);
  EXPECT_EQ(fitted.features[0].cuts, (std::vector<double>{.5}));
  binned_dataset const binned = apply_discretizer({}, data, fitted);
  std::vector<std::uint8_t> const codes(binned.column(0), binned.column(0) + data.size());
  EXPECT_EQ(codes, (std::vector<std::uint8_t>{0, 1, 1, 0, 1, 1}));
}

TEST(subset, takes_documents_in_the_order_given) {
  random_engine engine(4);
  dataset const data = drawn(engine, 200, 5, 9);
  binned_dataset const binned = apply_discretizer({}, data, fit_discretizer({}, data, {}));
  std::vector<std::size_t> const chosen{7, 3, 199, 0, 7};
  binned_dataset const part = subset(binned, chosen);
  EXPECT_EQ(part.documents, chosen.size());
  EXPECT_EQ(part.stride, 64U);
  EXPECT_EQ(part.item_begin, binned.item_begin);
  EXPECT_EQ(part.features, binned.features);
  EXPECT_EQ(part.max_label, 1);  // 7, 3, 199, 0: labels 1 0 1 0
  for (std::size_t f = 0; f < part.feature_count(); ++f) {
    for (std::size_t i = 0; i < chosen.size(); ++i)
      EXPECT_EQ(part.code(f, i), binned.code(f, chosen[i]));
    for (std::size_t i = chosen.size(); i < part.stride; ++i) EXPECT_EQ(part.column(f)[i], no_item);
  }
  EXPECT_EQ(subset(binned, {}).documents, 0U);
}

TEST(discretizer_json, comes_back_as_it_was) {
  random_engine engine(6);
  discretizer fitted;
  fitted.options = {binning::frequency, 0, missing_values::none, unlisted_values::missing,
                    normalization::query_zscore};
  for (std::uint32_t f = 0; f < 50; ++f) {
    std::vector<double> cuts;
    for (std::size_t i = f % 7; i > 0; --i) {
      double x = 0;
      do {
        x = std::bit_cast<double>(engine());
      } while (!std::isfinite(x));
      cuts.push_back(x);
    }
    std::sort(cuts.begin(), cuts.end());
    fitted.features.push_back({f * f, cuts});
  }
  fitted.features.push_back(
      {2147483647,
       {-std::numeric_limits<double>::max(), -0.0, 5e-324, std::numeric_limits<double>::max()}});
  std::string const text = to_json(fitted).dump(1);
  expect_same(discretizer_from_json(nlohmann::json::parse(text), "x"), fitted);

  testing_tools::temporary_folder folder;
  write_file(folder / "m.json", text);
  expect_same(read_discretizer(folder / "m.json"), fitted);
  output_file out(folder / "written.json");
  write_discretizer(fitted, out);
  out.commit();
  EXPECT_EQ(read_file(folder / "written.json", "cuts"), text + "\n");
  EXPECT_EQ(text.find("columns"), std::string::npos);  // unknown here
  fitted.columns = 2147483647;
  expect_same(discretizer_from_json(nlohmann::json::parse(to_json(fitted).dump()), "x"), fitted);
}

TEST(discretizer_json, says_where_it_is_wrong) {
  std::string const good =
      R"({"format":"rulerank-discretizer","version":1,"method":"tube","bins":3,)"
      R"("missing_values":"item","unlisted":"zero","norm":"none",)"
      R"("features":[{"feature":1,"cuts":[0.5,1]},{"feature":3,"cuts":[]}]})";
  struct fault {
    std::string from, to, says;
  };
  std::vector<fault> const faults{
      {R"("rulerank-discretizer")", R"("rulerank-model")", "format: found 'rulerank-model'"},
      {R"("version":1)", R"("version":3)", "version: found 3"},
      {R"("version":1)", R"("version":2)", "features[0].name: not found"},
      {R"("version":1,)", "", "version: not found"},
      {R"("tube")", R"("tubes")", "method: found 'tubes', expected one of tube, width, frequency"},
      {R"("tube")", "7", "method: found 7, expected a string"},
      {R"("bins":3)", R"("bins":1)", "bins: found 1"},
      {R"("bins":3)", R"("bins":251)", "bins: found 251"},
      {R"("bins":3)", R"("bins":3.5)", "bins: found 3.5"},
      {R"("bins":3)", R"("bins":2)", "features[0].cuts: found 2 cuts, expected at most 1"},
      {R"("item")", R"("items")", "missing_values: found 'items'"},
      {R"("zero")", R"("null")", "unlisted: found 'null'"},
      {R"("none")", R"("l2")", "norm: found 'l2'"},
      {R"("feature":3)", R"("feature":1)", "features[1].feature: found 1 after 1"},
      {R"("feature":3)", R"("feature":-3)", "features[1].feature: found -3"},
      {R"("feature":3)", R"("feature":2147483648)", "features[1].feature: found 2147483648"},
      {"[0.5,1]", "[1,0.5]", "features[0].cuts: found 0.5 after 1"},
      {"[0.5,1]", "[1,1]", "features[0].cuts: found 1 after 1"},
      {"[0.5,1]", "[null]", "features[0].cuts: found null, expected a finite number"},
      {"[0.5,1]", R"(["1"])", "features[0].cuts: found string"},
      {"[0.5,1]", "{}", "features[0].cuts: found object, expected a list"},
      {"[0.5,1]", "[0.5,1", "m.json:1:"},
      {"[0.5,1]", "[0.5,1e999]", ": found 1e999, expected a number that a double holds"},
      {R"("bins":3)", R"("bins":3,"columns":0)", "columns: found 0, expected an integer"},
      {R"({"feature":3,"cuts":[]})", "3", "features[1]: found 3, expected an object"},
  };
  testing_tools::temporary_folder folder;
  std::string const path = folder / "m.json";
  write_file(path, good);
  ASSERT_NO_THROW(read_discretizer(path));
  for (fault const& f : faults) {
    std::string bad = good;
    ASSERT_NE(bad.find(f.from), std::string::npos) << f.from;
    bad.replace(bad.find(f.from), f.from.size(), f.to);
    write_file(path, bad);
    std::string const said = complaint_of(path, [&] { read_discretizer(path); });
    EXPECT_TRUE(said.starts_with(":1:")) << said;
    EXPECT_NE((path + said).find(f.says), std::string::npos) << said;
  }
  for (std::string const& text : {std::string(), std::string("[]"), std::string("\xff{}")}) {
    write_file(path, text);
    EXPECT_THROW(read_discretizer(path), error);
  }
  EXPECT_THROW(read_discretizer(folder / "absent.json"), error);
  EXPECT_THROW(read_discretizer(folder.path().string()), error);
}

TEST(discretizer_json, faults_of_the_text_have_line_and_column) {
  testing_tools::temporary_folder folder;
  input_and_message const rows[] = {
      {"{\n  \"format\": ?\n}\n", ":2:13:..."},
      {"1e999", ":1:1:..."},
      {"{\n  \"a\": 1,\n  \"b\": [2.5, -1e999, 3]\n}\n", ":3:14:..."},
      {"[0,\n1\n,\n 1e400\n]", ":4:2:..."},
      {"", ":1:1:..."},
      // Deep enough to overflow the stack of a recursive parser.
      {"{\n\"bins\":" + std::string(80'000, '[') + std::string(80'000, ']') + "}", ":2:507:..."},
  };
  expect_messages(rows, [&](std::string const& text) {
    write_file(folder / "m.json", text);
    return complaint_of(folder / "m.json", [&] { read_discretizer(folder / "m.json"); });
  });
}

TEST(discretizer_words, there_and_back) {
  for (binning const m : {binning::tube, binning::width, binning::frequency})
    EXPECT_EQ(binning_from(name_of(m)), m);
  for (missing_values const m : all_missing) EXPECT_EQ(missing_values_from(name_of(m)), m);
  for (unlisted_values const u : all_unlisted) EXPECT_EQ(unlisted_values_from(name_of(u)), u);
  for (normalization const n :
       {normalization::none, normalization::query_minmax, normalization::query_zscore})
    EXPECT_EQ(normalization_from(name_of(n)), n);
  EXPECT_THROW(binning_from("Tube"), usage_error);
  EXPECT_THROW(missing_values_from(""), usage_error);
  EXPECT_THROW(unlisted_values_from("one"), usage_error);
  EXPECT_THROW(normalization_from("query_minmax"), usage_error);
}

/// The cuts of two published collections, with 17 digits.
TEST(discretizer_real_data, golden_cuts) {
  for (std::string const set : {"OHSUMED", "MQ2008"}) {
    RULERANK_REAL_DATA(train_path, "letor/" + set + "/Fold1/train.txt");
    RULERANK_REAL_DATA(golden, "golden-definitions");
    dataset const train = read_svmlight({}, train_path);
    for (binning const method : {binning::tube, binning::width, binning::frequency}) {
      std::map<std::uint32_t, std::vector<double>> expected;
      std::ifstream in(golden + "/" + set + ".Fold1." + std::string(name_of(method)) + ".cuts.tsv");
      for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::uint32_t feature = 0;
        words >> feature;
        std::vector<double>& cuts = expected[feature];
        for (std::string word; words >> word;) cuts.push_back(std::strtod(word.c_str(), nullptr));
      }
      ASSERT_GE(expected.size(), 45U);
      discretizer_options options;
      options.method = method;
      for (int const threads : {1, 2, 5}) {
        discretizer const fitted = fit_discretizer(with_threads(threads), train, options);
        for (feature_cuts const& f : fitted.features)
          EXPECT_EQ(f.cuts, expected[f.feature]) << set << " feature " << f.feature;
        EXPECT_EQ(fitted.features.size(), expected.size());
      }
    }
  }
}

}  // namespace
}  // namespace rulerank::datasets::discretizer_test
