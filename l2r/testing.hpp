#pragma once
// Binned sets for the tests and benches of this module.

#include "core/random.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/rules/ranker_reference.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::testing_tools {

/// Queries of 20 documents with six features: the label rises with the first and falls with the
/// second; the third misses some values; the rest is random.
inline datasets::dataset random_set(std::size_t documents, std::uint64_t seed) {
  random_engine engine(seed);
  std::string text;
  for (std::size_t d = 0; d < documents; ++d) {
    std::uint64_t const a = uniform_below(engine, 40), b = uniform_below(engine, 40);
    std::uint64_t const c = uniform_below(engine, 40);
    std::uint64_t const sum = a + (39 - b) + uniform_below(engine, 30);
    text +=
        fmt::format("{} qid:{} 1:{} 2:{} 3:{} 5:{} 6:{} 7:{}\n", sum * 3 / 109, d / 20, a, b,
                    c % 5 == 0 ? "NULL" : fmt::format("{}", (a + c) / 2), uniform_below(engine, 40),
                    uniform_below(engine, 3), uniform_below(engine, 40));
  }
  return datasets::parse_svmlight(context{}, text, "random");
}

struct drawn_shape {
  std::size_t documents = 40;
  std::size_t features = 6;
  std::uint32_t bins = 4;
  std::vector<std::int32_t> labels{0, 1, 2};  ///< sampled from, earlier ones more often
  double missing = 0;      ///< share of (missing) items; the item exists when above 0
  double absent = 0;       ///< share of values without an item
  double heaviness = 0.6;  ///< share of a feature's first bin, then of what is left, and so on
};

/// Geometric bins, correlated within a document as features of one query are.
inline datasets::binned_dataset drawn_set(drawn_shape const& shape, std::uint64_t seed) {
  random_engine draw(seed);
  datasets::binned_dataset set;
  set.documents = shape.documents;
  set.stride = round_up(shape.documents, alignment);
  set.item_begin.push_back(0);
  std::uint32_t const bins = shape.bins + (shape.missing > 0 ? 1 : 0);
  for (std::size_t f = 0; f < shape.features; ++f) {
    set.features.push_back(static_cast<std::uint32_t>(2 * f + 1));
    set.item_begin.push_back(set.item_begin.back() + bins);
    set.has_missing_item.push_back(shape.missing > 0);
  }
  set.codes.assign(shape.features * set.stride, datasets::no_item);
  for (std::size_t d = 0; d < shape.documents; ++d) {
    double const lean = uniform_unit(draw);
    for (std::size_t f = 0; f < shape.features; ++f) {
      std::uint8_t& code = set.codes[f * set.stride + d];
      double const kind = uniform_unit(draw);
      if (kind < shape.absent) continue;
      if (kind < shape.absent + shape.missing) {
        code = static_cast<std::uint8_t>(bins - 1);
        continue;
      }
      code = 0;
      while (code + 1U < shape.bins && uniform_unit(draw) * (0.5 + lean) > shape.heaviness) ++code;
    }
    std::size_t k = 0;
    while (k + 1 < shape.labels.size() && uniform_unit(draw) < 0.35 + 0.2 * lean) ++k;
    set.labels.push_back(shape.labels.empty() ? 0 : shape.labels[k]);
    set.max_label = std::max(set.max_label, set.labels.back());
  }
  return set;
}

/// The items of document d.
inline std::vector<rules::item> items_of(datasets::binned_dataset const& set, std::size_t d) {
  std::vector<rules::item> items;
  for (std::size_t f = 0; f < set.feature_count(); ++f)
    if (set.code(f, d) != datasets::no_item) items.push_back(set.item_begin[f] + set.code(f, d));
  return items;
}

inline std::vector<reference::document> documents_of(datasets::binned_dataset const& set) {
  std::vector<reference::document> documents;
  for (std::size_t d = 0; d < set.documents; ++d)
    documents.push_back({items_of(set, d), set.labels[d]});
  return documents;
}

struct real_fold {
  datasets::binned_dataset training, test;
};

/// The first lines of a fold's sets, binned by the training lines.
inline real_fold read_fold(std::string const& folder, datasets::binning method,
                           std::size_t train_lines, std::size_t test_lines) {
  context const ctx;
  auto first = [](datasets::dataset const& data, std::size_t count) {
    std::vector<std::size_t> chosen(std::min(count, data.size()));
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return datasets::subset(data, chosen);
  };
  auto const train = first(datasets::read_svmlight(ctx, folder + "/train.txt"), train_lines);
  auto const test = first(datasets::read_svmlight(ctx, folder + "/test.txt"), test_lines);
  datasets::discretizer_options options;
  options.method = method;
  auto const cuts = datasets::fit_discretizer(ctx, train, options);
  return {datasets::apply_discretizer(ctx, train, cuts),
          datasets::apply_discretizer(ctx, test, cuts)};
}

/// A file of scores by the definition: set, binning, rule size.
using golden_case = std::tuple<std::string, std::string, int>;
inline auto golden_cases() {
  return ::testing::Combine(::testing::Values("OHSUMED", "MQ2008"),
                            ::testing::Values("tube", "width", "frequency"),
                            ::testing::Values(3, 4));
}
inline std::string golden_name(::testing::TestParamInfo<golden_case> const& of) {
  auto const& [set, method, size] = of.param;
  return fmt::format("{}_{}_{}", set, method, size);
}
inline std::string golden_scores_of(golden_case const& of) {
  auto const& [set, method, size] = of;
  return fmt::format("golden-definitions/{}.Fold1.{}.size{}.train500.test100.scores.txt", set,
                     method, size);
}
inline std::vector<double> numbers_in(std::string const& path) {
  std::ifstream file(path);
  std::vector<double> numbers;
  for (double number; file >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace rulerank::l2r::testing_tools
