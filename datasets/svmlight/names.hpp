#pragma once
// Features by name: what a chunk of a text calls them, and the numbers they get in the whole text.

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rulerank::inline v0::datasets {

/// How the features of a text are told apart; all of them alike.
enum class feature_form { unknown, numbers, names };

/// The names in a chunk of text, which keeps them. They have numbers from 0, in the order in which
/// they come.
class chunk_names {
 public:
  feature_form form = feature_form::unknown;  ///< of the features so far

  std::uint32_t number_of(std::string_view name);
  std::vector<std::string_view> const& names() const noexcept { return names_; }
  void clear();

 private:
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::size_t next_ = 0;  // the number that comes next where lines list the same features
};

/// The names in a text, whose numbers are known when it has been read.
class text_names {
 public:
  bool empty() const noexcept { return numbers_.empty(); }
  /// Takes a chunk's names and returns what stands for them, [names], until `number`.
  std::vector<std::uint32_t> take(chunk_names const& names);
  /// Gives the names the numbers 1, 2, ... in the order of their bytes, in `data.names` and in all
  /// entries of `data`, whose rows are set.
  void number(context const& ctx, dataset& data) const;

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// Whether a text has characters that break the lines of a table, command a terminal or turn a
/// line's direction: those of `control_size`.
bool has_control_characters(std::string_view text);
/// Whether it is a letter or `_`, or a byte of a character beyond ASCII.
bool begins_feature_name(char c);
/// Whether a text in SVMlight's form can hold the name: it begins with a letter or `_`, and has
/// neither blanks nor such characters nor `:` nor `#`.
bool is_feature_name(std::string_view name);
/// The name of a feature as a text in SVMlight's form can hold it: a character that a name cannot
/// have becomes `_`, and a `_` comes in front of one that a name cannot begin with.
std::string feature_word(std::string_view name);
/// The data set with such names, and numbered in the order of their bytes. Throws `error` at line 1
/// of `place` for two features that would have the same name.
dataset with_feature_words(dataset data, std::string const& place);
/// Whether it is a number as a text in SVMlight's form has them: digits.
bool is_feature_number(std::string_view name);

}  // namespace rulerank::datasets
