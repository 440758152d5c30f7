#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// The words of a stop list, neither folded nor stemmed: "none" (no words), "smart" (570 words),
/// "file:PATH", a file with one word a line, where empty lines and lines that begin with # are
/// ignored, or "words:" and the words themselves, separated by blanks. Throws `usage_error` for
/// another name, `error` with file and line for a line that is not exactly one word to the
/// analyzer, and for a file without words.
std::vector<std::string> stop_words(std::string const& name);

/// SMART's list, words separated by blanks.
std::string_view smart_stop_words() noexcept;

}  // namespace rulerank::knn
