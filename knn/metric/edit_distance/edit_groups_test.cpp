#include "knn/metric/edit_distance/edit_groups.hpp"

#include "core/random.hpp"
#include "knn/metric/edit_distance/edit_distance_reference.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace rulerank::inline v0::knn::edit_groups_test {
namespace {

using letters_of_word = std::vector<std::uint32_t>;

/// The received words, with their distances.
class taken final : public edit_sink {
 public:
  explicit taken(std::size_t bound) : bound_(bound) {}
  std::size_t bound() const override { return bound_; }
  void take(std::uint32_t const* numbers, std::size_t length, std::int8_t const* differences,
            std::uint64_t near) override {
    for (; near != 0; near &= near - 1) {
      int const lane = std::countr_zero(near);
      bool const is_new =
          found
              .emplace(numbers[lane], static_cast<std::size_t>(static_cast<std::ptrdiff_t>(length) +
                                                               differences[lane]))
              .second;
      EXPECT_TRUE(is_new) << numbers[lane] << " twice";
    }
  }
  std::map<std::uint32_t, std::size_t> found;

 private:
  std::size_t bound_;
};

letters_of_word drawn(random_engine& chance, std::size_t length, std::size_t alphabet) {
  letters_of_word letters(length);
  for (std::uint32_t& one : letters)
    one = static_cast<std::uint32_t>(uniform_below(chance, alphabet));
  return letters;
}

/// Words with lengths at the widths of lanes, and words that differ only in their first or last
/// letters.
std::vector<letters_of_word> adversaries(random_engine& chance, std::size_t alphabet,
                                         std::size_t of_each) {
  std::vector<letters_of_word> words;
  for (std::size_t const length : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200})
    for (std::size_t i = 0; i < of_each; ++i) {
      letters_of_word word = drawn(chance, length, alphabet);
      words.push_back(word);
      if (word.empty()) continue;
      word.front() = static_cast<std::uint32_t>(alphabet - 1 - word.front());
      words.push_back(word);
      word.back() = static_cast<std::uint32_t>(alphabet - 1 - word.back());
      words.push_back(word);
      words.push_back(letters_of_word(length, static_cast<std::uint32_t>(i % alphabet)));
      std::rotate(word.begin(), word.begin() + 1, word.end());
      words.push_back(word);
    }
  return words;
}

class edit_groups_on : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};
INSTANTIATE_TEST_SUITE_P(targets, edit_groups_on,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](auto const& one) { return std::string(hwy::TargetName(one.param)); });

void expect_reference(std::vector<letters_of_word> const& words, std::size_t alphabet,
                      std::vector<letters_of_word> const& queries) {
  std::vector<edit_groups::word> const spans(words.begin(), words.end());
  letter_classes const classes(spans, alphabet);
  std::vector<std::uint32_t> numbers(words.size());
  std::iota(numbers.begin(), numbers.end(), 100U);
  edit_groups const groups(spans, numbers, classes);
  for (letters_of_word const& query : queries) {
    std::vector<std::size_t> distance;
    for (letters_of_word const& word : words)
      distance.push_back(edit_distance_reference(query, word));
    edit_query asked(query, classes);
    for (std::size_t const bound : {0, 1, 2, 3, 7, 20, 64, 100000}) {
      taken to(bound);
      groups.compare(asked, to);
      std::map<std::uint32_t, std::size_t> expected;
      for (std::size_t i = 0; i < words.size(); ++i)
        if (distance[i] <= bound) expected.emplace(numbers[i], distance[i]);
      ASSERT_EQ(to.found, expected) << "a word of " << query.size() << " letters, bound " << bound;
      taken by_parts(bound);
      std::size_t of_parts = 0;
      for (std::uint32_t const part : groups.parts(asked))
        of_parts += groups.compare_part(part, asked, by_parts);
      ASSERT_EQ(by_parts.found, expected) << "in parts, bound " << bound;
      ASSERT_EQ(of_parts, words.size());
    }
  }
}

TEST_P(edit_groups_on, finds_what_the_dynamic_program_does) {
  random_engine chance(7);
  // Letters from 256 on have no place in a group's table; the last number is in no word.
  for (std::size_t const alphabet : {1, 2, 5, 30, 70, 300}) {
    std::vector<letters_of_word> const words = adversaries(chance, alphabet, 4);
    std::vector<letters_of_word> queries = adversaries(chance, alphabet, 1);
    for (std::size_t i = 0; i < words.size(); i += 9) {
      queries.push_back(words[i]);
      if (!words[i].empty()) queries.back()[0] = static_cast<std::uint32_t>(alphabet);
    }
    expect_reference(words, alphabet, queries);
  }
}

TEST_P(edit_groups_on, of_every_length_and_of_small_buckets) {
  random_engine chance(8);
  std::vector<letters_of_word> words;
  for (std::size_t length = 0; length <= 70; ++length) words.push_back(drawn(chance, length, 4));
  expect_reference(words, 4, words);
  for (std::size_t count = 0; count < 66; count += 5) {
    std::vector<letters_of_word> some;
    for (std::size_t i = 0; i < count; ++i)
      some.push_back(drawn(chance, uniform_below(chance, 9), 6));
    expect_reference(some, 6, {drawn(chance, 5, 6), drawn(chance, 40, 6), {}});
  }
}

TEST_P(edit_groups_on, are_full_of_short_words) {
  random_engine chance(9);
  std::vector<letters_of_word> words;
  for (std::size_t i = 0; i < 1500; ++i)
    words.push_back(drawn(chance, uniform_below(chance, 18), 12));
  expect_reference(words, 12, {words[3], words[77], drawn(chance, 9, 12), drawn(chance, 20, 12)});
}

TEST_P(edit_groups_on, forget_words_that_are_erased) {
  std::vector<letters_of_word> const words{{0, 1}, {0, 1}, {1, 1, 0}, letters_of_word(80, 1)};
  std::vector<edit_groups::word> const spans(words.begin(), words.end());
  letter_classes const classes(spans, 2);
  edit_groups groups(spans, std::vector<std::uint32_t>{9, 4, 7, 6}, classes);
  EXPECT_TRUE(groups.erase(4));
  EXPECT_TRUE(groups.erase(6));
  EXPECT_FALSE(groups.erase(5));
  edit_query asked(words[0], classes);
  taken to(1000);
  groups.compare(asked, to);
  EXPECT_EQ(to.found, (std::map<std::uint32_t, std::size_t>{{9, 0}, {7, 2}}));
  std::size_t of_parts = 0;
  taken by_parts(1000);
  for (std::uint32_t const part : groups.parts(asked))
    of_parts += groups.compare_part(part, asked, by_parts);
  EXPECT_EQ(by_parts.found, to.found);
  EXPECT_EQ(of_parts, 2u);
}

}  // namespace
}  // namespace rulerank::knn::edit_groups_test
