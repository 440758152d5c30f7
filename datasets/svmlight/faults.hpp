#pragma once
// Messages for faults that involve more than one line: found and expected.

#include "datasets/svmlight/names.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// A line of a text, from 0, and a byte of the line, from 1.
struct line_place {
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

/// A fault of a text, and its position.
struct text_fault {
  line_place place;
  std::string found_and_expected;
};

inline constexpr char no_documents[] =
    "found no documents, expected lines <label> qid:<id> <feature>:<value> ...";
inline constexpr char no_records[] = "found no documents, expected a header and records";
std::string qid_not_on_all(std::optional<std::string_view> found);
std::string qid_beside_groups(std::string_view found, std::string const& group_file);
/// `sum` of the sizes; `more_than`: empty, or these words.
std::string wrong_group_sum(std::string_view more_than, std::size_t sum, std::string const& name);
/// For a feature in the form `found` after features in the other form.
std::string other_form(feature_form found);
/// The message for a feature or column whose name is not UTF-8.
std::string name_not_utf8(std::string_view name);
/// `regroup`: the option as the reader of the message sets it.
std::string query_again(std::string_view qid, std::uint64_t last_line, std::string_view regroup);
/// For a query that continues after the empty line that ended it.
std::string query_goes_on(std::string_view qid, std::uint64_t blank_line);
/// A warning, not a fault.
std::string all_one_query(std::string const& name, std::size_t documents);

}  // namespace rulerank::datasets
