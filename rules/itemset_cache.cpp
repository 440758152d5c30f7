#include "rules/itemset_cache.hpp"

#include <algorithm>

namespace rulerank::inline v0::rules {

namespace {
constexpr std::size_t first_slots = 4095;  // odd; remains odd when doubled plus one
constexpr std::size_t fullest_percent = 70;
}  // namespace

itemset_cache::itemset_cache(std::uint32_t items, std::size_t max_size, std::size_t classes,
                             std::size_t max_bytes)
    : fingerprint_(items, max_size),
      max_size_(max_size),
      classes_(classes),
      max_bytes_(max_bytes),
      cell_(1 + max_size + classes),
      slots_(first_slots),
      cells_(slots_ * cell_) {}

std::size_t itemset_cache::probe(std::span<item const> x) {
  std::size_t s = fingerprint_.bits(x) % slots_;
  for (;; s = s + 1 == slots_ ? 0 : s + 1) {
    std::uint32_t const* const cell = slot(s);
    if (cell[0] == 0) return s;
    if (cell[0] == x.size() && std::equal(x.begin(), x.end(), cell + 1)) return s;
  }
}

std::span<std::uint32_t const> itemset_cache::find(std::span<item const> x) {
  std::uint32_t const* const cell = slot(probe(x));
  if (cell[0] == 0) {
    ++misses_;
    return {};
  }
  ++hits_;
  return {cell + 1 + max_size_, classes_};
}

bool itemset_cache::grow() {
  std::size_t const slots = 2 * slots_ + 1;
  if (slots * cell_ * sizeof(std::uint32_t) > max_bytes_) return false;
  std::vector<std::uint32_t> old(slots * cell_);
  old.swap(cells_);
  std::size_t const old_slots = slots_;
  slots_ = slots;
  for (std::size_t s = 0; s < old_slots; ++s) {
    std::uint32_t const* const cell = old.data() + s * cell_;
    if (cell[0] != 0) std::copy_n(cell, cell_, slot(probe({cell + 1, cell[0]})));
  }
  return true;
}

bool itemset_cache::insert(std::span<item const> x, std::span<std::uint32_t const> counts) {
  if ((used_ + 1) * 100 > slots_ * fullest_percent && !grow()) return false;
  std::uint32_t* const cell = slot(probe(x));
  cell[0] = static_cast<std::uint32_t>(x.size());
  std::copy(x.begin(), x.end(), cell + 1);
  std::copy(counts.begin(), counts.end(), cell + 1 + max_size_);
  ++used_;
  return true;
}

}  // namespace rulerank::rules
