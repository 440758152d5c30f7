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

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::rules {

/// A memory limit that several lists share, from any number of threads at once. Throws
/// `out_of_budget` beyond it.
class memory_budget {
 public:
  explicit memory_budget(std::uint64_t bytes)
      : left_(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX))) {}
  void take(std::size_t bytes);

 private:
  std::atomic<std::int64_t> left_;
};

/// The result needs more memory than its budget.
struct out_of_budget : usage_error {
  out_of_budget() : usage_error("the itemsets need more memory than their budget") {}
};

/// Itemsets with their supports, as the walk of a prefix tree. A record is an item, the size of the
/// set that ends with it, and this set's support. The set's other items are those of the latest
/// preceding records with sizes 1, 2, ... A record with support 0 is no itemset of the list; it
/// exists for the records below it.
class itemset_list {
 public:
  struct record {
    item last;
    std::uint32_t size;
    std::uint32_t support;
  };

  itemset_list() = default;
  explicit itemset_list(std::shared_ptr<memory_budget> budget) : budget_(std::move(budget)) {}

  /// The number of itemsets.
  std::uint64_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  std::uint64_t bytes() const noexcept;

  /// Appends the itemset of the last record with size `size` - 1, extended by `last`; size >= 1.
  void push(item last, std::uint32_t size, std::uint32_t support) {
    if (end_ == limit_) grow(1);
    *end_++ = {last, size, support};
    count_ += support != 0;
  }
  /// Appends all unions of the set of the last record with size `size` and a nonempty subset of
  /// `more`: 2^|more| - 1 itemsets, all with the support of this set, `support`.
  void push_unions(std::span<item const> more, std::uint32_t size, std::uint32_t support);

  /// Returns the records as bytes, for other processes (core/bytes.hpp).
  std::string records() const;
  /// Appends records. Throws `out_of_budget`.
  void push(std::string_view records);

  /// Appends another list, whose first record must have size 1.
  void append(itemset_list&& other);

  /// Calls visit(std::span<item const> items, std::uint32_t support) for every itemset in the order
  /// of the records, items in the order of the walk.
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
    record* end = nullptr;  // end of the used records; for the last block, end_
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
/// in lexicographic order, a prefix first.
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

/// Looks up the supports of a table by itemset.
class support_lookup {
 public:
  /// The table must outlive it.
  explicit support_lookup(itemset_table const& table);
  /// Returns the support of a set with ascending items; 0 if it is not in the table.
  std::uint32_t operator()(std::span<item const> x) const;

 private:
  std::size_t slot_of(std::span<item const> x) const;

  itemset_table const& table_;
  std::vector<std::size_t> slots_;  // size is a power of two; itemset + 1, or 0
};

}  // namespace rulerank::rules
