#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// Returns the words of a stop list, neither folded nor stemmed: "none" (no words), "smart" (570
/// words), "file:PATH" (one word per line; ignores empty lines and lines that begin with #), or
/// "words:" followed by words separated by spaces. Throws `usage_error` for another name. Throws
/// `error` with file and line for a line that the analyzer does not read as exactly one word, and
/// for a file without words.
std::vector<std::string> stop_words(std::string const& name);

/// Returns SMART's list, words separated by spaces.
std::string_view smart_stop_words() noexcept;

}  // namespace rulerank::knn
