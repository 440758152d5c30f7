#include "knn/merge_lists.hpp"

#include <algorithm>
#include <vector>

namespace rulerank::inline v0::knn {

namespace {

/// The nonempty rest of a list.
struct rest {
  near_key const* first;
  near_key const* end;
  /// The list with the nearest first key is on top of the heap.
  friend bool operator<(rest const& a, rest const& b) noexcept { return *a.first > *b.first; }
};

}  // namespace

void merge_lists(std::span<near_key const> lists, std::size_t length, std::size_t query,
                 neighbours& found) {
  std::vector<rest> heap;
  for (std::size_t begin = 0; begin < lists.size(); begin += length)
    heap.push_back({lists.data() + begin, lists.data() + begin + length});
  std::make_heap(heap.begin(), heap.end());
  for (std::size_t i = 0; i < found.k; ++i) {
    std::pop_heap(heap.begin(), heap.end());
    near_key const nearest = *heap.back().first;
    found.id[query * found.k + i] = id_of(nearest);
    found.value[query * found.k + i] = found.order == value_order::larger_is_nearer
                                           ? value_of<value_order::larger_is_nearer>(nearest)
                                           : value_of<value_order::smaller_is_nearer>(nearest);
    if (++heap.back().first == heap.back().end)
      heap.pop_back();
    else
      std::push_heap(heap.begin(), heap.end());
  }
}

}  // namespace rulerank::knn
