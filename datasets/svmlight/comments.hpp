#pragma once
// The comments of documents and the ids in them.

#include <cstddef>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Whitespace of a comment.
constexpr bool is_comment_blank(char c) {
  return static_cast<unsigned char>(c) <= ' ' &&
         (c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'));
}

/// Trims a comment.
inline std::string_view trimmed_comment(std::string_view text) {
  while (!text.empty() && is_comment_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_comment_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns X of a comment's first `KEY = X` at the beginning of a word (also after a `#`), empty if
/// X is empty; a null view if there is no such key. `marks` may follow the key.
inline std::string_view value_of(std::string_view comment, std::string_view key,
                                 std::string_view marks = "=") {
  // Nearly all comments begin with the key.
  std::size_t const begin = comment.starts_with('#') ? 1 : 0;
  for (std::size_t at = comment.substr(begin).starts_with(key) ? begin : comment.find(key);
       at != comment.npos; at = comment.find(key, at + 1)) {
    if (at > 0 && comment[at - 1] != '#' && !is_comment_blank(comment[at - 1])) continue;
    std::string_view rest = comment.substr(at + key.size());
    while (!rest.empty() && is_comment_blank(rest.front())) rest.remove_prefix(1);
    if (rest.empty() || marks.find(rest.front()) == marks.npos) continue;
    rest.remove_prefix(1);
    while (!rest.empty() && is_comment_blank(rest.front())) rest.remove_prefix(1);
    std::size_t size = 0;
    while (size < rest.size() && !is_comment_blank(rest[size])) ++size;
    return rest.substr(0, size);
  }
  return {};
}

/// Returns the first word of a comment that can be an id, as in `# 1370 rocky`; empty if this word
/// is a key, as in `# inc = 1` and `# note: ...`, or there is none.
inline std::string_view first_word_of(std::string_view comment) {
  comment = trimmed_comment(comment);
  if (comment.starts_with('#')) comment = trimmed_comment(comment.substr(1));
  std::size_t size = 0;
  while (size < comment.size() && !is_comment_blank(comment[size])) ++size;
  std::string_view const word = comment.substr(0, size);
  bool const is_key = word.find('=') != word.npos || word.ends_with(':') ||
                      trimmed_comment(comment.substr(size)).starts_with('=');
  return is_key ? std::string_view{} : word.substr(0, word.find_last_not_of(",;") + 1);
}

/// Returns the id of a document in its comment: X of `docid = X`, `docid: X` or `docno = X`,
/// otherwise the first word if it contains a digit. A word without a digit is usually a remark.
inline std::string_view docid_of(std::string_view comment) {
  for (std::string_view const key : {"docid", "docno"})
    if (std::string_view const named = value_of(comment, key, "=:"); !named.empty()) return named;
  std::string_view const word = first_word_of(comment);
  return word.find_first_of("0123456789") == word.npos ? std::string_view{} : word;
}

/// Returns the comment of a document's line.
inline std::string_view comment_of(std::string_view line) {
  std::size_t const hash = line.find('#');
  return hash == line.npos ? std::string_view{} : trimmed_comment(line.substr(hash + 1));
}

/// Appends the value of document `d` to a list that stays empty while no document has a value.
inline void append_optional(std::vector<std::string_view>& list, std::size_t d,
                            std::string_view value) {
  if (list.empty()) {
    if (value.empty()) return;
    list.resize(d);
  }
  list.push_back(value);
}

/// Appends the values of `count` documents, in such a list, to the list of `documents` documents.
inline void append_optional(std::vector<std::string_view>& list, std::size_t documents,
                            std::vector<std::string_view> const& values, std::size_t count) {
  if (list.empty() && values.empty()) return;
  list.resize(documents);
  list.insert(list.end(), values.begin(), values.end());
  list.resize(documents + count);
}

}  // namespace rulerank::datasets
