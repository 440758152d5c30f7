#pragma once

#include "datasets/text/documents.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Checksums of the texts from which a pair of a pool was made. The comment of its line has them
// after the docid, `docid = ID text_sums = TOPIC-DOCUMENT`, eight hexadecimal digits each. A
// program that displays a pool's texts can verify them, because another text may have the same id.
//
// Threads: any thread may call these functions at any time.
namespace rulerank::inline v0::datasets {

/// The key in a comment, and the column title in delimited text.
inline constexpr std::string_view text_sums_key = "text_sums";

struct text_sums {
  std::uint32_t topic = 0;
  std::uint32_t document = 0;
  friend bool operator==(text_sums const&, text_sums const&) = default;
};

/// Returns a checksum of the texts of all fields: fields named title first, then the others in name
/// order, whatever their order in a file. It covers the words, not the whitespace between them
/// (64-bit FNV-1a, its halves combined by exclusive or).
std::uint32_t sum_of_text(std::span<text_field const> fields);
std::uint32_t sum_of_text(std::string_view text);

/// Returns `text_sums = 0badcafe-600dcafe`.
std::string comment_of(text_sums const& sums);
/// Returns the checksums in a comment, or nothing if they are absent or invalid.
std::optional<text_sums> text_sums_of(std::string_view comment);
/// Returns the fault of a comment with the key; empty if it lacks the key or is valid.
std::string fault_of_text_sums(std::string_view comment);
/// Returns a message with what was found instead of checksums.
std::string unreadable_text_sums(std::string_view found);
/// Removes the checksums from a comment for display.
std::string without_text_sums(std::string_view comment);

}  // namespace rulerank::datasets
