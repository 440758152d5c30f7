#pragma once

#include "core/context.hpp"
#include "core/error.hpp"
#include "rules/itemset.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::rules {

/// Memory that several lists take from, from any number of threads at once: throws `out_of_budget`
/// where there is no more.
class memory_budget {
 public:
  explicit memory_budget(std::uint64_t bytes)
      : left_(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX))) {}
  void take(std::size_t bytes);

 private:
  std::atomic<std::int64_t> left_;
};

/// What was found needs more memory than the budget has.
struct out_of_budget : usage_error {
  out_of_budget() : usage_error("the itemsets need more memory than their budget") {}
};

/// Itemsets with their supports, as the walk of a prefix tree: a record is an item, the number of
/// items of the set that ends with it, and that set's support. The set's other items are those of
/// the records before it with sizes 1, 2, ... that came last. A record with support 0 is no
/// itemset of the list: it is there for the records below it.
class itemset_list {
 public:
  struct record {
    item last;
    std::uint32_t size;
    std::uint32_t support;
  };

  itemset_list() = default;
  explicit itemset_list(std::shared_ptr<memory_budget> budget) : budget_(std::move(budget)) {}

  /// The itemsets.
  std::uint64_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  std::uint64_t bytes() const noexcept;

  /// The itemset of the last record with size `size` - 1, and `last`; size >= 1.
  void push(item last, std::uint32_t size, std::uint32_t support) {
    if (end_ == limit_) grow(1);
    *end_++ = {last, size, support};
    count_ += support != 0;
  }
  /// All unions of the set of the last record with size `size`, which has `support` documents as
  /// the unions have, and a subset of `more` that is not empty: 2^|more| - 1 itemsets.
  void push_unions(std::span<item const> more, std::uint32_t size, std::uint32_t support);

  /// The records as bytes, for other processes (core/bytes.hpp).
  std::string records() const;
  /// Puts records behind those of the list. Throws `out_of_budget`.
  void push(std::string_view records);

  /// Puts another list behind this one; its first record has size 1.
  void append(itemset_list&& other);

  /// Calls visit(std::span<item const> items, std::uint32_t support) for every itemset in the
  /// order of the records, items in the order of the walk.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::vector<item> path;
    for (block const& b : blocks_) {
      record const* const end = &b == &blocks_.back() ? end_ : b.end;
      for (record const* r = b.records.get(); r != end; ++r) {
        if (path.size() < r->size) path.resize(r->size);
        path[r->size - 1] = r->last;
        if (r->support != 0) visit(std::span<item const>(path.data(), r->size), r->support);
      }
    }
  }

 private:
  struct block {
    std::unique_ptr<record[]> records;
    record* end = nullptr;  // of what is used; the last block's is end_
    std::size_t capacity = 0;
  };
  void grow(std::size_t records);

  std::vector<block> blocks_;
  record* end_ = nullptr;
  record* limit_ = nullptr;
  std::uint64_t count_ = 0;
  std::shared_ptr<memory_budget> budget_;
};

/// Mined itemsets by number, in an order that does not depend on the engine: items ascending, sets
/// lexicographically, a set before those that it begins.
class itemset_table {
 public:
  itemset_table() = default;
  itemset_table(context const& ctx, itemset_list const& found);

  std::size_t size() const noexcept { return supports_.size(); }
  std::span<item const> operator[](std::size_t k) const {
    return std::span(items_).subspan(begin_[k], begin_[k + 1] - begin_[k]);
  }
  std::uint32_t support(std::size_t k) const { return supports_[k]; }

 private:
  std::vector<std::size_t> begin_{0};  // [size + 1]
  std::vector<item> items_;
  std::vector<std::uint32_t> supports_;
};

/// The supports in a table, looked up by the set.
class support_lookup {
 public:
  /// The table stays the caller's.
  explicit support_lookup(itemset_table const& table);
  /// Of a set with ascending items; 0 when it is not in the table.
  std::uint32_t operator()(std::span<item const> x) const;

 private:
  std::size_t slot_of(std::span<item const> x) const;

  itemset_table const& table_;
  std::vector<std::size_t> slots_;  // a power of two: itemset + 1, or 0
};

}  // namespace rulerank::rules
