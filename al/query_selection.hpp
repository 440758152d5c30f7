#pragma once

#include "al/selection.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rulerank::inline v0::al {

/// Selective sampling of whole queries (docs/reference/definitions.md, Sampling). All partitions
/// choose together, by the rule counts of SSARP: with one partition and one document per query, the
/// choices are SSARP's.
///
/// A document's rules are those of all partitions. The first query is the one with the largest mean
/// doc_occurs of its documents (ties: the last query). Each further query is the one with the
/// fewest rules over the sample, averaged over its documents (ties: the smaller mean doc_occurs,
/// then the last query), until that one was already chosen: the rules have run dry. Documents
/// without an item and excluded documents do not count in means; queries with only such documents
/// are never chosen by rules. With `fills`, the other queries follow in the same order, those
/// without an item last.
class query_sampler {
 public:
  /// Query q has the documents query_begin[q] .. query_begin[q + 1] - 1. Keeps references to the
  /// arguments. `counters`: one per partition, of a CPU engine. `ties`: all documents in tie order;
  /// among equal queries the one with the first document wins. Empty: the last query wins.
  query_sampler(std::vector<partition> const& parts,
                std::vector<std::unique_ptr<rule_counter>> counters,
                std::span<std::size_t const> query_begin, std::span<std::uint32_t const> ties = {},
                bool fills = false);

  /// The next query to choose; empty if the sampling has ended.
  std::optional<std::size_t> next() const noexcept { return next_; }
  /// Chooses `next()`, given a label for each of its documents, empty for excluded ones. If all are
  /// excluded, the query is not chosen and never considered again.
  void add(context const& ctx, std::span<std::optional<std::int32_t> const> labels);

  std::size_t chosen() const noexcept { return chosen_count_; }
  /// Whether the stop rule has applied; `next()` then is one of the other queries.
  bool ran_dry() const noexcept { return stopped_after_.has_value(); }
  /// The number of valid rules of a document over the sample, summed over partitions.
  std::uint64_t rules(std::size_t document) const { return rules_[document]; }
  std::uint64_t rules_in_sample() const;
  /// A report on all partitions as one, with queries as iterations.
  partition_report report() const;

 private:
  struct query {
    std::uint64_t documents = 0;  // documents that count in means
    std::uint64_t occurs = 0;     // sum of their doc_occurs
    std::uint64_t rules = 0;      // sum of their rules over the sample
    bool chosen = false;
    bool closed = false;  // has no document, or only excluded ones
  };

  void find_next();
  template <class Wanted>
  std::optional<std::size_t> best_query(Wanted const& wanted) const;

  std::vector<partition> const& parts_;
  std::vector<std::unique_ptr<rule_counter>> counters_;
  std::span<std::size_t const> query_begin_;
  std::vector<std::vector<std::uint32_t>> positions_;  // [partition][document]
  std::vector<std::uint64_t> occurs_;                  // doc_occurs; 0: no item, or excluded
  std::vector<std::uint64_t> rules_;                   // [documents]
  std::vector<query> queries_;
  std::vector<std::size_t> order_;  // of queries; among equal ones the last wins
  std::size_t with_items_ = 0;
  std::size_t chosen_count_ = 0;
  bool fills_;
  std::optional<std::size_t> stopped_after_;  // queries chosen when the stop rule applied
  std::optional<std::size_t> next_;
};

/// Chooses whole queries, one after the other.
class query_selection final : public selection {
 public:
  /// Throws `usage_error` for a budget smaller than the first query.
  query_selection(sampling_setup const& setup, sampling_engine const& engine,
                  shared_partitions parts);

  void advance(label_source& labels) override;
  std::uint64_t rules_in_sample() const override { return queries_.rules_in_sample(); }
  sample take() const override;

 private:
  bool beyond_budget(std::size_t query) const;

  sampling_setup const& setup_;
  sampling_engine engine_;
  shared_partitions parts_;
  query_sampler queries_;
  std::vector<choice> choices_;
};

}  // namespace rulerank::al
