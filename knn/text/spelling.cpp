#include "knn/text/spelling.hpp"

#include "core/error.hpp"
#include "knn/text/word_rules.hpp"
#include "knn/unicode.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t shortest_word = 4;   // code points
constexpr std::size_t two_edits_from = 8;  // code points
constexpr std::size_t longest_text = std::size_t{1} << 29;

/// A word of a text that the dictionary lacks.
struct unknown_word {
  std::size_t document, field;
  std::size_t begin, size;  ///< bytes of the text
  std::string folded;
};

bool has_digit(std::string_view utf8) {
  for (std::size_t at = 0; at < utf8.size();) {
    UChar32 c = 0;
    U8_NEXT_UNSAFE(utf8.data(), at, c);
    if (u_isdigit(c)) return true;
  }
  return false;
}

/// Finds the words of texts that need a replacement.
class word_finder {
 public:
  explicit word_finder(text_index const& index)
      : rules_(index.options().analyzer), dictionary_(*index.dictionary()) {}

  /// Requires well-formed text.
  template <class Take>
  void find(std::string_view text, Take&& take) {
    breaker_.split(text, [&](std::string_view word, bool has_letter) {
      rules_.fold(word, folded_);
      // A character that folds to several words cannot result from a mistaken letter.
      if (folded_.find(' ') != folded_.npos || !wants_replacement(has_letter)) return;
      take(static_cast<std::size_t>(word.data() - text.data()), word.size(), folded_);
    });
  }

 private:
  bool wants_replacement(bool has_letter) {
    if (!rules_.admits(folded_, has_letter) || count_code_points(folded_) < shortest_word ||
        has_digit(folded_) || dictionary_.words.find(folded_))
      return false;
    rules_.term_of(folded_, term_);
    return !term_.empty();
  }

  word_rules rules_;
  word_breaker breaker_;
  word_list const& dictionary_;
  std::string folded_, term_;
};

/// The nearest word of the dictionary, and its distance.
struct near_word {
  std::size_t word;
  std::uint32_t distance;
};

near_word best_of(word_list const& dictionary, std::span<std::uint32_t const> words,
                  std::span<double const> distances) {
  // Words are numbered in code point order.
  auto const key = [&](std::size_t i) {
    return std::tuple(distances[i], -static_cast<double>(dictionary.documents[words[i]]), words[i]);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (key(i) < key(best)) best = i;
  return {words[best], static_cast<std::uint32_t>(distances[best])};
}

/// The replacement of each word; words without a near word are absent.
using replacements = std::unordered_map<std::string, near_word>;

void look_up(context const& ctx, word_list const& dictionary, metric_index const& near,
             std::vector<std::string> const& words, double radius, replacements& found) {
  if (words.empty()) return;
  auto const& space = static_cast<word_space const&>(near.space());
  rows_in_range const rows = near.search_range(ctx, *space.queries(words), radius);
  for (std::size_t w = 0; w < words.size(); ++w)
    if (!rows.rows_of(w).empty())
      found.emplace(words[w], best_of(dictionary, rows.rows_of(w), rows.values_of(w)));
}

replacements replacements_for(context const& ctx, word_list const& dictionary,
                              metric_index const& near, std::span<unknown_word const> unknown) {
  std::unordered_map<std::string_view, bool> seen;
  std::vector<std::string> short_words, long_words;
  for (unknown_word const& one : unknown)
    if (seen.emplace(one.folded, true).second)
      (count_code_points(one.folded) < two_edits_from ? short_words : long_words)
          .push_back(one.folded);
  replacements found;
  look_up(ctx, dictionary, near, short_words, 1, found);
  look_up(ctx, dictionary, near, long_words, 2, found);
  return found;
}

std::shared_ptr<word_space const> words_of(text_index const& index) {
  if (!index.dictionary())
    throw usage_error(
        "found an index without a dictionary, expected an index that was made with one");
  string_table const& table = index.dictionary()->words;
  std::vector<std::string> words;
  words.reserve(table.size());
  for (std::size_t w = 0; w < table.size(); ++w) words.emplace_back(table[w]);
  return std::make_shared<word_space const>(std::move(words), letters::code_points);
}

}  // namespace

spelling_corrector::spelling_corrector(context const& ctx, text_index const& index)
    : index_(index), near_(ctx, words_of(index)) {}

std::vector<spelling_change> spelling_corrector::correct(
    context const& ctx, std::span<datasets::text_document> documents) const {
  word_list const& dictionary = *index_.dictionary();
  word_finder finder(index_);
  std::vector<unknown_word> unknown;
  std::string buffer;
  for (std::size_t d = 0; d < documents.size(); ++d)
    for (std::size_t f = 0; f < documents[d].fields.size(); ++f) {
      std::string const& text = documents[d].fields[f].text;
      if (text.size() >= longest_text)
        throw usage_error("found a query of 512 MB or more, expected a shorter query to correct");
      finder.find(well_formed(text, buffer),
                  [&](std::size_t begin, std::size_t size, std::string const& folded) {
                    unknown.push_back({d, f, begin, size, folded});
                  });
    }
  replacements const found = replacements_for(ctx, dictionary, near_, unknown);
  std::vector<spelling_change> changes;
  for (unknown_word const& one : unknown)
    if (auto const at = found.find(one.folded); at != found.end())
      changes.push_back({one.document, one.folded, std::string(dictionary.words[at->second.word]),
                         at->second.distance, dictionary.documents[at->second.word]});
  // From the end, so that earlier positions remain valid.
  std::pair<std::size_t, std::size_t> repaired{documents.size(), 0};
  for (auto one = unknown.rbegin(); one != unknown.rend(); ++one) {
    auto const at = found.find(one->folded);
    if (at == found.end()) continue;
    std::string& text = documents[one->document].fields[one->field].text;
    if (std::pair const here(one->document, one->field); here != repaired) {
      repaired = here;
      text = std::string(well_formed(text, buffer));
    }
    text.replace(one->begin, one->size, dictionary.words[at->second.word]);
  }
  return changes;
}

}  // namespace rulerank::knn
