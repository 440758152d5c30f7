#pragma once

#include "al/labelling.hpp"
#include "core/random.hpp"
#include "datasets/discretizer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

// Helpers for the samplers' tests.
namespace rulerank::inline v0::al {

/// Random `bins` codes per feature, skewed to the first ones; one in `absent` has no item. Without
/// labels.
inline datasets::binned_dataset drawn_items(random_engine& engine, std::size_t documents,
                                            std::size_t features, std::uint32_t bins,
                                            std::uint64_t absent) {
  datasets::binned_dataset data;
  data.documents = documents;
  data.stride = round_up(documents, 64);
  data.codes.assign(features * data.stride, datasets::no_item);
  data.item_begin = {0};
  for (std::size_t f = 0; f < features; ++f) {
    data.features.push_back(static_cast<std::uint32_t>(f + 1));
    data.has_missing_item.push_back(false);
    data.item_begin.push_back(data.item_begin.back() + bins);
    for (std::size_t d = 0; d < documents; ++d)
      if (uniform_below(engine, absent) != 0)
        data.codes[f * data.stride + d] =
            static_cast<std::uint8_t>(uniform_below(engine, 1 + uniform_below(engine, bins)));
  }
  return data;
}

/// As above, with random labels 0..max_label.
inline datasets::binned_dataset random_data(std::uint64_t seed, std::size_t documents,
                                            std::size_t features, std::uint32_t bins,
                                            std::int32_t max_label, std::uint64_t absent = 10) {
  random_engine engine(seed);
  datasets::binned_dataset data = drawn_items(engine, documents, features, bins, absent);
  data.max_label = max_label;
  for (std::size_t d = 0; d < documents; ++d)
    data.labels.push_back(static_cast<std::int32_t>(
        uniform_below(engine, static_cast<std::uint64_t>(max_label) + 1)));
  return data;
}

inline datasets::binned_dataset without_labels(datasets::binned_dataset data) {
  std::fill(data.labels.begin(), data.labels.end(), datasets::unlabelled);
  return data;
}

inline std::vector<std::size_t> documents_of(std::vector<question> const& questions) {
  std::vector<std::size_t> documents;
  for (question const& q : questions) documents.push_back(q.document);
  return documents;
}

/// Expects the same documents by the same choices.
inline void expect_same(sample const& found, sample const& expected) {
  EXPECT_EQ(found.documents, expected.documents);
  ASSERT_EQ(found.choices.size(), expected.choices.size());
  for (std::size_t i = 0; i < found.choices.size(); ++i) {
    EXPECT_EQ(found.choices[i].document, expected.choices[i].document) << i;
    EXPECT_EQ(found.choices[i].partition, expected.choices[i].partition) << i;
    EXPECT_EQ(found.choices[i].iteration, expected.choices[i].iteration) << i;
    EXPECT_EQ(found.choices[i].rules, expected.choices[i].rules) << i;
    EXPECT_EQ(found.choices[i].why, expected.choices[i].why) << i;
    EXPECT_EQ(found.choices[i].rule_size, expected.choices[i].rule_size) << i;
  }
}

}  // namespace rulerank::al
