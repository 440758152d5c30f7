#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

struct analyzer_options {
  bool fold = true;  ///< case folding (NFKC_Casefold) and removal of accents
  /// `none`, `smart`, `file:PATH` with one word per line, or `words:` followed by words separated
  /// by spaces.
  std::string stop_words = "smart";
  std::string stemmer = "english";  ///< none, or one of `stemmers()`
  std::size_t min_length = 1;       ///< drops words of fewer code points
  std::size_t max_length = 64;      ///< drops words of more code points
  bool keep_numbers = true;         ///< false: drops words without a letter
  /// Elision and Turkish letters, below; false: as in indexes made before this option existed.
  bool elision = true;
};

/// The algorithms of libstemmer (snowballstem.org), in its order: arabic, ..., english, ...,
/// porter, ...
std::vector<std::string> stemmers();

/// Converts text to terms. A word is the text between two word boundaries of Unicode (UAX 29, ICU's
/// root locale) that has a letter or a number. Each word passes these steps:
///
/// 1. Folding: NFKC_Casefold; the apostrophe U+2019 becomes '; accents are removed. With the
///    Turkish stemmer, the small letter of I is ı, and that of İ is i.
/// 2. Elision: the French, Italian and Catalan stemmers remove an elided article or pronoun
///    (`l'énergie` becomes `énergie`), the Turkish stemmer removes a suffix after an apostrophe
///    (`Ankara'nın` becomes `Ankara`).
/// 3. Length and numbers: words outside the length limits (code points) are dropped, and numbers
///    unless they are kept.
/// 4. Stop words are dropped; the list is folded like the text.
/// 5. Stemming (Snowball, libstemmer).
///
/// Stemmers of languages other than English need accents. With a stemmer other than `none`,
/// `english` and `porter`, accents are therefore removed from the stem instead of the word, and
/// with the Turkish one the stem's ı becomes i.
///
/// A term is never empty and has no spaces. Bytes that are not UTF-8 are read as Latin-1. One
/// thread at a time may use an analyzer. Copies share only the stop list, so several threads may
/// each use a copy.
class analyzer {
 public:
  /// Throws `usage_error` for an unknown stemmer or stop list, listing the known ones, and for
  /// lengths that exclude all words. Throws `error` for a malformed file of stop words.
  explicit analyzer(analyzer_options const& options = {});
  analyzer(analyzer const& other);
  analyzer(analyzer&&) noexcept;
  analyzer& operator=(analyzer other) noexcept;
  ~analyzer();

  /// Calls take(term) for each term, in order. The view is valid during the call, which must not
  /// use this analyzer.
  void analyze(std::string_view utf8, std::function<void(std::string_view)> const& take);
  /// Calls take(word, term) for each word that passes step 3: the word as step 2 leaves it, and its
  /// term, which is empty for a stop word.
  void analyze_words(std::string_view utf8,
                     std::function<void(std::string_view, std::string_view)> const& take);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rulerank::knn
