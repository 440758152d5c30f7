#pragma once

#include "datasets/text/documents.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// What texts a pair of a pool was made of: checksums that its line's comment has behind the docid,
// `docid = ID text_sums = TOPIC-DOCUMENT`, eight hexadecimal digits each. Who shows a pool's texts
// sees by them whether these are the same ones: an id alone may be that of another text.
//
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::datasets {

/// The key in a comment, and the title of the column in delimited text.
inline constexpr std::string_view text_sums_key = "text_sums";

struct text_sums {
  std::uint32_t topic = 0;
  std::uint32_t document = 0;
  friend bool operator==(text_sums const&, text_sums const&) = default;
};

/// A checksum of the fields' texts, one behind the other: those named title first, then the others
/// in the order of their names, whatever their order in a file. It is one of their words, whatever
/// the blanks and line ends between them (64-bit FNV-1a, its halves combined by exclusive or).
std::uint32_t sum_of_text(std::span<text_field const> fields);
std::uint32_t sum_of_text(std::string_view text);

/// `text_sums = 0badcafe-600dcafe`.
std::string comment_of(text_sums const& sums);
/// What a comment says, or nothing where it does not.
std::optional<text_sums> text_sums_of(std::string_view comment);
/// Why a comment cannot be read that has the key; empty where it has none or can be read.
std::string fault_of_text_sums(std::string_view comment);
/// That of what stands where checksums are to be: what was found and what is expected.
std::string unreadable_text_sums(std::string_view found);
/// The comment as people see it: without that.
std::string without_text_sums(std::string_view comment);

}  // namespace rulerank::datasets
