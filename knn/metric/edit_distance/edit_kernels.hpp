#pragma once

#include <cstddef>
#include <cstdint>

// The loops of `edit_groups`, for the instruction set of the machine.
namespace rulerank::inline v0::knn {

/// Bytes of a row: a lane a word, of as many bits as a group's longest word has letters, rounded up
/// to 8, 16, 32 or 64.
inline constexpr std::size_t edit_row_bytes = 64;

struct alignas(edit_row_bytes) edit_row {
  std::uint8_t bytes[edit_row_bytes] = {};
};

/// Groups of words, of lanes equally wide, that are compared with a word of `columns` letters. A
/// word of m letters has the m highest bits of its lane, the last letter the highest.
struct edit_batch {
  std::size_t lane_bytes = 1;
  std::size_t groups = 0;
  std::size_t columns = 0;
  /// [groups][1 + columns]: the bits that words have, then for each letter of the word that is
  /// compared the bits of the same letter.
  edit_row const* const* rows = nullptr;
};

/// How much farther than `columns` the word of each lane is: differences[group][lane], and in
/// near[group] the lanes whose difference is `limit` at most, which is within [-100, 100].
void compare_edit_groups(edit_batch const& batch, int limit,
                         std::int8_t (*differences)[edit_row_bytes], std::uint64_t* near);

/// Of groups whose words all have the letters of `all[g]`, and none but those of `any[g]`, bit g:
/// whether a word of this signature (edit_groups.hpp) may be within `bound` of one of them. At most
/// 64 groups; some more values are read behind them, see `edit_groups_read`.
std::uint64_t near_edit_groups(std::uint64_t const* all, std::uint64_t const* any,
                               std::size_t groups, std::uint64_t signature, std::size_t bound);
/// Values that there are behind the last one of `near_edit_groups`.
inline constexpr std::size_t edit_groups_read = 64;

}  // namespace rulerank::knn
