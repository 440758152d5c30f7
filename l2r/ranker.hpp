#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

namespace rulerank::l2r {

struct engine_knobs;  // private: of tests and benchmarks

struct ranking_timings {
  double prepare_s = 0;     ///< index, tables, engine: once a ranker
  double discretize_s = 0;  ///< this call: documents to items, where the call began with documents
  double score_s = 0;       ///< this call: items to scores
  /// On GPUs: from the first kernel's start to the last one's end, of the slowest device.
  double device_s = 0;
};

/// Look-ups of itemsets of one size in a cache.
struct cache_lookups {
  std::uint64_t hits = 0;         ///< of the itemset itself
  std::uint64_t misses = 0;       ///< those included that no cache was there for
  std::uint64_t prefix_hits = 0;  ///< of the first items of a larger itemset that was missed
  std::uint64_t prefix_misses = 0;
};

struct scored {
  std::vector<double> scores;                   ///< [documents], in the order given
  l2r::engine engine = l2r::engine::automatic;  ///< that ran; automatic: none, for other kinds
  /// This call's look-ups, where the engine has a cache of itemsets. lrar: of all itemsets. profl,
  /// profl-t: of those of the largest size, from two items on; the sum is documents x C(m, size),
  /// with m a document's known items. Itemsets that no cache was there for are misses.
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  std::uint64_t prefix_lookups = 0;  ///< profl, profl-t: for the first items of what was missed
  /// profl, profl-t: this call's look-ups of itemsets of k items, from k = 2 on, over all devices;
  /// hits and misses add up to documents x C(m, k). Empty for other engines.
  std::vector<cache_lookups> cache_by_size;
  std::uint64_t cache_slots = 0;  ///< profl, profl-t: itemsets that each device's cache can hold
  ranking_timings timings;

  /// What other processes are told: all but seconds and what is counted by size.
  static auto members_of(auto& part) {
    return std::tie(part.scores, part.engine, part.cache_hits, part.cache_misses,
                    part.prefix_lookups);
  }
};

/// Ranks documents by the association rules of a training set (Freitas 2017, Algorithm 5;
/// docs/definitions.md, Ranking). Prepared once, it scores any number of test sets, down to one
/// document. Scores are a function of the training set, the document and the options: engines and
/// threads give the same bits.
///
/// Threads: `score` may be called from any number of threads at once, each with a context of its
/// own. Calls of `project` then run side by side; those of engines that keep state between calls
/// (`engine_description::keeps_state`) wait for each other.
class ranker {
 public:
  /// Throws `usage_error` for options that make no sense or a training set without documents or
  /// with unlabelled ones, `device_error` for an engine that cannot run where the context says.
  ranker(context const& ctx, datasets::binned_dataset const& training,
         ranker_options const& options = {});
  ranker(context const& ctx, datasets::binned_dataset const& training,
         ranker_options const& options, engine_knobs const& knobs);
  ~ranker();
  ranker(ranker&&) noexcept;
  ranker& operator=(ranker&&) noexcept;

  /// Scores every document of a test set with the training set's cuts. Features are matched by
  /// number; those that only one of the two has are left out. Labels are not looked at. Throws
  /// `usage_error` when a feature's bins differ from the training set's, and for rules of so many
  /// items that it would take days.
  scored score(context const& ctx, datasets::binned_dataset const& test) const;

  /// The engine that runs; never `automatic`.
  l2r::engine engine() const noexcept;
  /// For this module's own code.
  prepared_training const& prepared() const noexcept;

 private:
  engine_description const* entry_ = nullptr;
  std::unique_ptr<prepared_training const> prepared_;
  std::unique_ptr<scoring_engine> engine_;
  std::unique_ptr<std::mutex> one_call_;  // null: the engine keeps no state
  double prepare_s_ = 0;
  long_work_fn long_work_;
};

/// The documents begin..end - 1 in the order of a ranking: score descending, ties in input order.
std::vector<std::size_t> ranking(std::span<double const> scores, std::size_t begin,
                                 std::size_t end);

}  // namespace rulerank::l2r
