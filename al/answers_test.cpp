#include "al/answers.hpp"

#include "core/context.hpp"
#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"

#include <fstream>
#include <iterator>
#include <regex>

#include <gtest/gtest.h>

namespace rulerank::inline v0::al::answers_test {
namespace {

using rulerank::testing_tools::complaint_of;
using rulerank::testing_tools::input_and_message;

class answers : public testing::Test {
 protected:
  std::string file(std::string const& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<answer> read(std::string const& text) const {
    return read_labels(context{}, file(text), pool_);
  }
  std::string message(std::string const& text) const {
    return complaint_of(path_, [&] { read(text); });
  }

  rulerank::testing_tools::temporary_folder folder_;
  std::string path_ = folder_ / "answers";
  datasets::dataset pool_ = [] {
    datasets::svmlight_options options;
    options.unlabelled = -1;
    return datasets::parse_svmlight(
        context{},
        "-1 qid:a 1:1 # docid = X\n# a comment\n-1 qid:a 1:2 #docid = Y  says\t\"so\"\n"
        "2 qid:b 1:3\n-1 qid:b 1:4 #docid = \"Z\"\n",
        "pool", options);
  }();
};

TEST_F(answers, are_read) {
  std::vector<answer> const expected{{1, 2, 0}, {3, {}, 0}, {0, 0, 0}};
  EXPECT_EQ(read("line\tlabel\n1\t2\n3\tskip\n0\t0\n"), expected);
  EXPECT_EQ(
      read("\xEF\xBB\xBFlabel\tx\tdocid\tline\r\n2\t\tY\t1\r\n\r\nskip\t\t\"Z\"\t3\r\n0\t\tX\t0"),
      expected);
  EXPECT_EQ(read("line\tdocid\tlabel\n1\tY\t\"2\"\n3\t\"\"\"Z\"\"\"\tskip\n0\tX\t 0 \n"), expected);
  EXPECT_EQ(read("line\tlabel\tnote\n1\t2\n2\t\t\n2\n\t\t\n3\tSkip\tx\t\t\n0\t0\n1\t2\n"),
            expected);
  EXPECT_TRUE(read("line\tlabel\n").empty());
  EXPECT_EQ(read("line\tlabel\n1\t2\n")[0].line, 2U);
}

TEST_F(answers, that_are_wrong_are_told_with_their_place) {
  input_and_message const rows[] = {
      {"",
       ":1:1: found nothing, expected a header with line and label, between tabs, commas or "
       "semicolons"},
      {"line|label\n1|2\n",
       ":1:1: found no column 'line', expected a header with line and label, between tabs, "
       "commas or semicolons"},
      {"line\tdocid\n",
       ":1:1: found no column 'label', expected a header with line and label, between tabs, "
       "commas or semicolons"},
      {"line\tlabel\tline\n", ":1:12: found column 'line' twice, expected each column once"},
      {"line\tlabel\n4\t1\n", ":2:1: found line '4', expected 0 to 3, a document of pool"},
      {"line\tlabel\n-1\t1\n", ":2:1: found line '-1', expected 0 to 3, a document of pool"},
      {"line\tdocid\tlabel\n0\tY\t1\n",
       ":2:3: found docid 'Y', expected 'X', as document 0 (from 0) of pool has"},
      {"line\tqid\tlabel\n0\ta\t1\n2\ta\t1\n",
       ":3:3: found qid 'a', expected 'b', as document 2 (from 0) of pool has"},
      {"line\tlabel\n0\t1\n1\t1\n0\t2\n",
       ":4:3: found '2', but line 2 answers '1' for this document; expected one answer for each "
       "document"},
      {"docid\tline\tlabel\nX\n", ":2:1: found 1 field, expected 3 as in the header"},
      {"line,text,label\n1,a, b,2\n", ":2:1: found 4 fields, expected 3 as in the header"},
      // An unquoted comma in the text.
      {"line,text,label\n1,a,1,2\n", ":2:1: found 4 fields, expected 3 as in the header"},
  };
  expect_messages(rows, [&](std::string const& text) { return message(text); });
  for (std::string const label : {"-1", "x", "1.5", "2147483648", "1 2", "Skip it"})
    EXPECT_EQ(message("line\tlabel\n0\t" + label + "\n"),
              ":2:3: found '" + label + "', expected a label, an integer of 0 or more, or skip");
}

TEST_F(answers, table_to_fill_in_is_read_again) {
  std::vector<std::size_t> const documents{3, 0, 1};
  EXPECT_EQ(labels_to_fill(pool_, documents),
            "line\tdocid\tqid\tlabel\tcomment\n3\t\"'\"\"Z\"\"\"\tb\t\t\"docid = \"\"Z\"\"\"\n"
            "0\tX\ta\t\tdocid = X\n1\tY\ta\t\t\"docid = Y  says\t\"\"so\"\"\"\n");
  EXPECT_TRUE(read(labels_to_fill(pool_, documents)).empty());
  EXPECT_EQ(labels_to_fill(pool_, {}), "line\tdocid\tqid\tlabel\tcomment\n");
}

TEST_F(answers, table_between_commas_has_text_and_is_read_again) {
  label_form form;
  form.delimiter = ',';
  form.titles = {"query", "text"};
  form.cells_of = [](std::size_t d) {
    return std::vector<std::string>{"=1+1", d == 0 ? "two\nlines, \"quoted\"" : "\tcell"};
  };
  std::vector<std::size_t> const documents{1, 0};
  std::string const table = labels_to_fill(pool_, documents, form);
  EXPECT_EQ(table,
            "\xEF\xBB\xBF\"line\",\"docid\",\"qid\",\"label\",\"query\",\"text\",\"comment\"\n"
            "1,Y,a,,'=1+1,'\tcell,\"docid = Y  says\t\"\"so\"\"\"\n"
            "0,X,a,,'=1+1,\"two\nlines, \"\"quoted\"\"\",docid = X\n");
  EXPECT_TRUE(read(table).empty());
}

TEST_F(answers, as_spreadsheets_save_them_are_read) {
  std::vector<answer> const expected{{1, 2, 0}, {0, 1, 0}};
  EXPECT_EQ(read("line,docid,label,text\r\n1,Y,2,\"a\r\nb, \"\"c\"\"\"\r\n0,X,1,\r\n"), expected);
  EXPECT_EQ(read("\xEF\xBB\xBFlabel;line;docid\n2;1;'Y\n1;0;\"'X\"\n;3;Z\n"), expected);
  EXPECT_EQ(read("line,qid,label\n1,'a,2\n0,a,1\n"), expected);
  EXPECT_EQ(read("sep=,\nline,label\n1,2\n0,1\n"), expected);
  EXPECT_EQ(read("line,text,label\n1,\"a\n\nb\",2\n0,x,1\n")[1].line, 5U);
  EXPECT_EQ(message("line,text,label\n1,\"a\nb\",2\n0,x,y\n"),
            ":4:5: found 'y', expected a label, an integer of 0 or more, or skip");
  std::string utf16 = "\xFF\xFE";
  for (char const c : std::string("line\tlabel\r\n1\t2\r\n0\t1\r\n")) utf16 += std::string{c, '\0'};
  EXPECT_EQ(read(utf16), expected);
}

TEST_F(answers, journal_keeps_what_stands) {
  std::string const head = "# rulerank answers 1 me\nline\tdocid\tanswer\n";
  {
    answer_journal journal(path_, "me", pool_);
    EXPECT_EQ(bytes(), head);
    journal.add(1, 2);
    EXPECT_EQ(bytes(), head + "1\tY\t2\n");
    journal.add(0, {});
    journal.undo();
    journal.add(3, 0);
    EXPECT_EQ(bytes(), head + "1\tY\t2\n0\tX\tskip\n0\tX\tundo\n3\t\"Z\"\t0\n");
    EXPECT_THROW(answer_journal(path_, "me", pool_), output_error) << "two at a time";
  }
  answer_journal journal(path_, "me", pool_);
  std::vector<answer> const expected{{1, 2, 0}, {3, 0, 0}};
  EXPECT_EQ(std::vector<answer>(journal.answers().begin(), journal.answers().end()), expected);
  journal.undo();
  EXPECT_TRUE(bytes().ends_with("3\t\"Z\"\t0\n3\t\"Z\"\tundo\n"));
}

TEST_F(answers, journal_of_several_keeps_one_answer_of_each_about_a_document) {
  std::vector<answer> const expected{{1, 2, 0, "Bo"}, {3, 1, 0, "=An"}, {1, {}, 0, "=An"}};
  auto const standing = [](answer_journal const& journal) {
    return std::vector<answer>(journal.answers().begin(), journal.answers().end());
  };
  {
    answer_journal journal(path_, "me", pool_, labellers::several);
    journal.add(1, 0, "=An");
    journal.add(1, 2, "Bo", "see Z");
    journal.add(3, 1, "=An");
    journal.add(1, {}, "=An");
    journal.add(0, 2, "Bo");
    journal.undo("Bo");
    EXPECT_EQ(standing(journal), expected);
    std::regex const time("\t\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ\t");
    EXPECT_EQ(std::regex_replace(bytes(), time, "|"),
              "# rulerank answers 2 me\nline\tdocid\tanswer\tlabeller\ttime\tnote\n1\tY\t0\t=An|\n"
              "1\tY\t2\tBo|see Z\n3\t\"Z\"\t1\t=An|\n1\tY\tskip\t=An|\n0\tX\t2\tBo|\n"
              "0\tX\tundo\tBo|\n");
  }
  {
    answer_journal const read(path_, "me", pool_, labellers::several);
    EXPECT_EQ(standing(read), expected);
    EXPECT_EQ(read.answers()[0].note, "see Z");
  }
  EXPECT_THROW(answer_journal(path_, "me", pool_), error) << "of several, read as of one";
}

TEST_F(answers, journal_of_several_without_times_is_gone_on_with) {
  std::string const old = "# rulerank answers 1 me\nline\tdocid\tanswer\tlabeller\n1\tY\t0\tAn\n";
  file(old);
  {
    answer_journal journal(path_, "me", pool_, labellers::several);
    ASSERT_EQ(journal.answers().size(), 1U);
    EXPECT_EQ(journal.answers()[0].time, "");
    journal.add(3, 1, "Bo");
    EXPECT_EQ(bytes(), old + "3\t\"Z\"\t1\tBo\n");
  }
  file("# rulerank answers 2 me\nline\tdocid\tanswer\tlabeller\ttime\n1\tY\t0\tAn\tT\n");
  {
    answer_journal journal(path_, "me", pool_, labellers::several);
    EXPECT_EQ(journal.answers()[0].time, "T");
    std::string const before = bytes();
    EXPECT_THROW(journal.add(3, 1, "Bo", "a note without a column"), usage_error);
    EXPECT_EQ(bytes(), before);
    journal.add(3, 1, "Bo");
    EXPECT_TRUE(bytes().starts_with(before + "3\t\"Z\"\t1\tBo\t2"));
  }
  file("# rulerank answers 3 me\nline\tdocid\tanswer\tlabeller\ttime\n");
  EXPECT_THROW(answer_journal(path_, "me", pool_, labellers::several), error);
}

TEST_F(answers, journal_cut_anywhere_is_gone_on_with) {
  {
    answer_journal journal(path_, "me", pool_);
    journal.add(1, 12);
    journal.add(0, {});
    journal.undo();
    journal.add(0, 1);
  }
  std::string const whole = bytes();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    file(whole.substr(0, size));
    std::size_t stand = 0;
    {
      answer_journal journal(path_, "me", pool_);
      stand = journal.answers().size();
      EXPECT_LE(stand, 2U);
      journal.add(3, 2);
    }
    answer_journal journal(path_, "me", pool_);
    ASSERT_EQ(journal.answers().size(), stand + 1) << size;
    EXPECT_EQ(journal.answers().back(), (answer{3, 2, 0}));
    // Complete earlier content is kept.
    std::string const kept =
        whole.substr(0, whole.find_last_of('\n', size == 0 ? 0 : size - 1) + 1);
    EXPECT_TRUE(bytes().starts_with(kept)) << size;
  }
}

TEST_F(answers, journal_of_something_else_is_refused_and_left_as_it_is) {
  std::string const head = "# rulerank answers 1 me\nline\tdocid\tanswer\n";
  auto const refused = [&](std::string const& text) -> std::string {
    file(text);
    std::string const said = complaint_of(path_, [&] { answer_journal(path_, "me", pool_); });
    EXPECT_EQ(bytes(), text);
    return said;
  };
  input_and_message const rows[] = {
      {"1 qid:1 1:1\n", ":1:1: found no journal of answers..."},
      {"precious", ":1:1: found no journal of answers..."},
      {"# rulerank answers 1 you\nline\tdocid\tanswer\n",
       ":1:22: found answers for a different pool..."},
      {"# rulerank answers 1 me\nline\tanswer\n", ":2:1: ..."},
      {head + "0\tX\n", ":3:1: found 2 fields..."},
      {head + "7\tX\t1\n", ":3:1: found line '7'..."},
      {head + "0\tY\t1\n", ":3:3: found docid 'Y'..."},
      {head + "0\tX\tgood\n", ":3:5: found 'good'..."},
      {head + "0\tX\tundo\n", ":3:1: found a line that undoes..."},
      {head + "0\tX\t1\n1\tY\t1\n0\tX\tundo\n", ":5:1: found a line that undoes..."},
  };
  expect_messages(rows, refused);
  EXPECT_THROW(answer_journal("/dev/null", "me", pool_), output_error);
  EXPECT_THROW(answer_journal(folder_.path().string(), "me", pool_), output_error);
  EXPECT_THROW(answer_journal(folder_ / "none/x", "me", pool_), output_error);
}

TEST_F(answers, stand_in_the_place_of_labels_that_were_missing) {
  std::vector<std::int32_t> const labels{10, datasets::unlabelled, 2, 0};
  std::vector<std::size_t> const chosen{0, 1, 2, 3};
  {
    output_file out(path_);
    datasets::write_lines(pool_, chosen, out, labels);
    out.commit();
  }
  EXPECT_EQ(bytes(),
            "10 qid:a 1:1 # docid = X\n-1 qid:a 1:2 #docid = Y  says\t\"so\"\n2 qid:b 1:3\n"
            "0 qid:b 1:4 #docid = \"Z\"\n");
}

}  // namespace
}  // namespace rulerank::al::answers_test
