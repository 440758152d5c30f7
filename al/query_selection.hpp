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
/// choose together, and what the choice depends on is the rule counts of SSARP: where each query is
/// one document and there is one partition, these are its documents in its order.
///
/// A document's rules are those of all partitions. The first query is the one whose documents have
/// the largest mean doc_occurs (ties: the last such query); then, again and again, the one whose
/// documents have the fewest rules on average over the sample (ties: the smaller mean doc_occurs,
/// then the last), until that is one already chosen. Documents without an item and those left out
/// count in no mean, and queries of nothing else are never chosen.
class query_sampler {
 public:
  /// Query q has the documents from query_begin[q] up to query_begin[q + 1]. What is referred to
  /// outlives it; a counter for each partition, of an engine on the CPU. `ties`: all documents;
  /// among equal queries the one whose document comes first goes first. Empty: the last query.
  query_sampler(std::vector<partition> const& parts,
                std::vector<std::unique_ptr<rule_counter>> counters,
                std::span<std::size_t const> query_begin, std::span<std::uint32_t const> ties = {});

  /// The query that is chosen next; none where the stop rule has ended it.
  std::optional<std::size_t> next() const noexcept { return next_; }
  /// Chooses `next()`: a label for each of its documents, none for those that are left out. With
  /// all of them left out it is not chosen, and never comes again.
  void add(context const& ctx, std::span<std::optional<std::int32_t> const> labels);

  std::size_t chosen() const noexcept { return chosen_count_; }
  /// Valid rules of a document over the sample, all partitions together.
  std::uint64_t rules(std::size_t document) const { return rules_[document]; }
  std::uint64_t rules_in_sample() const;
  /// All partitions as one, whose iterations are queries.
  partition_report report() const;

 private:
  struct query {
    std::uint64_t documents = 0;  // that count in the means
    std::uint64_t occurs = 0;     // their doc_occurs
    std::uint64_t rules = 0;      // theirs over the sample
    bool chosen = false;
  };

  void find_next();

  std::vector<partition> const& parts_;
  std::vector<std::unique_ptr<rule_counter>> counters_;
  std::span<std::size_t const> query_begin_;
  std::vector<std::vector<std::uint32_t>> positions_;  // [partition][document]
  std::vector<std::uint64_t> occurs_;                  // doc_occurs; 0: no item, or left out
  std::vector<std::uint64_t> rules_;                   // [document]
  std::vector<query> queries_;
  std::vector<std::size_t> order_;  // of the queries; among equal ones the last is taken
  std::size_t with_items_ = 0;
  std::size_t chosen_count_ = 0;
  std::optional<std::size_t> next_;
};

/// Whole queries, all documents of one before any of the next.
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
