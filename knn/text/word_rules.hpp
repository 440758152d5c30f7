#pragma once

#include "knn/text/analyzer.hpp"
#include "knn/text/stemmer.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

namespace rulerank::inline v0::knn {

/// Whether the language of a stemmer elides words in front of others, or sets suffixes off by an
/// apostrophe.
bool has_elision(std::string_view stemmer);

/// What becomes of a single word under an analyzer's options. One thread at a time.
class word_rules {
 public:
  /// Throws as `analyzer`'s constructor.
  explicit word_rules(analyzer_options const& options);

  analyzer_options const& options() const noexcept { return options_; }

  /// The word folded as before the stop list, or as it is when words are not folded.
  void fold(std::string_view word, std::string& out) const;
  /// A folded word without the article or pronoun that French, Italian and Catalan elide in front
  /// of it (`l'energie`), or without the apostrophe and suffix of a Turkish name (`ankara'nın`, as
  /// Lucene's ApostropheFilter); as it is for other stemmers.
  std::string_view without_elision(std::string_view word) const noexcept;
  /// Whether a folded word is of a length and a kind that is kept.
  bool admits(std::string_view word, bool has_letter) const noexcept;
  /// The term of a folded word that is admitted; empty for a stop word.
  void term_of(std::string_view word, std::string& term);

 private:
  analyzer_options options_;
  bool accents_until_stem_;
  std::span<std::string_view const> elided_;
  bool cuts_suffixes_;
  std::shared_ptr<std::unordered_set<std::string> const> stop_words_;
  stemmer stemmer_;
};

/// Folding can put blanks into a word (U+FDFA is four words in one character): calls take(part)
/// for each part between blanks.
template <class Take>
void for_each_part(std::string_view folded, Take&& take) {
  while (!folded.empty()) {
    std::size_t const end = std::min(folded.find(' '), folded.size());
    if (end > 0) take(folded.substr(0, end));
    folded.remove_prefix(std::min(end + 1, folded.size()));
  }
}

}  // namespace rulerank::knn
