// The bit-parallel edit distance of Myers 1999 and Hyyrö 2003 (edit_distance.hpp), of one word to
// as many others as a vector has lanes. The others are the patterns, so that a letter of the word
// selects one row of their match masks.
//
// Words end at the highest bits of their lanes. In the bits below a word, no letter matches and no
// cell differs from the cell above. The change along the first row of the dynamic program, +1 per
// column, therefore propagates through them to the word. The distance is the number of columns plus
// the sum of the differences in the last column, so lanes need no individual last row.

#include "knn/metric/edit_distance/edit_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "knn/metric/edit_distance/edit_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::knn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using lanes_tag = hn::CappedTag<T, edit_row_bytes / sizeof(T)>;

/// The part of a group that fills a vector.
struct part {
  edit_row const* const* rows;
  std::size_t byte;  ///< offset in the rows
  std::int8_t* differences;
  std::uint64_t* near;
};

template <class T>
HWY_INLINE hn::Vec<lanes_tag<T>> row_of(part const& of, std::size_t row) {
  return hn::Load(lanes_tag<T>(), reinterpret_cast<T const*>(of.rows[row]->bytes + of.byte));
}

/// Writes the differences of a part from the cells that are larger (`up`) and smaller (`down`) than
/// the cells above.
template <class T>
HWY_INLINE void finish(part const& of, hn::Vec<lanes_tag<T>> up, hn::Vec<lanes_tag<T>> down,
                       int limit) {
  lanes_tag<T> const d;
  hn::RebindToSigned<decltype(d)> const signed_tag;
  using value = hn::TFromD<decltype(signed_tag)>;
  constexpr std::size_t lanes = hn::MaxLanes(lanes_tag<T>());
  auto const difference =
      hn::BitCast(signed_tag, hn::Sub(hn::PopulationCount(up), hn::PopulationCount(down)));
  std::size_t const first = of.byte / sizeof(T);
  if constexpr (sizeof(T) == 1) {
    hn::StoreU(difference, signed_tag, of.differences + first);
  } else {
    HWY_ALIGN value values[lanes];
    hn::Store(difference, signed_tag, values);
    for (std::size_t i = 0; i < lanes; ++i)
      of.differences[first + i] = static_cast<std::int8_t>(values[i]);
  }
  int const beyond = limit + 1;
  HWY_ALIGN std::uint8_t bits[edit_row_bytes / 8] = {};
  hn::StoreMaskBits(signed_tag, hn::Lt(difference, hn::Set(signed_tag, static_cast<value>(beyond))),
                    bits);
  std::uint64_t mask = 0;
  hwy::CopySameSize(&bits, &mask);
  *of.near |= mask << first;
}

/// Processes C parts in parallel, because each column of one part depends on the previous column.
template <class T, std::size_t C>
HWY_INLINE void compare_parts(part const* of, std::size_t columns, int limit) {
  hn::Vec<lanes_tag<T>> up[C];
  hn::Vec<lanes_tag<T>> down[C];
  HWY_UNROLL(4)
  for (std::size_t c = 0; c < C; ++c) {
    up[c] = row_of<T>(of[c], 0);
    down[c] = hn::Zero(lanes_tag<T>());
  }
  for (std::size_t j = 1; j <= columns; ++j) {
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < C; ++c) {
      auto const same = row_of<T>(of[c], j);
      auto const carried = hn::Add(hn::And(same, up[c]), up[c]);
      auto const diagonal = hn::Or3(hn::Xor(carried, up[c]), same, down[c]);
      auto const not_more = hn::AndNot(down[c], hn::Or(diagonal, up[c]));
      auto const less = hn::And(up[c], diagonal);
      auto const not_more_above = hn::Add(not_more, not_more);  // 1 below the word: larger
      up[c] = hn::Or(hn::Add(less, less), hn::AndNot(diagonal, not_more_above));
      down[c] = hn::AndNot(not_more_above, diagonal);
    }
  }
  HWY_UNROLL(4)
  for (std::size_t c = 0; c < C; ++c) finish<T>(of[c], up[c], down[c], limit);
}

template <class T>
void compare_lanes(edit_batch const& batch, int limit, std::int8_t (*differences)[edit_row_bytes],
                   std::uint64_t* near) {
  constexpr std::size_t bytes = hn::MaxLanes(lanes_tag<T>()) * sizeof(T);
  constexpr std::size_t together = bytes >= 64 ? 4 : 2;  // limited by the number of registers
  part waiting[together];
  std::size_t count = 0;
  for (std::size_t g = 0; g < batch.groups; ++g) {
    near[g] = 0;
    for (std::size_t byte = 0; byte < edit_row_bytes; byte += bytes) {
      waiting[count++] = {batch.rows + g * (batch.columns + 1), byte, differences[g], near + g};
      if (count < together) continue;
      compare_parts<T, together>(waiting, batch.columns, limit);
      count = 0;
    }
  }
  for (std::size_t c = 0; c < count; ++c) compare_parts<T, 1>(waiting + c, batch.columns, limit);
}

void compare(edit_batch const& batch, int limit, std::int8_t (*differences)[edit_row_bytes],
             std::uint64_t* near) {
  if (batch.lane_bytes == 1) compare_lanes<std::uint8_t>(batch, limit, differences, near);
  if (batch.lane_bytes == 2) compare_lanes<std::uint16_t>(batch, limit, differences, near);
  if (batch.lane_bytes == 4) compare_lanes<std::uint32_t>(batch, limit, differences, near);
  if (batch.lane_bytes == 8) compare_lanes<std::uint64_t>(batch, limit, differences, near);
}

std::uint64_t near_groups(std::uint64_t const* all, std::uint64_t const* any, std::size_t groups,
                          std::uint64_t signature, std::size_t bound) {
  hn::CappedTag<std::uint64_t, 8> const d;
  hn::RebindToSigned<decltype(d)> const signed_tag;
  constexpr std::size_t lanes = hn::MaxLanes(hn::CappedTag<std::uint64_t, 8>());
  auto const has = hn::Set(d, signature);
  auto const beyond = hn::Set(signed_tag, static_cast<std::int64_t>(bound < 64 ? bound + 1 : 65));
  std::uint64_t found = 0;
  for (std::size_t g = 0; g < groups; g += lanes) {
    auto const missing = hn::PopulationCount(hn::AndNot(has, hn::LoadU(d, all + g)));
    auto const surplus = hn::PopulationCount(hn::AndNot(hn::LoadU(d, any + g), has));
    auto const near = hn::And(hn::Lt(hn::BitCast(signed_tag, missing), beyond),
                              hn::Lt(hn::BitCast(signed_tag, surplus), beyond));
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(signed_tag, near, bits);
    found |= static_cast<std::uint64_t>(bits[0]) << g;
  }
  return groups < 64 ? found & ((std::uint64_t{1} << groups) - 1) : found;
}

}  // namespace rulerank::knn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::knn {

HWY_EXPORT(compare);
HWY_EXPORT(near_groups);

void compare_edit_groups(edit_batch const& batch, int limit,
                         std::int8_t (*differences)[edit_row_bytes], std::uint64_t* near) {
  HWY_DYNAMIC_DISPATCH(compare)(batch, limit, differences, near);
}
std::uint64_t near_edit_groups(std::uint64_t const* all, std::uint64_t const* any,
                               std::size_t groups, std::uint64_t signature, std::size_t bound) {
  return HWY_DYNAMIC_DISPATCH(near_groups)(all, any, groups, signature, bound);
}

}  // namespace rulerank::knn
#endif
