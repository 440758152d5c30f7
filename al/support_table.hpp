#pragma once

#include "core/error.hpp"
#include "core/machine.hpp"
#include "rules/thresholds.hpp"
#include "rules/validity_math.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

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

using rules::rule_change;

/// Calls take(), which takes so many bytes and writes to all of them, while nobody else takes any.
/// Throws `usage_error` where there are fewer; little is tried unasked.
template <class Take>
void take_memory(std::uint64_t bytes, std::string const& what, Take&& take) {
  constexpr std::uint64_t little = 64 << 20;
  static std::mutex one_at_a_time;
  auto const refuse = [&](std::string const& why) {
    throw usage_error(fmt::format(
        "{}: its itemsets need {:.2f} GB more, {}; use more partitions or smaller rules", what,
        static_cast<double>(bytes) / 1e9, why));
  };
  std::unique_lock lock(one_at_a_time, std::defer_lock);
  if (bytes > little) {
    lock.lock();
    if (std::uint64_t const there = free_memory(); bytes > there)
      refuse(fmt::format("expected no more than the {:.2f} GB there are",
                         static_cast<double>(there) / 1e9));
  }
  try {
    take();
  } catch (std::bad_alloc const&) {
    refuse("which could not be had");
  }
}

/// Class-wise supports of the itemsets seen so far, by a number that is theirs alone.
template <class Key>
class support_table {
 public:
  /// `what` stands before the reason in messages: "rule size 7 with 45 features in a partition".
  support_table(rules::validity const& valid, std::string what)
      : valid_(valid), what_(std::move(what)) {}

  /// Makes room for classes 0..k. Throws like add().
  void need_class(std::size_t k) {
    if (k < classes_) return;
    std::size_t const classes = k + 1;
    take_memory(room_ * (classes + 1) * sizeof(std::uint32_t), what_, [&] {
      std::vector<std::uint32_t> counts(room_ * (classes + 1));
      for (std::size_t s = 0; s < slots_.size(); ++s)
        std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>(s * (classes_ + 1)), classes_ + 1,
                    counts.begin() + static_cast<std::ptrdiff_t>(s * (classes + 1)));
      counts_ = std::move(counts);
    });
    classes_ = classes;
  }

  std::uint64_t size() const { return slots_.size(); }
  /// Bytes held.
  std::uint64_t bytes() const {
    return bytes_for(room_) + counts_.capacity() * sizeof(std::uint32_t);
  }

  /// Counts one more document of class k (known to need_class) that holds the itemset. Throws
  /// `usage_error` where the table is full and there is no memory for a larger one.
  rule_change add(Key key, std::size_t k) {
    if (slots_.size() == room_) grow();
    auto const [found, is_new] = slots_.try_emplace(key, static_cast<std::uint32_t>(slots_.size()));
    std::uint32_t* const count = counts_.data() + std::size_t{found->second} * (classes_ + 1);
    rules::validity_view const view{valid_.table().data(), valid_.all_valid_up_to()};
    return view.count(count, static_cast<std::uint32_t>(classes_), static_cast<std::uint32_t>(k));
  }

 private:
  /// More itemsets have no number.
  static constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  /// The map has a power of two groups of so many slots, filled to 7/8, each with 16 bytes besides.
  static constexpr std::uint64_t group = 15;

  static std::uint64_t groups_for(std::uint64_t itemsets) {
    return std::bit_ceil((itemsets * 8 + group * 7 - 1) / (group * 7));
  }
  static std::uint64_t bytes_for(std::uint64_t itemsets) {
    return groups_for(itemsets) * (group * sizeof(std::pair<Key, std::uint32_t>) + 16);
  }

  void grow() {
    if (room_ == most)
      throw usage_error(what_ + ": more than " + std::to_string(most) +
                        " itemsets; use more partitions or smaller rules");
    // As many as the map takes without growing again.
    std::uint64_t const room = std::min(groups_for(room_ + 1) * group * 7 / 8, most);
    std::uint64_t const counts = room * (classes_ + 1);
    take_memory(bytes_for(room) + counts * sizeof(std::uint32_t), what_, [&] {
      slots_.reserve(room);
      std::vector<std::uint32_t> larger(counts);
      std::copy(counts_.begin(), counts_.end(), larger.begin());
      counts_ = std::move(larger);
    });
    room_ = room;
  }

  rules::validity const& valid_;
  std::string what_;
  std::uint64_t room_ = 0;  // itemsets that there is memory for
  std::size_t classes_ = 0;
  boost::unordered_flat_map<Key, std::uint32_t, key_hash> slots_;
  std::vector<std::uint32_t> counts_;  // [room][classes + 1]
};

}  // namespace rulerank::al
