#include "knn/text/ascii_words.hpp"

#include "knn/unicode.hpp"

#include <string>

namespace rulerank::inline v0::knn {

namespace {

std::uint8_t kind_of(char c, word_breaker& breaker) {
  using text = std::string;
  bool const alphabetic = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (breaker.is_whole(text{'a', '.', c}))
    return alphabetic ? ascii_letter | ascii_alphabetic : ascii_letter;
  if (breaker.is_whole(text{'1', '.', c})) return ascii_digit;
  if (breaker.is_whole(text{'a', c})) return ascii_joiner;
  unsigned const between_letters =
      breaker.is_whole(text{'a', c, 'a'}) ? ascii_between_letters : ascii_other;
  unsigned const between_digits =
      breaker.is_whole(text{'1', c, '1'}) ? ascii_between_digits : ascii_other;
  return static_cast<std::uint8_t>(between_letters | between_digits);
}

}  // namespace

std::array<std::uint8_t, 128> const& ascii_kinds() {
  static auto const kinds = [] {
    word_breaker breaker;
    std::array<std::uint8_t, 128> result{};
    for (std::size_t c = 0; c < result.size(); ++c)
      result[c] = kind_of(static_cast<char>(c), breaker);
    return result;
  }();
  return kinds;
}

}  // namespace rulerank::knn
