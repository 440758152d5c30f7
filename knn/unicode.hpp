#pragma once
// The functions of ICU (icu.unicode.org) for words.

#include <memory>
#include <string>
#include <string_view>

#include <unicode/brkiter.h>
#include <unicode/utext.h>

namespace rulerank::inline v0::knn {

/// Returns bytes as well-formed UTF-8: a byte that is no part of UTF-8 is read as Latin-1. `buffer`
/// holds the result unless the bytes are already well-formed.
std::string_view well_formed(std::string_view bytes, std::string& buffer);

/// The number of code points of well-formed UTF-8.
std::size_t count_code_points(std::string_view utf8) noexcept;

/// Applies NFKC_Casefold (Unicode 3.13, UAX 44), and replaces the apostrophe U+2019 by '.
void fold_case(std::string_view utf8, std::string& out);

/// Applies canonical composition (NFC): e followed by an acute accent becomes é.
void compose(std::string_view utf8, std::string& out);

/// Removes accents: in the canonical decomposition, marks that overlay a letter (combining class
/// 1), points of Hebrew and Arabic (10 to 36), and marks above, below or attached (200 and more).
/// Keeps vowel signs, viramas, nuktas and the voicing marks of kana, because they distinguish
/// words. The result is composed (NFC).
void remove_accents(std::string& utf8);

/// Finds words between the word boundaries of UAX 29, root locale; in scripts without spaces, by
/// ICU's dictionaries.
class word_breaker {
 public:
  word_breaker();
  word_breaker(word_breaker const&) : word_breaker() {}
  word_breaker& operator=(word_breaker const&) = delete;
  ~word_breaker();

  /// Calls take(word, has_letter) for each part of well-formed UTF-8 (less than 2 GiB) between
  /// boundaries that has a letter or a number.
  template <class Take>
  void split(std::string_view utf8, Take&& take) {
    begin(utf8);
    std::string_view word;
    bool has_letter = false;
    while (next(utf8, word, has_letter)) take(word, has_letter);
  }

  /// Returns whether the text has no boundary inside.
  bool is_whole(std::string_view utf8);

 private:
  void begin(std::string_view utf8);
  bool next(std::string_view utf8, std::string_view& word, bool& has_letter);

  UText text_ = UTEXT_INITIALIZER;
  std::unique_ptr<icu::BreakIterator> boundaries_;
};

}  // namespace rulerank::knn
