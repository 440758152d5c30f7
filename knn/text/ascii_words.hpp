#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rulerank::inline v0::knn {

/// The classes of ASCII characters in the word boundaries of UAX 29.
enum ascii_kind : std::uint8_t {
  ascii_other = 0,
  ascii_letter = 1,           ///< ALetter, which may include @
  ascii_digit = 2,            ///< Numeric
  ascii_joiner = 4,           ///< ExtendNumLet: _
  ascii_between_letters = 8,  ///< MidLetter, MidNumLet, Single_Quote
  ascii_between_digits = 16,  ///< MidNum, MidNumLet, Single_Quote
  ascii_alphabetic = 32,      ///< a letter of the alphabet
};

/// Returns the classes of the 128 characters from ICU; versions of ICU differ in : and @.
std::array<std::uint8_t, 128> const& ascii_kinds();

/// Calls take(word, has_letter) for each word of an ASCII text. The words are those of
/// `word_breaker`, found an order of magnitude faster.
template <class Take>
void split_ascii(std::string_view text, Take&& take) {
  auto const& kinds = ascii_kinds();
  auto const kind = [&](std::size_t at) -> unsigned {
    return kinds[static_cast<unsigned char>(text[at])];
  };
  constexpr unsigned part = ascii_letter | ascii_digit | ascii_joiner;
  for (std::size_t at = 0; at < text.size();) {
    unsigned last = kind(at);
    if (!(last & part)) {
      ++at;
      continue;
    }
    std::size_t const begin = at++;
    unsigned all = last;
    for (; at < text.size(); ++at) {
      unsigned here = kind(at);
      if (!(here & part)) {
        // WB6, WB7, WB11, WB12: the character is inside a word only between two letters or two
        // digits.
        if (at + 1 == text.size()) break;
        unsigned const after = kind(at + 1);
        bool const inside = (here & ascii_between_letters && last & after & ascii_letter) ||
                            (here & ascii_between_digits && last & after & ascii_digit);
        if (!inside) break;
        here = after;
        ++at;
      }
      last = here;
      all |= here;
    }
    if (all & (ascii_alphabetic | ascii_digit))
      take(text.substr(begin, at - begin), (all & ascii_alphabetic) != 0);
  }
}

}  // namespace rulerank::knn
