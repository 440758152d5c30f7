#pragma once
// Features by name: their names in a chunk of text, and their numbers in the whole text.

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rulerank::inline v0::datasets {

/// How the features of a text are identified; the same for all.
enum class feature_form { unknown, numbers, names };

/// The names in a chunk of text, which must outlive them. They are numbered from 0 in the order of
/// their first occurrence.
class chunk_names {
 public:
  feature_form form = feature_form::unknown;  ///< of the features so far

  std::uint32_t number_of(std::string_view name);
  std::vector<std::string_view> const& names() const noexcept { return names_; }
  void clear();

 private:
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::size_t next_ = 0;  // the expected next number, if lines list the same features
};

/// The names in a text. Their numbers are known only after the whole text has been read.
class text_names {
 public:
  bool empty() const noexcept { return numbers_.empty(); }
  /// Takes a chunk's names and returns their temporary numbers, [names], for use until `number`.
  std::vector<std::uint32_t> take(chunk_names const& names);
  /// Gives the names the numbers 1, 2, ... in byte order, in `data.names` and in all entries of
  /// `data`, whose rows must be set.
  void number(context const& ctx, dataset& data) const;

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// Returns whether a text has characters that break the lines of a table, control a terminal or
/// change the text direction: those of `control_size`.
bool has_control_characters(std::string_view text);
/// Returns whether it is a letter, `_`, or a byte of a non-ASCII character.
bool begins_feature_name(char c);
/// Returns whether a name is valid in SVMlight's format: it begins with a letter or `_`, and
/// contains no whitespace, no such characters, no `:` and no `#`.
bool is_feature_name(std::string_view name);
/// Converts a name to a valid one in SVMlight's format: replaces invalid characters by `_`, and
/// inserts a `_` before an invalid first character.
std::string feature_word(std::string_view name);
/// Renames the features of a data set in this way, and numbers them in byte order. Throws `error`
/// at line 1 of `place` if two features would have the same name.
dataset with_feature_words(dataset data, std::string const& place);
/// Returns whether it is a feature number in SVMlight's format: digits.
bool is_feature_number(std::string_view name);

}  // namespace rulerank::datasets
