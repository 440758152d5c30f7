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
  double prepare_s = 0;     ///< index, tables, engine: once per ranker
  double discretize_s = 0;  ///< this call: documents to items, if the call got raw documents
  double score_s = 0;       ///< this call: items to scores
  /// On GPUs: from the start of the first kernel to the end of the last, on the slowest device.
  double device_s = 0;
};

struct scored {
  std::vector<double> scores;                   ///< [documents], in the order given
  l2r::engine engine = l2r::engine::automatic;  ///< in use; `automatic`: none, for other kinds
  engine_counts counts;
  ranking_timings timings;
  /// Calls whose documents the engine scored together, this one included.
  std::size_t joined_calls = 1;

  /// Everything that processes send each other: no times.
  static auto members_of(auto& part) { return std::tie(part.scores, part.engine, part.counts); }
};

/// Ranks documents by the association rules of a training set (Freitas 2017, Algorithm 5;
/// docs/reference/definitions.md, Ranking). Made once, it scores any number of test sets, down to
/// one document. Scores depend on the training set, the document and the scoring options alone: the
/// same bits for all engines and any number of threads.
///
/// Threads: `score` may be called from any number of threads at once, each with its own context.
/// Calls of `project` run concurrently; calls of engines that keep a cache or buffers between calls
/// wait for each other. Calls that wait for `tensor` are joined: it scores the documents of several
/// calls together. A joined call cannot be stopped and reports no progress.
class ranker {
 public:
  /// Throws `usage_error` for invalid options and for a training set without documents or with
  /// unlabelled ones, `device_error` if the engine cannot run on the context's devices.
  ranker(context const& ctx, datasets::binned_dataset const& training,
         ranker_options const& options = {});
  ~ranker();
  ranker(ranker&&) noexcept;
  ranker& operator=(ranker&&) noexcept;

  /// Scores every document of a test set binned with the training set's cuts. Matches features by
  /// number and ignores those that only one set has. Ignores labels. Throws `usage_error` if a
  /// feature's bins differ from the training set's, and if the rule size would take days.
  scored score(context const& ctx, datasets::binned_dataset const& test) const;

  /// The engine in use; never `automatic`.
  l2r::engine engine() const noexcept;

 private:
  friend struct ranker_access;
  struct state;
  explicit ranker(std::unique_ptr<state const> made);
  std::unique_ptr<state const> state_;
};

/// The documents begin..end - 1 in ranking order: by descending score, ties in input order.
std::vector<std::size_t> ranking(std::span<double const> scores, std::size_t begin,
                                 std::size_t end);

}  // namespace rulerank::l2r
