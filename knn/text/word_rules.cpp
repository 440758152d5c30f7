#include "knn/text/word_rules.hpp"

#include "core/error.hpp"
#include "knn/text/stop_words.hpp"
#include "knn/unicode.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Whether a stemmer's language is written with accents that its rules look for.
bool needs_accents(std::string const& stemmer) {
  return stemmer != "none" && stemmer != "english" && stemmer != "porter";
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

}  // namespace

word_rules::word_rules(analyzer_options const& options)
    : options_(options),
      accents_until_stem_(needs_accents(options.stemmer)),
      stemmer_(options.stemmer) {
  if (options.min_length > options.max_length)
    throw usage_error(fmt::format("found words of {} to {} code points, expected a range",
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
  fold_case(word, out);
  if (!accents_until_stem_ && !is_ascii(out)) remove_accents(out);
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
  if (options_.fold && accents_until_stem_ && !is_ascii(term)) remove_accents(term);
}

}  // namespace rulerank::knn
