#pragma once
// What is asked of ICU (icu.unicode.org) about words.

#include <memory>
#include <string>
#include <string_view>

#include <unicode/brkiter.h>
#include <unicode/utext.h>

namespace rulerank::inline v0::knn {

/// Bytes as well-formed UTF-8: a byte that is no part of it is read as the character of Latin-1
/// with its value. `buffer` holds the result where the bytes are not well-formed already.
std::string_view well_formed(std::string_view bytes, std::string& buffer);

/// The number of code points of well-formed UTF-8.
std::size_t count_code_points(std::string_view utf8) noexcept;

/// NFKC_Casefold (Unicode 3.13, UAX 44), and the apostrophe U+2019 as '.
void fold_case(std::string_view utf8, std::string& out);

/// The canonical composition (NFC): e and an acute accent are é.
void compose(std::string_view utf8, std::string& out);

/// Takes accents off letters: of the canonical decomposition the marks that overlay a letter
/// (combining class 1), points of Hebrew and Arabic (10 to 36), and what stands above, below or is
/// attached (200 and more). Vowel signs, viramas, nuktas and the voicing marks of kana stay, since
/// they make other words. The result is composed (NFC).
void remove_accents(std::string& utf8);

/// Finds words between the word boundaries of UAX 29, root locale; where a script has no blanks, as
/// ICU's dictionaries have them.
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

  /// Whether there is no boundary inside.
  bool is_whole(std::string_view utf8);

 private:
  void begin(std::string_view utf8);
  bool next(std::string_view utf8, std::string_view& word, bool& has_letter);

  UText text_ = UTEXT_INITIALIZER;
  std::unique_ptr<icu::BreakIterator> boundaries_;
};

}  // namespace rulerank::knn
