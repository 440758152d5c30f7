#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/rules/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

namespace rulerank::inline v0::l2r {

struct ranking_timings {
  double prepare_s = 0;     ///< index, tables, engine: once a ranker
  double discretize_s = 0;  ///< this call: documents to items, where the call began with documents
  double score_s = 0;       ///< this call: items to scores
  /// On GPUs: from the first kernel's start to the last one's end, of the slowest device.
  double device_s = 0;
};

struct scored {
  std::vector<double> scores;                   ///< [documents], in the order given
  l2r::engine engine = l2r::engine::automatic;  ///< that ran; automatic: none, for other kinds
  engine_counts counts;
  ranking_timings timings;

  /// Processes send each other everything but seconds.
  static auto members_of(auto& part) { return std::tie(part.scores, part.engine, part.counts); }
};

/// Ranks documents by the association rules of a training set (Freitas 2017, Algorithm 5;
/// docs/reference/definitions.md, Ranking). Prepared once, it scores any number of test sets, down
/// to one document. Scores are a function of the training set, the document and the options:
/// engines and threads give the same bits.
///
/// Threads: `score` may be called from any number of threads at once, each with a context of its
/// own. Calls of `project` then run side by side; calls of engines that keep a cache or buffers
/// between calls wait for each other.
class ranker {
 public:
  /// Throws `usage_error` for options that make no sense or a training set without documents or
  /// with unlabelled ones, `device_error` for an engine that cannot run where the context says.
  ranker(context const& ctx, datasets::binned_dataset const& training,
         ranker_options const& options = {});
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

 private:
  friend struct ranker_access;
  struct state;
  explicit ranker(std::unique_ptr<state const> made);
  std::unique_ptr<state const> state_;
};

/// The documents begin..end - 1 in the order of a ranking: score descending, ties in input order.
std::vector<std::size_t> ranking(std::span<double const> scores, std::size_t begin,
                                 std::size_t end);

}  // namespace rulerank::l2r
