#include "knn/text/analyzer.hpp"

#include "core/error.hpp"
#include "knn/text/ascii_words.hpp"
#include "knn/text/stop_words.hpp"
#include "knn/text/word_rules.hpp"
#include "knn/unicode.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::string_view blanks = " \t\r\n";

bool is_ascii_blank(char c) {
  return blanks.find(c) != blanks.npos;
}

/// Returns the offset of the first non-ASCII byte from `at` on, or the text's size.
std::size_t find_beyond_ascii(std::string_view text, std::size_t at) {
  constexpr std::uint64_t high_bits = 0x8080808080808080;
  for (std::uint64_t eight = 0; text.size() - at >= sizeof eight; at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if (eight & high_bits) break;
  }
  while (at < text.size() && static_cast<signed char>(text[at]) >= 0) ++at;
  return at;
}

/// Cuts a text at spaces, which end every word, and calls ascii(part) or other(part).
template <class Ascii, class Other>
void part_by_alphabet(std::string_view text, Ascii&& ascii, Other&& other) {
  // Each call of ICU has a cost, so a short ASCII part between two others is joined with them.
  constexpr std::size_t near = 64;
  // ICU counts in 32 bits, and a byte of Latin-1 becomes two.
  constexpr std::size_t longest = std::size_t{1} << 29;
  while (!text.empty()) {
    std::size_t odd = find_beyond_ascii(text, 0);
    std::size_t begin = odd;
    if (odd < text.size())
      while (begin > 0 && !is_ascii_blank(text[begin - 1])) --begin;
    ascii(text.substr(0, begin));
    if (odd == text.size()) return;
    std::size_t end = odd;
    while (odd - end <= near && odd < text.size()) {
      end = std::min(text.find_first_of(blanks, odd), text.size());
      odd = find_beyond_ascii(text, end);
    }
    if (end - begin > longest) {
      end = begin + longest;
      for (int bytes = 1; bytes < 4 && static_cast<unsigned char>(text[end]) >> 6 == 2; ++bytes)
        --end;
    }
    other(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

/// Caches the terms of recent words, because most words of a text are repetitions. The cache of a
/// short text stays small.
class term_cache {
 public:
  /// Returns the term that make(word, term) computes; empty if the word has none.
  template <class Make>
  std::string_view term_of(std::string_view word, Make&& make) {
    std::size_t const hash = std::hash<std::string_view>{}(word);
    slot* s = &slots_[hash % slots_.size()];
    if (s->word == word) return s->term;
    if (++misses_ > slots_.size() && slots_.size() < most) {
      slots_ = std::vector<slot>(most);
      s = &slots_[hash % most];
    }
    s->word.clear();
    make(word, s->term);
    s->word = word;
    return s->term;
  }

 private:
  static constexpr std::size_t least = 1 << 8;
  static constexpr std::size_t most = 1 << 15;
  struct slot {
    std::string word;
    std::string term;
  };
  std::vector<slot> slots_{least};
  std::size_t misses_ = 0;
};

}  // namespace

struct analyzer::state {
  word_rules rules;
  word_breaker breaker{};
  term_cache terms{};
  std::string repaired{};
  std::string folded{};

  /// Calls take(word, term); the term is empty for a stop word.
  template <class Take>
  void analyze(std::string_view text, Take const& take) {
    auto const finish = [&](std::string_view whole, bool has_letter) {
      std::string_view const word = rules.without_elision(whole);
      if (!rules.admits(word, has_letter)) return;
      auto const make = [this](std::string_view w, std::string& term) { rules.term_of(w, term); };
      take(word, terms.term_of(word, make));
    };
    auto const in_ascii = [&](std::string_view word, bool has_letter) {
      if (!rules.options().fold) return finish(word, has_letter);
      if (rules.folds_beyond_ascii()) {
        rules.fold(word, folded);
        return finish(folded, has_letter);
      }
      folded.resize(word.size());
      std::transform(word.begin(), word.end(), folded.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
      finish(folded, has_letter);
    };
    auto const in_unicode = [&](std::string_view word, bool has_letter) {
      rules.fold(word, folded);
      for_each_part(folded, [&](std::string_view part) { finish(part, has_letter); });
    };
    part_by_alphabet(
        text, [&](std::string_view part) { split_ascii(part, in_ascii); },
        [&](std::string_view part) { breaker.split(well_formed(part, repaired), in_unicode); });
  }
};

analyzer::analyzer(analyzer_options const& options) : state_(new state{word_rules(options)}) {}
analyzer::analyzer(analyzer const& other) : state_(new state{other.state_->rules}) {}
analyzer::analyzer(analyzer&&) noexcept = default;
analyzer& analyzer::operator=(analyzer other) noexcept {
  state_.swap(other.state_);
  return *this;
}
analyzer::~analyzer() = default;

void analyzer::analyze(std::string_view utf8, std::function<void(std::string_view)> const& take) {
  state_->analyze(utf8, [&](std::string_view, std::string_view term) {
    if (!term.empty()) take(term);
  });
}

void analyzer::analyze_words(std::string_view utf8,
                             std::function<void(std::string_view, std::string_view)> const& take) {
  state_->analyze(utf8, take);
}

}  // namespace rulerank::knn
