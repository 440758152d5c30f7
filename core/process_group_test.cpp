#include "core/process_group.hpp"

#include "core/process_group_testing.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace rulerank::inline v0::process_group_test {
namespace {

struct counted_words {
  std::map<std::string, std::set<std::string>> words;
  std::optional<double> seconds;
  std::vector<std::pair<std::string, std::vector<double>>> scores;
  int not_told = 0;
  static auto members_of(auto& all) { return std::tie(all.words, all.seconds, all.scores); }
  bool operator==(counted_words const&) const = default;
};

TEST(bytes, bring_back_what_they_are_made_of) {
  counted_words const all{{{"a", {"x", "y"}}, {"", {}}}, 2.5, {{"s", {1, 2}}, {"", {}}}, 7};
  counted_words expected = all;
  expected.not_told = 0;
  EXPECT_EQ(value_of<counted_words>(bytes_of(all)), expected);
  counted_words const none;
  EXPECT_EQ(value_of<counted_words>(bytes_of(none)), none);
  std::vector<counted_words> const both{all, none};
  EXPECT_EQ(value_of<std::vector<counted_words>>(bytes_of(both)),
            (std::vector<counted_words>{expected, none}));
  EXPECT_EQ(value_of<std::string>(bytes_of(std::string_view("text"))), "text");
}

TEST(bytes, of_several_values_are_taken_in_their_order) {
  std::string bytes;
  put(bytes, 7U);
  put(bytes, std::vector<std::uint16_t>{1, 2});
  put(bytes, std::string("end"));
  std::string_view left = bytes;
  unsigned number = 0;
  std::vector<std::uint16_t> row{9};
  std::string text = "old";
  take(left, number);
  take(left, row);
  take(left, text);
  EXPECT_EQ(number, 7U);
  EXPECT_EQ(row, (std::vector<std::uint16_t>{9, 1, 2}));
  EXPECT_EQ(text, "end");
  EXPECT_TRUE(left.empty());
}

TEST(process_group, deals_and_collects_piece_by_piece) {
  for (int const size : {1, 2, 5}) {
    std::vector<std::string> collected;
    testing_tools::run_processes(size, [&](process_group const& group) {
      std::string const mine = dealt_by_first(group, [&](int rank) {
        EXPECT_TRUE(group.is_first());
        return std::string(static_cast<std::size_t>(rank), 'x');
      });
      EXPECT_EQ(mine.size(), static_cast<std::size_t>(group.rank()));
      collect_on_first(group, mine, [&](std::string_view piece) { collected.emplace_back(piece); });
      EXPECT_EQ(value_from_first(group, [&] { return group.rank() + 3; }), 3);
      EXPECT_EQ(gather_values(group, group.rank()).back(), size - 1);
      EXPECT_EQ(join(group, std::vector<int>(2, group.rank())).size(),
                2 * static_cast<std::size_t>(size));
    });
    ASSERT_EQ(collected.size(), static_cast<std::size_t>(size));
    for (std::size_t rank = 0; rank < collected.size(); ++rank)
      EXPECT_EQ(collected[rank].size(), rank);
  }
}

}  // namespace
}  // namespace rulerank::process_group_test
