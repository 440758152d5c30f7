#pragma once

#include "core/context.hpp"
#include "l2r/rules/engine.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "l2r/rules/ranker.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <mutex>

namespace rulerank::inline v0::l2r {

/// Calls of an engine that scores one call at a time. Calls that come while the engine is busy
/// wait, and are then joined: the engine scores their documents as one call. Several threads may
/// call all functions at once.
class call_queue {
 public:
  /// Keeps references to both. `most_joined`: documents of joined calls; 0 joins none.
  call_queue(scoring_engine& engine, prepared_training const& training, std::size_t most_joined)
      : engine_(engine), training_(training), most_joined_(most_joined) {}

  /// As `scoring_engine::score`. Joined calls cannot be stopped, report no progress and no counts,
  /// and all throw what the engine throws.
  void score(context const& ctx, known_items const& documents, scored& result);

  /// Number of calls that wait for the engine.
  std::size_t waiting() const;

 private:
  struct call {
    context const& ctx;
    known_items const& documents;
    scored& result;
    bool is_done = false;
    std::exception_ptr failure{};
  };
  /// The calls that waited longest, as many as are joined.
  std::list<call*> take();
  void score_now(std::list<call*> const& calls);
  void score_joined(std::list<call*> const& calls);

  scoring_engine& engine_;
  prepared_training const& training_;
  std::size_t most_joined_;
  mutable std::mutex mutex_;         // guards the following
  std::condition_variable changed_;  // calls are done, and the engine is free
  bool is_busy_ = false;
  std::list<call*> waiting_;  // longest first
};

}  // namespace rulerank::l2r
