#pragma once

#include "al/selection.hpp"

#include <memory>
#include <vector>

namespace rulerank::inline v0::al {

/// Fills a budget (docs/reference/definitions.md, "Filling a budget"): chooses documents by rules
/// of the requested size and, when these run out, by larger rules, by items, and at random. The
/// later stages run on the CPU, so that every engine and device chooses the same documents.
class continued_selection final : public selection {
 public:
  /// `by_rules`: the first stage. Keeps a reference to `setup`.
  continued_selection(sampling_setup const& setup, std::unique_ptr<selection> by_rules);

  void advance(label_source& labels) override;
  /// The number of rules of the first stage.
  std::uint64_t rules_in_sample() const override { return by_rules_->rules_in_sample(); }
  sample take() const override;

 private:
  sample so_far() const;
  std::unique_ptr<selection> next_stage(std::vector<std::size_t> const& chosen);

  sampling_setup const& setup_;
  std::unique_ptr<selection> by_rules_;
  rules::rule_size rule_size_;                    // of the current stage
  std::unique_ptr<sampling_setup const> larger_;  // of the current stage, if its rules are larger
  std::unique_ptr<selection> later_;              // the current stage; null during the first
  bool is_last_ = false;                          // the current stage uses no rules
  sample before_;                                 // of earlier stages
};

}  // namespace rulerank::al
