#include "datasets/text/text_sums.hpp"

#include "core/output_file.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/testing.hpp"

#include <fstream>

namespace rulerank::inline v0::datasets::text_sums_test {
namespace {

TEST(text_sums, are_of_words_alone) {
  text_field const title{"title", "flow  over\r\nwings "}, text{"text", "\tat Mach 2"};
  EXPECT_EQ(sum_of_text(std::vector{title, text}), sum_of_text("flow over wings at Mach 2"));
  EXPECT_NE(sum_of_text("flow over wings"), sum_of_text("flow over wing s"));
  EXPECT_NE(sum_of_text("flow over"), sum_of_text("over flow"));
  EXPECT_EQ(sum_of_text(""), sum_of_text(" \n"));
  EXPECT_EQ(sum_of_text(std::vector{text, title}), sum_of_text(std::vector{title, text}));
  text_field const author{"author", "Ada"}, again{"text", "and more"};
  EXPECT_EQ(sum_of_text(std::vector{text, title, author, again}),
            sum_of_text("flow over wings Ada at Mach 2 and more"))
      << "title, then by name, those of one name in their order";
  EXPECT_EQ(sum_of_text("a"), 0x8601ec8cU ^ 0xaf63dc4cU) << "FNV-1a of a: af63dc4c8601ec8c";
}

TEST(text_sums, are_read_back_from_a_comment) {
  text_sums const sums{0xbadcafe, 0x600dcafe};
  EXPECT_EQ(comment_of(sums), "text_sums = 0badcafe-600dcafe");
  for (char const* const comment :
       {"docid = 7 text_sums = 0badcafe-600dcafe", "docid = 7 #text_sums = 0badcafe-600dcafe",
        "text_sums=0badcafe-600dcafe"}) {
    EXPECT_EQ(text_sums_of(comment), sums) << comment;
  }
  for (char const* const comment :
       {"", "docid = 7", "text_sums = 0badcafe", "text_sums = 0badcafe-600dcaf",
        "text_sums = 0badcafe-600dcafe0", "text_sums = 0badcafx-600dcafe",
        "my_text_sums = 0badcafe-600dcafe"})
    EXPECT_EQ(text_sums_of(comment), std::nullopt) << comment;
}

TEST(text_sums, that_cannot_be_read_are_a_fault_and_other_keys_are_none) {
  EXPECT_TRUE(
      fault_of_text_sums("docid = 7 text_sums = XXXXXXXX-00000000").starts_with("text_sums \"XXX"));
  EXPECT_TRUE(fault_of_text_sums("docid = 7 text_sums =").starts_with("text_sums \"\", expected"));
  for (std::string const comment :
       {"", "docid = 7", "my_text_sums = 0badcafe-600dcafe", "text_sums = 0badcafe-600dcafe"})
    EXPECT_EQ(fault_of_text_sums(comment), "") << comment;
}

TEST(text_sums, are_not_what_people_see) {
  EXPECT_EQ(without_text_sums("docid = 7 text_sums = 0badcafe-600dcafe"), "docid = 7");
  EXPECT_EQ(without_text_sums("docid = 7 #text_sums = 0badcafe-600dcafe"), "docid = 7");
  EXPECT_EQ(without_text_sums("a text_sums = 0badcafe-600dcafe b"), "a b");
  EXPECT_EQ(without_text_sums("text_sums = 0badcafe-600dcafe"), "");
  EXPECT_EQ(without_text_sums("docid = 7 inc = 1"), "docid = 7 inc = 1");
}

/// Delimited text has them in a separate column.
TEST(text_sums, are_a_column_of_delimited_text) {
  std::string const text =
      "qid,docid,text_sums,a\nq,x,text_sums = 0badcafe-600dcafe,1\nq,y,,2\n"
      "q,z,\"text_sums = 00000001-00000002\",3\n";
  read_options options;
  options.unlabelled = -1;
  dataset const data = parse_dataset({}, text, "f.csv", options);
  EXPECT_EQ(listed_features(data).size(), 1U);
  EXPECT_EQ(text_sums_of(data.comment(0)), (text_sums{0xbadcafe, 0x600dcafe}));
  EXPECT_EQ(text_sums_of(data.comment(1)), std::nullopt);
  EXPECT_EQ(text_sums_of(data.comment(2)), (text_sums{1, 2}));
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "sums";
  output_file out(path);
  write_dataset(data, out);
  out.commit();
  std::ifstream written(path);
  std::string line;
  std::getline(written, line);
  EXPECT_EQ(line, "qid,docid,text_sums,a");
  std::getline(written, line);
  EXPECT_EQ(line, "q,x,text_sums = 0badcafe-600dcafe,1");
}

}  // namespace
}  // namespace rulerank::datasets::text_sums_test
