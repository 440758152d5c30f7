#pragma once

#include "rules/thresholds.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace rulerank::al {

__extension__ using key128 = unsigned __int128;

struct key_hash {
  std::size_t operator()(std::uint64_t key) const noexcept {
    key *= 0x9E3779B97F4A7C15U;  // Fibonacci hashing (Knuth, volume 3, section 6.4)
    return key ^ (key >> 32);
  }
  std::size_t operator()(key128 key) const noexcept {
    return (*this)(static_cast<std::uint64_t>(key) ^
                   (*this)(static_cast<std::uint64_t>(key >> 64)));
  }
};

/// What one more document does to the valid rules of an itemset it holds.
struct rule_change {
  std::int32_t gained = 0;  ///< rules that became valid
  std::int32_t lost = 0;    ///< rules that became invalid
};

/// Class-wise supports of the itemsets seen so far, by a number that is theirs alone.
template <class Key>
class support_table {
 public:
  explicit support_table(rules::validity const& valid) : valid_(valid) {}

  /// Makes room for classes 0..k.
  void need_class(std::size_t k) {
    if (k < classes_) return;
    std::size_t const classes = k + 1;
    std::vector<std::uint32_t> counts(slots_.size() * (classes + 1));
    for (std::size_t s = 0; s < slots_.size(); ++s)
      std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>(s * (classes_ + 1)), classes_ + 1,
                  counts.begin() + static_cast<std::ptrdiff_t>(s * (classes + 1)));
    counts_ = std::move(counts);
    classes_ = classes;
  }

  /// Itemsets that a table of so many holds once it has grown to them.
  static std::uint64_t capacity(std::uint64_t itemsets) {
    std::uint64_t const groups = std::bit_ceil((itemsets * 8 + group * 7 - 1) / (group * 7));
    return groups * group * 7 / 8;
  }
  /// Bytes that growing to such a capacity takes, at most.
  std::uint64_t bytes(std::uint64_t capacity) const {
    std::uint64_t const slot = sizeof(std::pair<Key, std::uint32_t>) + 2;
    return capacity * 8 / 7 * slot + capacity * 2 * sizeof(std::uint32_t) * (classes_ + 1);
  }
  std::uint64_t size() const { return slots_.size(); }
  /// More than these have no number.
  static constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();

  /// Counts one more document of class k (known to need_class) that holds the itemset.
  rule_change add(Key key, std::size_t k) {
    auto const [found, is_new] = slots_.try_emplace(key, static_cast<std::uint32_t>(slots_.size()));
    if (is_new) counts_.resize(counts_.size() + classes_ + 1);
    std::uint32_t* const count = counts_.data() + std::size_t{found->second} * (classes_ + 1);
    // count[0] is n, count[1 + k] the support of class k.
    std::uint32_t const n = count[0]++;
    if (n + 1 <= valid_.all_valid_up_to()) return {count[1 + k]++ == 0 ? 1 : 0, 0};
    std::uint32_t const before = valid_.min_valid(n);
    std::uint32_t const after = valid_.min_valid(n + 1);
    rule_change change;
    for (std::size_t r = 0; r < classes_; ++r) {
      bool const was = count[1 + r] >= before;
      if (r == k) ++count[1 + r];
      bool const is = count[1 + r] >= after;
      change.gained += static_cast<std::int32_t>(is && !was);
      change.lost += static_cast<std::int32_t>(was && !is);
    }
    return change;
  }

 private:
  static constexpr std::uint64_t group = 15;  // slots that the map fills to 7/8 at most

  rules::validity const& valid_;
  std::size_t classes_ = 0;
  boost::unordered_flat_map<Key, std::uint32_t, key_hash> slots_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace rulerank::al
