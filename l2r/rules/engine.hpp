#pragma once

#include "core/context.hpp"
#include "core/engine_registry.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "l2r/rules/ranker.hpp"

#include <memory>

namespace rulerank::inline v0::l2r {

/// An implementation of the score. Not thread-safe, unless its engine_maker has keeps_state false.
class scoring_engine {
 public:
  virtual ~scoring_engine() = default;
  /// Fills `result.scores` and the engine's counters and times.
  virtual void score(context const& ctx, known_items const& test, scored& result) = 0;
};

/// The factory of an engine, which keeps a reference to `training`.
struct engine_maker {
  std::unique_ptr<scoring_engine> (*make)(context const& ctx, prepared_training const& training);
  /// The engine keeps a cache or buffers between calls, so calls must not overlap.
  bool keeps_state;
  /// Calls that wait for the engine may be scored as one. An engine with this flag fills no counts.
  bool joins_calls = false;
};

/// The registry of the module's engines.
engine_registry<engine, engine_maker>& registered_engines();

}  // namespace rulerank::l2r
