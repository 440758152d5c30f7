#pragma once

#include "datasets/discretizer.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/rules/score_table.hpp"
#include "rules/itemset.hpp"
#include "rules/vertical_index.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace rulerank::inline v0::l2r {

/// The training set's data that all engines share, made once.
struct prepared_training {
  /// `training` has only the features that rules may use; `how.feature_share` is ignored.
  prepared_training(datasets::binned_dataset const& training, scoring_options const& how,
                    std::size_t cache_bytes = default_cache_bytes, engine_knobs const& knobs = {});

  scoring_options options;
  std::size_t cache_bytes;
  engine_knobs knobs;
  std::vector<std::uint32_t> features;
  std::vector<std::uint32_t> item_begin;
  std::vector<bool> has_missing_item;
  rules::vertical_index index;
  score_table table;
};

inline constexpr rules::item no_known_item = std::numeric_limits<rules::item>::max();

/// Test documents as items of the training set. A feature or bin that the training set lacks, or an
/// item that no training document holds, gives no item.
class known_items {
 public:
  /// Keeps references to both. Throws `usage_error` if a feature's bins differ.
  known_items(prepared_training const& training, datasets::binned_dataset const& test);

  std::size_t documents() const noexcept { return test_.documents; }
  std::size_t feature_count() const noexcept { return columns_.size(); }
  /// The test set's codes for the training set's column f; null if it lacks the feature.
  std::uint8_t const* codes(std::size_t f) const { return columns_[f]; }
  /// The training item of a code of column f, or `no_known_item`.
  rules::item item_of(std::size_t f, std::uint8_t code) const {
    if (code >= bins_[f]) return no_known_item;
    rules::item const x = training_.item_begin[f] + code;
    return training_.index.item_support(x) == 0 ? no_known_item : x;
  }
  /// The training item of document d in the training set's column f, or `no_known_item`.
  rules::item at(std::size_t f, std::size_t d) const {
    return columns_[f] == nullptr ? no_known_item : item_of(f, columns_[f][d]);
  }

 private:
  prepared_training const& training_;
  datasets::binned_dataset const& test_;
  std::vector<std::uint8_t const*> columns_;  // [training columns] null: not in the test set
  std::vector<std::uint32_t> bins_;
};

}  // namespace rulerank::l2r
