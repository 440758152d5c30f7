#pragma once

#include "al/sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace rulerank::inline v0::al {

/// The loops of all partitions of a sampling (Algorithm 3), with their progress. Not thread-safe.
class partition_loops {
 public:
  /// Called for each choice of a partition, in order; must return the document's label. Concurrent
  /// partitions call it concurrently.
  using chosen_fn = std::function<std::int32_t(std::size_t partition, std::size_t document,
                                               std::size_t iteration, std::uint64_t rules)>;

  virtual ~partition_loops() = default;
  /// Advances every partition until it has chosen `iterations` documents (0: no limit) or is done.
  virtual void advance(context const& ctx, std::size_t iterations, chosen_fn const& chosen) = 0;
  /// As above, for one partition.
  virtual void advance(context const& ctx, std::size_t q, std::size_t iterations,
                       chosen_fn const& chosen) = 0;
  /// As above, for some partitions, in sequence or in parallel.
  virtual void advance(context const& ctx, std::span<std::size_t const> some,
                       std::size_t iterations, chosen_fn const& chosen);
  /// Prepares partition q for its first choice, if not done yet. Required before `next_document`,
  /// `next_rules` and `drop_next`.
  virtual void start(std::size_t q);
  /// Whether the stop rule or the lack of documents has ended partition q.
  virtual bool done(std::size_t q) const = 0;
  /// The next choice of partition q, unless it is done.
  virtual std::size_t next_document(std::size_t q) const = 0;
  virtual partition_report const& report(std::size_t q) const = 0;

  /// The number of valid rules of `next_document` over the sample. GPU engines throw `usage_error`
  /// here and in `drop_next`.
  virtual std::uint64_t next_rules(std::size_t q) const;
  /// Excludes `next_document` from being chosen.
  virtual void drop_next(std::size_t q);
  /// The number of valid rules over the samples of all partitions; 0 for engines other than
  /// `delta`.
  virtual std::uint64_t rules_in_sample() const;
};

}  // namespace rulerank::al
