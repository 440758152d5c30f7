#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/options.hpp"
#include "l2r/score_table.hpp"
#include "rules/itemset.hpp"
#include "rules/vertical_index.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rulerank::l2r {

struct ranking_timings {
  double prepare_s = 0;  ///< index, tables, engine: once a ranker
  double score_s = 0;    ///< this call
  /// On GPUs: from the first kernel's start to the last one's end, of the slowest device.
  double device_s = 0;
};

struct scored {
  std::vector<double> scores;                   ///< [documents], in the order given
  l2r::engine engine = l2r::engine::automatic;  ///< the one that ran
  /// This call's look-ups, where the engine has a cache of itemsets. lrar: of all itemsets. profl,
  /// profl-t: of those of the largest size, from two items on; the sum is documents x C(m, size),
  /// with m a document's known items. Itemsets that no cache was there for are misses.
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  std::uint64_t prefix_lookups = 0;  ///< profl, profl-t: for the first items of what was missed
  ranking_timings timings;
};

/// What every engine needs of a training set, made once.
struct prepared_training {
  /// `training` has the features that rules are made of: `how.feature_share` is not looked at.
  prepared_training(datasets::binned_dataset const& training, ranker_options const& how);

  ranker_options options;
  std::vector<std::uint32_t> features;
  std::vector<std::uint32_t> item_begin;
  std::vector<bool> has_missing_item;
  rules::vertical_index index;
  score_table table;
};

inline constexpr rules::item no_known_item = std::numeric_limits<rules::item>::max();

/// Test documents seen as items of the training set. A feature or a bin that the training set does
/// not have makes no item, nor does an item that no training document holds.
class known_items {
 public:
  /// Keeps references to both. Throws `usage_error` when a feature's bins are not the same.
  known_items(prepared_training const& training, datasets::binned_dataset const& test);

  std::size_t documents() const noexcept { return test_.documents; }
  std::size_t feature_count() const noexcept { return columns_.size(); }
  /// The test set's codes in the training set's column f; null where it does not have the feature.
  std::uint8_t const* codes(std::size_t f) const { return columns_[f]; }
  /// The training item that a code of column f stands for, or `no_known_item`.
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

/// One way to compute the score. May keep state between calls (a cache); one call at a time.
class scoring_engine {
 public:
  virtual ~scoring_engine() = default;
  /// Fills `result.scores` and what else the engine knows.
  virtual void score(context const& ctx, known_items const& test, scored& result) = 0;
};

/// The engines, each in its own file. They keep a reference to `training`.
std::unique_ptr<scoring_engine> make_lrar(prepared_training const& training);
std::unique_ptr<scoring_engine> make_project(prepared_training const& training);

/// Engines on the GPUs of the context; in builds with CUDA.
std::unique_ptr<scoring_engine> make_tensor(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_plrar(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_profl_t(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_profl(context const& ctx, prepared_training const& training);

}  // namespace rulerank::l2r
