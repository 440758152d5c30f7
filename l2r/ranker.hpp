#pragma once

#include "l2r/engine.hpp"

#include <memory>
#include <span>
#include <vector>

namespace rulerank::l2r {

/// Ranks documents by the association rules of a training set (Freitas 2017, Algorithm 5;
/// docs/definitions.md, Ranking). Prepared once, it scores any number of test sets, down to one
/// document. Scores are a function of the training set, the document and the options: engines and
/// threads give the same bits.
class ranker {
 public:
  /// Throws `usage_error` for options that make no sense, an engine that cannot run where the
  /// context says, or a training set without documents or with unlabelled ones.
  ranker(context const& ctx, datasets::binned_dataset const& training,
         ranker_options const& options = {});
  ~ranker();
  ranker(ranker&&) noexcept;
  ranker& operator=(ranker&&) noexcept;

  /// Scores every document of a test set with the training set's cuts. Features are matched by
  /// number; those that only one of the two has are left out. Labels are not looked at. One call at
  /// a time. Throws `usage_error` when a feature's bins differ from the training set's.
  scored score(context const& ctx, datasets::binned_dataset const& test);

  /// The engine that runs; never `automatic`.
  l2r::engine engine() const noexcept;
  prepared_training const& prepared() const noexcept;

 private:
  l2r::engine which_;
  std::unique_ptr<prepared_training const> prepared_;
  std::unique_ptr<scoring_engine> engine_;
  double prepare_s_ = 0;
};

/// The documents begin..end - 1 in the order of a ranking: score descending, ties in input order.
std::vector<std::size_t> ranking(std::span<double const> scores, std::size_t begin,
                                 std::size_t end);

}  // namespace rulerank::l2r
