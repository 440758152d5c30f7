#include "al/selection.hpp"

#include "al/document_selection.hpp"
#include "al/query_selection.hpp"

#include <utility>

namespace rulerank::inline v0::al {

std::unique_ptr<selection> make_selection(sampling_setup const& setup,
                                          sampling_engine const& engine, shared_partitions parts) {
  if (setup.options.query_begin.empty())
    return std::make_unique<document_selection>(setup, engine, std::move(parts));
  return std::make_unique<query_selection>(setup, engine, std::move(parts));
}

}  // namespace rulerank::al
