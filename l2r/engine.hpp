#pragma once

#include "core/context.hpp"
#include "l2r/prepared_training.hpp"
#include "l2r/ranker.hpp"

#include <memory>

namespace rulerank::l2r {

/// One way to compute the score. One call at a time, but for engines whose entry says that they
/// keep no state.
class scoring_engine {
 public:
  virtual ~scoring_engine() = default;
  /// Fills `result.scores` and what else the engine knows.
  virtual void score(context const& ctx, known_items const& test, scored& result) = 0;
};

/// The engines, each in its own file. They keep a reference to `training`.
std::unique_ptr<scoring_engine> make_lrar(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_project(context const& ctx, prepared_training const& training);

/// Engines on the GPUs of the context; in builds with CUDA.
std::unique_ptr<scoring_engine> make_tensor(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_plrar(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_profl_t(context const& ctx, prepared_training const& training);
std::unique_ptr<scoring_engine> make_profl(context const& ctx, prepared_training const& training);

}  // namespace rulerank::l2r
