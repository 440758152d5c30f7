#pragma once

#include "core/context.hpp"
#include "core/engine_registry.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "l2r/rules/ranker.hpp"

#include <memory>

namespace rulerank::inline v0::l2r {

/// One way to compute the score. One call at a time, but for engines whose entry says that they
/// keep no state.
class scoring_engine {
 public:
  virtual ~scoring_engine() = default;
  /// Fills `result.scores` and what else the engine knows.
  virtual void score(context const& ctx, known_items const& test, scored& result) = 0;
};

/// How an engine is made; it keeps a reference to `training`.
struct engine_maker {
  std::unique_ptr<scoring_engine> (*make)(context const& ctx, prepared_training const& training);
  /// Whether it keeps a cache or buffers between calls: then its calls run one after the other.
  bool keeps_state;
};

/// All engines of the module.
engine_registry<engine, engine_maker>& registered_engines();

}  // namespace rulerank::l2r
