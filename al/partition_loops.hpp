#pragma once

#include "al/sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace rulerank::inline v0::al {

/// The loops of all partitions of a sampling (Algorithm 3), each as far as it has gone. One call at
/// a time.
class partition_loops {
 public:
  /// Called for each choice of a partition, in its order; gives the document's label. Partitions
  /// that go on side by side call it at once.
  using chosen_fn = std::function<std::int32_t(std::size_t partition, std::size_t document,
                                               std::size_t iteration, std::uint64_t rules)>;

  virtual ~partition_loops() = default;
  /// Every partition goes on until it has chosen `iterations` documents (0: no limit) or is done.
  virtual void advance(context const& ctx, std::size_t iterations, chosen_fn const& chosen) = 0;
  /// One partition alone.
  virtual void advance(context const& ctx, std::size_t q, std::size_t iterations,
                       chosen_fn const& chosen) = 0;
  /// Some of them, one after the other or side by side.
  virtual void advance(context const& ctx, std::span<std::size_t const> some,
                       std::size_t iterations, chosen_fn const& chosen);
  /// Makes what partition q needs before its first choice, unless that is done; `next_document`,
  /// `next_rules` and `drop_next` come after it.
  virtual void start(std::size_t q);
  /// Whether the stop rule, or the lack of documents, has ended partition q.
  virtual bool done(std::size_t q) const = 0;
  /// The document that partition q would choose next, unless it is done.
  virtual std::size_t next_document(std::size_t q) const = 0;
  virtual partition_report const& report(std::size_t q) const = 0;

  /// What engines on the CPU alone can do; the others throw `usage_error`.
  /// The valid rules of `next_document` over the sample.
  virtual std::uint64_t next_rules(std::size_t q) const;
  /// Goes on without `next_document`, which is never chosen.
  virtual void drop_next(std::size_t q);
  /// Valid rules over the sample of all partitions; counted by `delta` alone, others give 0.
  virtual std::uint64_t rules_in_sample() const;
};

}  // namespace rulerank::al
