#pragma once

#include "core/host_device.hpp"
#include "knn/similarity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

// The order of results in all searches, and the k nearest in this order.
namespace rulerank::inline v0::knn {

/// An item and the value that orders it.
template <class Value>
struct candidate {
  Value value;
  std::uint32_t id;
};

/// Orders candidates: the nearer value first, equal values by ascending item number. On host and
/// device.
template <value_order Order>
struct nearer {
  template <class Candidate>
  RULERANK_HOST_DEVICE constexpr bool operator()(Candidate const& a, Candidate const& b) const {
    if (a.value == b.value) return a.id < b.id;
    return Order == value_order::larger_is_nearer ? a.value > b.value : a.value < b.value;
  }
};

/// The k nearest of the added candidates.
template <class Value, value_order Order>
class nearest_candidates {
 public:
  explicit nearest_candidates(std::size_t k) : k_(k) { heap_.reserve(k + 1); }
  std::size_t k() const { return k_; }
  bool full() const { return heap_.size() == k_; }
  /// The value of the farthest kept candidate; there must be at least one.
  Value last() const { return heap_.front().value; }
  void add(candidate<Value> const& c) {
    if (full() && !is_nearer_(c, heap_.front())) return;
    heap_.push_back(c);
    std::push_heap(heap_.begin(), heap_.end(), is_nearer_);
    if (heap_.size() > k_) {
      std::pop_heap(heap_.begin(), heap_.end(), is_nearer_);
      heap_.pop_back();
    }
  }
  /// Returns the candidates, nearest first. No `add` may follow.
  std::vector<candidate<Value>>& sorted() {
    std::sort(heap_.begin(), heap_.end(), is_nearer_);
    return heap_;
  }

 private:
  static constexpr nearer<Order> is_nearer_{};
  std::size_t k_;
  std::vector<candidate<Value>> heap_;  // the farthest in front
};

}  // namespace rulerank::knn
