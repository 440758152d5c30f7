#pragma once
// What can be wrong with a text beyond a single line, in words: found and expected.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rulerank::datasets {

inline constexpr char no_documents[] =
    "no documents found, expected lines <label> qid:<id> <feature>:<value> ...";
std::string qid_not_on_all(std::optional<std::string_view> found);
std::string qid_beside_groups(std::string_view found, std::string const& group_file);
std::string groups_too_large(std::size_t documents, std::string const& name);
std::string query_again(std::string_view qid, std::uint64_t last_line);

}  // namespace rulerank::datasets
