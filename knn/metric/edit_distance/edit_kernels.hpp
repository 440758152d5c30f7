#pragma once

#include <cstddef>
#include <cstdint>

// The loops of `edit_groups`, for the machine's instruction set.
namespace rulerank::inline v0::knn {

/// Bytes of a row: one lane per word, with as many bits as the longest word of a group has letters,
/// rounded up to 8, 16, 32 or 64.
inline constexpr std::size_t edit_row_bytes = 64;

struct alignas(edit_row_bytes) edit_row {
  std::uint8_t bytes[edit_row_bytes] = {};
};

/// Groups of words with equal lane widths, to be compared with a word of `columns` letters. A word
/// of m letters uses the m highest bits of its lane, the last letter the highest.
struct edit_batch {
  std::size_t lane_bytes = 1;
  std::size_t groups = 0;
  std::size_t columns = 0;
  /// [groups][1 + columns]: the bits of the words; then, for each letter of the compared word, the
  /// bits of equal letters.
  edit_row const* const* rows = nullptr;
};

/// Sets differences[group][lane] to the distance of the lane's word minus `columns`, and
/// near[group] to the lanes with a difference of at most `limit`, which is within [-100, 100].
void compare_edit_groups(edit_batch const& batch, int limit,
                         std::int8_t (*differences)[edit_row_bytes], std::uint64_t* near);

/// For groups whose words have all letters of `all[g]` and only letters of `any[g]`, sets bit g if
/// a word with this signature (edit_groups.hpp) may be within `bound` of one of them. At most 64
/// groups. Reads beyond the last group; see `edit_groups_read`.
std::uint64_t near_edit_groups(std::uint64_t const* all, std::uint64_t const* any,
                               std::size_t groups, std::uint64_t signature, std::size_t bound);
/// Readable values that must follow the last one of `near_edit_groups`.
inline constexpr std::size_t edit_groups_read = 64;

}  // namespace rulerank::knn
