#include "knn/text/word_rules.hpp"

#include "core/error.hpp"
#include "knn/text/stop_words.hpp"
#include "knn/unicode.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Returns whether the rules of a stemmer depend on accents.
bool needs_accents(std::string const& stemmer) {
  return stemmer != "none" && stemmer != "english" && stemmer != "porter";
}

/// The words that a language elides before others, from the lists of Lucene.
std::span<std::string_view const> elided_words(std::string_view stemmer) {
  static constexpr std::string_view french[] = {"l", "d", "qu",    "j",      "m",      "t",     "n",
                                                "s", "c", "jusqu", "quoiqu", "lorsqu", "puisqu"};
  static constexpr std::string_view italian[] = {
      "l",  "un",  "d",    "c",    "all",  "dall", "dell", "nell", "sull", "coll", "pell",
      "gl", "agl", "dagl", "degl", "negl", "sugl", "m",    "t",    "s",    "v"};
  static constexpr std::string_view catalan[] = {"l", "d", "m", "n", "s", "t"};
  if (stemmer == "french") return french;
  if (stemmer == "italian") return italian;
  if (stemmer == "catalan") return catalan;
  return {};
}

/// The language that separates suffixes of names by an apostrophe, and whose capital of `i` has a
/// dot.
constexpr std::string_view turkish = "turkish";
constexpr std::string_view dotless_i = "\u0131";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Replaces the capitals I and İ by their small letters in Turkish.
void lower_turkish_i(std::string& word) {
  replace_all(word, "I\u0307", "i");
  replace_all(word, "\u0130", "i");
  replace_all(word, "I", dotless_i);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

}  // namespace

bool has_elision(std::string_view stemmer) {
  return !elided_words(stemmer).empty() || stemmer == turkish;
}

word_rules::word_rules(analyzer_options const& options)
    : options_(options),
      accents_until_stem_(needs_accents(options.stemmer)),
      elided_(options.elision ? elided_words(options.stemmer)
                              : std::span<std::string_view const>()),
      is_turkish_(options.elision && options.stemmer == turkish),
      stemmer_(options.stemmer) {
  if (options.min_length > options.max_length)
    throw usage_error(
        fmt::format("found words of {} to {} code points, expected a least length that does not "
                    "exceed the largest",
                    options.min_length, options.max_length));
  std::unordered_set<std::string> folded;
  std::string word;
  for (std::string const& listed : stop_words(options.stop_words)) {
    fold(listed, word);
    folded.insert(word);
  }
  stop_words_ = std::make_shared<std::unordered_set<std::string> const>(std::move(folded));
}

void word_rules::fold(std::string_view word, std::string& out) const {
  if (!options_.fold) {
    out = word;
    return;
  }
  if (is_turkish_) {
    std::string small(word);
    lower_turkish_i(small);
    fold_case(small, out);
  } else {
    fold_case(word, out);
  }
  if (!accents_until_stem_ && !is_ascii(out)) remove_accents(out);
}

std::string_view word_rules::without_elision(std::string_view word) const noexcept {
  if (elided_.empty() && !is_turkish_) return word;
  for (std::string_view const apostrophe : {"'", "\u2019"}) {
    std::size_t const at = word.find(apostrophe);
    if (at == word.npos) continue;
    if (is_turkish_) return at > 0 ? word.substr(0, at) : word;
    std::string_view const rest = word.substr(at + apostrophe.size());
    auto const is_elided = [&](std::string_view small) {
      return std::ranges::equal(word.substr(0, at), small, {}, [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
      });
    };
    return !rest.empty() && std::any_of(elided_.begin(), elided_.end(), is_elided) ? rest : word;
  }
  return word;
}

bool word_rules::admits(std::string_view word, bool has_letter) const noexcept {
  if (!has_letter && !options_.keep_numbers) return false;
  std::size_t const length = count_code_points(word);
  return length >= options_.min_length && length <= options_.max_length;
}

void word_rules::term_of(std::string_view word, std::string& term) {
  term = word;
  if (stop_words_->contains(term)) {
    term.clear();
    return;
  }
  term = stemmer_.stem(word);
  if (!options_.fold || !accents_until_stem_ || is_ascii(term)) return;
  remove_accents(term);
  if (is_turkish_) replace_all(term, dotless_i, "i");
}

}  // namespace rulerank::knn
