#include "rules/mining/association_rules.hpp"

#include <algorithm>
#include <cstddef>

namespace rulerank::inline v0::rules {

void drop_unplaced_items(datasets::transactions& data, std::span<appearance const> where) {
  if (std::find(where.begin(), where.end(), appearance::neither) == where.end()) return;
  std::size_t kept = 0;
  std::size_t begin = 0;
  for (std::size_t t = 0; t < data.size(); ++t) {
    std::size_t const end = data.row[t + 1];
    for (std::size_t e = begin; e < end; ++e)
      if (where[data.items[e]] != appearance::neither) data.items[kept++] = data.items[e];
    data.row[t + 1] = kept;
    begin = end;
  }
  data.items.resize(kept);
}

}  // namespace rulerank::rules
