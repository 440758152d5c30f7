#pragma once

#include "al/selection.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

namespace rulerank::inline v0::al {

/// Chooses documents in (iteration, partition) order. If all labels are known, partitions advance
/// concurrently as long as they cannot exceed the budget together. The budget includes documents
/// chosen earlier, which are chosen again if they have the fewest rules.
class document_selection final : public selection {
 public:
  document_selection(sampling_setup const& setup, sampling_engine const& engine,
                     shared_partitions parts, std::span<std::size_t const> chosen_before = {});

  void advance(label_source& labels) override;
  std::uint64_t rules_in_sample() const override { return loops_->rules_in_sample(); }
  sample take() const override;

 private:
  void advance_side_by_side(label_source& labels);
  void choose(std::size_t q, std::size_t document, std::int32_t label);
  void find_wanted(label_source& labels);
  void prepare(std::size_t q, label_source const& labels);
  bool ended(std::size_t q) const;
  bool all_ended() const;
  std::size_t limit(std::size_t iterations) const;
  /// Whether the document would exceed the budget, given the documents chosen and `more`.
  bool beyond_budget(std::size_t document, std::size_t more) const;

  sampling_setup const& setup_;
  std::unique_ptr<partition_loops> loops_;
  std::size_t turn_ = 0;                       // the partition that chooses next
  std::vector<std::vector<choice>> choices_;   // [partitions]
  std::unordered_set<std::size_t> documents_;  // chosen here or earlier
};

}  // namespace rulerank::al
