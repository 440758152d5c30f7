#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

struct analyzer_options {
  bool fold = true;  ///< case folding (NFKC_Casefold), and letters without accents
  /// `none`, `smart`, `file:PATH` with one word a line, or `words:` and the words between blanks.
  std::string stop_words = "smart";
  std::string stemmer = "english";  ///< none, or one of `stemmers()`
  std::size_t min_length = 1;       ///< words shorter than this are dropped (code points)
  std::size_t max_length = 64;      ///< and words longer than this
  bool keep_numbers = true;         ///< false: words without a letter are dropped
  bool elision = true;              ///< false: as in indexes that were made before there was any
};

/// The algorithms of libstemmer (snowballstem.org), in its order: arabic, ..., english, ...,
/// porter, ...
std::vector<std::string> stemmers();

/// Makes terms of text. A word is the text between two word boundaries of Unicode (UAX 29, ICU's
/// root locale) that has a letter or a number. In this order, a word
///
/// 1. is folded: NFKC_Casefold, the apostrophe U+2019 becomes ', accents are taken off
/// 2. loses what French, Italian and Catalan elide in front of it, with that stemmer (`l'énergie`
/// is
///    `énergie`), and with the Turkish one the suffix behind an apostrophe (`Ankara'nın` is
///    `Ankara`)
/// 3. is dropped when its length (code points) is out of bounds, or when it is a number and
///    numbers are not kept
/// 4. is dropped when it is a stop word; the words of the list are folded like those of the text
/// 5. becomes its stem (Snowball, libstemmer).
///
/// The stemmers of languages other than English need the accents: there (but for `none`, `english`
/// and `porter`) accents are taken off the stem instead of the word.
///
/// A term never is empty and has no blanks. Bytes that are no UTF-8 are read as Latin-1. One thread
/// at a time may use an analyzer; copies, which share the stop list alone, are used side by side.
class analyzer {
 public:
  /// Throws `usage_error` for a stemmer or a stop list that does not exist, and says which do, and
  /// for lengths without words; `error` for a file of stop words that is not right.
  explicit analyzer(analyzer_options const& options = {});
  analyzer(analyzer const& other);
  analyzer(analyzer&&) noexcept;
  analyzer& operator=(analyzer other) noexcept;
  ~analyzer();

  /// Calls take(term) for each term, in order; the view is valid during the call, which must not
  /// use this analyzer.
  void analyze(std::string_view utf8, std::function<void(std::string_view)> const& take);
  /// Calls take(word, term) likewise for each word that 3. leaves: as 2. leaves it, and its term,
  /// which is empty for a stop word.
  void analyze_words(std::string_view utf8,
                     std::function<void(std::string_view, std::string_view)> const& take);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rulerank::knn
