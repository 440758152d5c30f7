#include "al/selection.hpp"

#include "al/continued_selection.hpp"
#include "al/document_selection.hpp"
#include "al/query_selection.hpp"

#include <utility>

namespace rulerank::inline v0::al {

std::unique_ptr<selection> make_selection(sampling_setup const& setup,
                                          sampling_engine const& engine, shared_partitions parts) {
  if (!setup.options.query_begin.empty())
    return std::make_unique<query_selection>(setup, engine, std::move(parts));
  auto by_rules = std::make_unique<document_selection>(setup, engine, std::move(parts));
  if (!setup.options.fill_budget || setup.options.max_documents == 0) return by_rules;
  return std::make_unique<continued_selection>(setup, std::move(by_rules));
}

}  // namespace rulerank::al
