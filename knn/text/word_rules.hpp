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

/// Returns whether the language of a stemmer elides words before others, or separates suffixes by
/// an apostrophe, so that `analyzer_options::elision` has an effect.
bool has_elision(std::string_view stemmer);

/// Processes a single word under an analyzer's options. One thread at a time.
class word_rules {
 public:
  /// Throws as the constructor of `analyzer`.
  explicit word_rules(analyzer_options const& options);

  analyzer_options const& options() const noexcept { return options_; }

  /// Folds the word as before the stop list, or copies it if words are not folded.
  void fold(std::string_view word, std::string& out) const;
  /// Whether folding an ASCII word makes other letters than its small ones: Turkish I.
  bool folds_beyond_ascii() const noexcept { return is_turkish_; }
  /// Removes from a folded word the article or pronoun that French, Italian and Catalan elide
  /// before it (`l'energie`), or the apostrophe and suffix of a Turkish name (`ankara'nın`, as
  /// Lucene's ApostropheFilter). Unchanged for other stemmers.
  std::string_view without_elision(std::string_view word) const noexcept;
  /// Returns whether a folded word passes the limits on length and numbers.
  bool admits(std::string_view word, bool has_letter) const noexcept;
  /// Computes the term of an admitted folded word; empty for a stop word.
  void term_of(std::string_view word, std::string& term);

 private:
  analyzer_options options_;
  bool accents_until_stem_;
  std::span<std::string_view const> elided_;
  bool is_turkish_;
  std::shared_ptr<std::unordered_set<std::string> const> stop_words_;
  stemmer stemmer_;
};

/// Folding can put spaces into a word (U+FDFA folds to four words): calls take(part) for each part
/// between spaces.
template <class Take>
void for_each_part(std::string_view folded, Take&& take) {
  while (!folded.empty()) {
    std::size_t const end = std::min(folded.find(' '), folded.size());
    if (end > 0) take(folded.substr(0, end));
    folded.remove_prefix(std::min(end + 1, folded.size()));
  }
}

}  // namespace rulerank::knn
