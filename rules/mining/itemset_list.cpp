#include "rules/mining/itemset_list.hpp"

#include <cstring>
#include <utility>

namespace rulerank::inline v0::rules {
namespace {

constexpr std::size_t first_block = 64;
constexpr std::size_t largest_block = std::size_t{1} << 16;

/// Writes the unions with nonempty subsets of `more` to the 2^|more| - 1 records that end at `end`:
/// first those with the first item of `more`, one level deeper, then those without it.
void write_unions(itemset_list::record* end, std::span<item const> more, std::uint32_t size,
                  std::uint32_t support) {
  std::size_t written = 0;
  for (std::size_t i = more.size(); i-- > 0;) {
    itemset_list::record* const without = end - written;
    itemset_list::record* const with = without - written;
    std::memcpy(with, without, written * sizeof(itemset_list::record));
    for (std::size_t r = 0; r < written; ++r) ++with[r].size;
    with[-1] = {more[i], size + 1, support};
    written = 2 * written + 1;
  }
}

}  // namespace

void memory_budget::take(std::size_t bytes) {
  auto const signed_bytes = static_cast<std::int64_t>(bytes);
  if (left_.fetch_sub(signed_bytes, std::memory_order_relaxed) < signed_bytes)
    throw out_of_budget{};
}

std::uint64_t itemset_list::bytes() const noexcept {
  std::uint64_t total = 0;
  for (block const& b : blocks_) total += b.capacity * sizeof(record);
  return total;
}

void itemset_list::push_unions(std::span<item const> more, std::uint32_t size,
                               std::uint32_t support) {
  if (more.empty()) return;
  if (more.size() >= 40) throw out_of_budget{};
  std::size_t const records = (std::size_t{1} << more.size()) - 1;
  if (static_cast<std::size_t>(limit_ - end_) < records) grow(records);
  end_ += records;
  write_unions(end_, more, size, support);
  count_ += records;
}

std::string itemset_list::records() const {
  std::string bytes;
  for (block const& b : blocks_) {
    record const* const end = &b == &blocks_.back() ? end_ : b.end;
    bytes.append(reinterpret_cast<char const*>(b.records.get()),
                 static_cast<std::size_t>(end - b.records.get()) * sizeof(record));
  }
  return bytes;
}

void itemset_list::push(std::string_view records) {
  record one{};
  for (std::size_t at = 0; at < records.size(); at += sizeof(record)) {
    std::memcpy(&one, records.data() + at, sizeof(record));
    push(one.last, one.size, one.support);
  }
}

void itemset_list::append(itemset_list&& other) {
  if (other.blocks_.empty()) return;
  count_ += std::exchange(other.count_, 0);
  std::size_t const records = static_cast<std::size_t>(other.end_ - other.blocks_[0].records.get());
  if (other.blocks_.size() == 1 && records <= static_cast<std::size_t>(limit_ - end_)) {
    end_ = std::copy(other.blocks_[0].records.get(), other.end_, end_);
  } else {
    if (!blocks_.empty()) blocks_.back().end = end_;
    std::move(other.blocks_.begin(), other.blocks_.end(), std::back_inserter(blocks_));
    end_ = other.end_;
    limit_ = other.limit_;
  }
  other.blocks_.clear();
  other.end_ = other.limit_ = nullptr;
}

void itemset_list::grow(std::size_t records) {
  std::size_t const next =
      blocks_.empty() ? first_block : std::min(2 * blocks_.back().capacity, largest_block);
  std::size_t const capacity = std::max(next, records);
  if (budget_) budget_->take(capacity * sizeof(record));
  if (!blocks_.empty()) blocks_.back().end = end_;
  blocks_.push_back({std::make_unique_for_overwrite<record[]>(capacity), nullptr, capacity});
  end_ = blocks_.back().records.get();
  limit_ = end_ + capacity;
}

}  // namespace rulerank::rules
