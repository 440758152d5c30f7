#include "rules/mining/itemset_list.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace rulerank::inline v0::rules {
namespace {

std::uint64_t hash_of(std::span<item const> x) {
  std::uint64_t h = x.size();
  for (item const i : x) {
    h = (h ^ i) * 0x9e3779b97f4a7c15U;
    h ^= h >> 29;
  }
  return h;
}

/// Concatenated sets, in the order found.
struct flat_sets {
  std::vector<std::size_t> begin{0};
  std::vector<item> items;
  std::vector<std::uint32_t> supports;

  /// Returns item `depth` of a set, plus 1, or 0 after the last one.
  std::uint64_t key(std::size_t set, std::size_t depth) const {
    std::size_t const at = begin[set] + depth;
    return at < begin[set + 1] ? std::uint64_t{items[at]} + 1 : 0;
  }
};

struct keyed {
  std::uint64_t key;  // two items
  std::size_t set;
};

/// Sorts sets that agree in their first `depth` items, two items at a time, so that the compared
/// keys are contiguous.
void sort_from(context const& ctx, flat_sets const& sets, std::span<keyed> range,
               std::size_t depth) {
  ctx.check_stop();
  for (keyed& k : range) k.key = sets.key(k.set, depth) << 32 | sets.key(k.set, depth + 1);
  std::sort(range.begin(), range.end(),
            [](keyed const& a, keyed const& b) { return a.key < b.key; });
  for (std::size_t begin = 0; begin < range.size();) {
    std::uint64_t const key = range[begin].key;
    std::size_t end = begin + 1;
    while (end < range.size() && range[end].key == key) ++end;
    if (end - begin > 1) sort_from(ctx, sets, range.subspan(begin, end - begin), depth + 2);
    begin = end;
  }
}

}  // namespace

itemset_table::itemset_table(context const& ctx, itemset_list const& found) {
  flat_sets sets;
  sets.begin.reserve(found.size() + 1);
  sets.supports.reserve(found.size());
  found.for_each([&](std::span<item const> x, std::uint32_t support) {
    sets.items.insert(sets.items.end(), x.begin(), x.end());
    std::sort(sets.items.begin() + static_cast<std::ptrdiff_t>(sets.begin.back()),
              sets.items.end());
    sets.begin.push_back(sets.items.size());
    sets.supports.push_back(support);
  });
  std::vector<keyed> order(sets.supports.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k].set = k;
  sort_from(ctx, sets, order, 0);
  items_.reserve(sets.items.size());
  begin_.reserve(sets.begin.size());
  supports_.reserve(order.size());
  for (auto const& [key, set] : order) {
    items_.insert(items_.end(), sets.items.begin() + static_cast<std::ptrdiff_t>(sets.begin[set]),
                  sets.items.begin() + static_cast<std::ptrdiff_t>(sets.begin[set + 1]));
    begin_.push_back(items_.size());
    supports_.push_back(sets.supports[set]);
  }
}

support_lookup::support_lookup(itemset_table const& table) : table_(table) {
  slots_.resize(std::bit_ceil(2 * table.size() + 1));
  for (std::size_t k = 0; k < table.size(); ++k) slots_[slot_of(table[k])] = k + 1;
}

std::size_t support_lookup::slot_of(std::span<item const> x) const {
  std::size_t const mask = slots_.size() - 1;
  std::size_t s = hash_of(x) & mask;
  while (slots_[s] != 0 && !std::ranges::equal(table_[slots_[s] - 1], x)) s = (s + 1) & mask;
  return s;
}

std::uint32_t support_lookup::operator()(std::span<item const> x) const {
  std::size_t const found = slots_[slot_of(x)];
  return found == 0 ? 0 : table_.support(found - 1);
}

}  // namespace rulerank::rules
