#include "rules/mining/support_table.hpp"

#include <algorithm>
#include <bit>

namespace rulerank::rules {
namespace {

std::uint64_t hash_of(std::span<item const> x) {
  std::uint64_t h = x.size();
  for (item const i : x) {
    h = (h ^ i) * 0x9e3779b97f4a7c15U;
    h ^= h >> 29;
  }
  return h;
}

}  // namespace

support_table::support_table(itemset_list const& found) {
  slots_.resize(std::bit_ceil(2 * static_cast<std::size_t>(found.size()) + 1));
  found.for_each([&](std::span<item const> x, std::uint32_t support) {
    items_.insert(items_.end(), x.begin(), x.end());
    std::sort(items_.begin() + static_cast<std::ptrdiff_t>(begin_.back()), items_.end());
    begin_.push_back(items_.size());
    supports_.push_back(support);
    slots_[slot_of(itemset(supports_.size() - 1))] = supports_.size();
  });
}

std::size_t support_table::slot_of(std::span<item const> x) const {
  std::size_t const mask = slots_.size() - 1;
  std::size_t s = hash_of(x) & mask;
  while (slots_[s] != 0 && !std::ranges::equal(itemset(slots_[s] - 1), x)) s = (s + 1) & mask;
  return s;
}

std::uint32_t support_table::support(std::span<item const> x) const {
  std::size_t const found = slots_[slot_of(x)];
  return found == 0 ? 0 : supports_[found - 1];
}

}  // namespace rulerank::rules
