#include "knn/metric/edit_distance/edit_distance.hpp"

#include "core/random.hpp"
#include "knn/metric/edit_distance/edit_distance_reference.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::edit_distance_test {
namespace {

using word = std::vector<std::uint32_t>;

word drawn(random_engine& chance, std::size_t length, std::size_t alphabet) {
  word letters(length);
  for (std::uint32_t& one : letters)
    one = static_cast<std::uint32_t>(uniform_below(chance, alphabet));
  return letters;
}

/// The word with some letters replaced, deleted and inserted.
word changed(random_engine& chance, word letters, std::size_t changes, std::size_t alphabet) {
  for (std::size_t i = 0; i < changes; ++i) {
    auto const letter = static_cast<std::uint32_t>(uniform_below(chance, alphabet));
    auto const at =
        letters.begin() + static_cast<std::ptrdiff_t>(uniform_below(chance, letters.size() + 1));
    if (uniform_below(chance, 3) == 0 || at == letters.end())
      letters.insert(at, letter);
    else if (uniform_below(chance, 2) == 0)
      letters.erase(at);
    else
      *at = letter;
  }
  return letters;
}

/// For every bound: the distance if it is within the bound, otherwise more than the bound.
void expect_distance(word const& a, word const& b, std::size_t alphabet) {
  std::size_t const expected = edit_distance_reference(a, b);
  edit_pattern pattern(a, alphabet);
  ASSERT_EQ(pattern.to(b, std::max(a.size(), b.size())), expected) << a.size() << ' ' << b.size();
  for (std::size_t const bound : {std::size_t{0}, std::size_t{1}, expected / 2, expected,
                                  expected == 0 ? 0 : expected - 1, expected + 1}) {
    std::size_t const found = pattern.to(b, bound);
    if (expected <= bound)
      ASSERT_EQ(found, expected) << bound;
    else
      ASSERT_GT(found, bound) << expected;
  }
}

double between(std::string const& a, std::string const& b, letters unit) {
  word_space const words({b}, unit);
  return words.queries({a})->from(0)->to(0);
}

TEST(edit_distance, known_words) {
  for (letters const unit : {letters::bytes, letters::code_points}) {
    EXPECT_EQ(between("kitten", "sitting", unit), 3);
    EXPECT_EQ(between("saturday", "sunday", unit), 3);
    EXPECT_EQ(between("", "abc", unit), 3);
    EXPECT_EQ(between("abc", "", unit), 3);
    EXPECT_EQ(between("", "", unit), 0);
    EXPECT_EQ(between("xyz", "abc", unit), 3);  // letters in no word of the database
  }
}

TEST(edit_distance, letters_are_code_points_or_bytes) {
  EXPECT_EQ(between("a\xc3\xb1o", "ano", letters::code_points), 1);
  EXPECT_EQ(between("a\xc3\xb1o", "ano", letters::bytes), 2);
  EXPECT_EQ(between("\xe2\x82\xac", "\xf0\x9f\x98\x80", letters::code_points), 1);
  EXPECT_EQ(between("\xe2\x82\xac", "\xf0\x9f\x98\x80", letters::bytes), 4);
  // A byte that is not UTF-8 is read as Latin-1.
  EXPECT_EQ(between("a\xf1o", "a\xc3\xb1o", letters::code_points), 0);
}

TEST(edit_distance, is_that_of_the_dynamic_program) {
  random_engine chance(3);
  std::vector<std::size_t> const lengths{0,  1,  2,   7,   31,  62,  63,  64,  65,
                                         66, 90, 127, 128, 129, 191, 192, 193, 300};
  for (std::size_t const alphabet : {1, 2, 4, 26})
    for (std::size_t const a : lengths)
      for (std::size_t const b : lengths)
        expect_distance(drawn(chance, a, alphabet), drawn(chance, b, alphabet), alphabet);
}

TEST(edit_distance, of_words_that_are_near) {
  random_engine chance(4);
  for (std::size_t const length : {1, 5, 30, 63, 64, 65, 128, 200, 1001, 1500})
    for (std::size_t const changes : {0, 1, 2, 5, 40}) {
      word const one = drawn(chance, length, 6);
      expect_distance(one, changed(chance, one, changes, 6), 6);
    }
}

}  // namespace
}  // namespace rulerank::knn::edit_distance_test
