#include "knn/metric/edit_distance/edit_distance.hpp"

#include <algorithm>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t bits = 64;

/// Computes the next column in 64 rows: Hyyrö's step with a carry from the rows above. `letter`:
/// the rows whose letter is the column's. `from_above` (+1, 0 or -1): the change of the cell above
/// the first row. Returns the change in the row of `last`.
inline int next_column(std::uint64_t letter, std::uint64_t last, int from_above, std::uint64_t& up,
                       std::uint64_t& down) {
  std::uint64_t const is_less = from_above < 0 ? 1 : 0;
  std::uint64_t const vertical = letter | down;
  letter |= is_less;
  std::uint64_t const diagonal = (((letter & up) + up) ^ up) | letter;
  std::uint64_t more = down | ~(diagonal | up);
  std::uint64_t less = up & diagonal;
  int const below = ((more & last) != 0 ? 1 : 0) - ((less & last) != 0 ? 1 : 0);
  more = more << 1 | (from_above > 0 ? 1 : 0);
  less = less << 1 | is_less;
  up = less | ~(vertical | more);
  down = more & vertical;
  return below;
}

}  // namespace

edit_pattern::edit_pattern(std::span<std::uint32_t const> word, std::size_t alphabet)
    : length_(word.size()),
      blocks_((word.size() + bits - 1) / bits),
      where_(alphabet * blocks_),
      up_(blocks_),
      down_(blocks_) {
  for (std::size_t i = 0; i < length_; ++i)
    where_[word[i] * blocks_ + i / bits] |= std::uint64_t{1} << (i % bits);
}

std::size_t edit_pattern::to(std::span<std::uint32_t const> word, std::size_t bound) {
  std::size_t const apart = std::max(length_, word.size()) - std::min(length_, word.size());
  if (apart > bound || length_ == 0 || word.empty()) return apart;
  return blocks_ == 1 ? in_a_word(word, bound) : in_blocks(word, bound);
}

std::size_t edit_pattern::in_a_word(std::span<std::uint32_t const> word, std::size_t bound) const {
  std::uint64_t const last = std::uint64_t{1} << (length_ - 1);
  std::uint64_t up = ~std::uint64_t{0};
  std::uint64_t down = 0;
  // The distance to the part of the word that was processed; each further letter reduces it by at
  // most one.
  std::size_t distance = length_;
  for (std::size_t i = 0; i < word.size(); ++i) {
    int const more = next_column(where_[word[i]], last, 1, up, down);
    distance = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(distance) + more);
    std::size_t const left = word.size() - i - 1;
    if (distance > left && distance - left > bound) return distance - left;
  }
  return distance;
}

std::size_t edit_pattern::in_blocks(std::span<std::uint32_t const> word, std::size_t bound) {
  std::uint64_t const last = std::uint64_t{1} << ((length_ - 1) % bits);
  std::uint64_t const lowest = std::uint64_t{1} << (bits - 1);
  std::fill(up_.begin(), up_.end(), ~std::uint64_t{0});
  std::fill(down_.begin(), down_.end(), 0);
  std::size_t distance = length_;
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::uint64_t const* const letter = where_.data() + word[i] * blocks_;
    int more = 1;
    for (std::size_t b = 0; b < blocks_; ++b)
      more = next_column(letter[b], b + 1 == blocks_ ? last : lowest, more, up_[b], down_[b]);
    distance = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(distance) + more);
    std::size_t const left = word.size() - i - 1;
    if (distance > left && distance - left > bound) return distance - left;
  }
  return distance;
}

}  // namespace rulerank::knn
