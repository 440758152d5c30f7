#include "datasets/delimited/label_cells.hpp"

#include "core/random.hpp"
#include "datasets/delimited/records.hpp"

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::label_cells_test {
namespace {

TEST(label_cells, that_a_spreadsheet_would_calculate_are_guarded) {
  for (std::string const begin : {"=", "+", "-", "@", "\t", "\r", "'", "\xEF\xBC\x9D"})
    EXPECT_EQ(guarded(begin + "HYPERLINK(1)"), "'" + begin + "HYPERLINK(1)");
  for (std::string const plain : {"", "text", " =1", "1+1", "a=b", "\nx"})
    EXPECT_EQ(guarded(plain), plain);
  EXPECT_EQ(guarded(std::string("a\x1b[31m\0b", 8)), "a [31m b");
  EXPECT_EQ(guarded("a\xe2\x80\xae"
                    "b\xc2\x9b"
                    "c\xe2\x80\xaf"),
            "a b c\xe2\x80\xaf");
}

TEST(label_cells, ids_stay_text) {
  for (std::string const id : {"007",        "1-2",
                               "2024-01-02", "1e5",
                               "MARCH1",     "Sept2",
                               "mai3",       "TRUE",
                               "false",      "=a",
                               "'x",         "12",
                               "0x1",        "Wahr",
                               "FALSCH",     "vrai",
                               "FAUX",       "VERDADERO",
                               "Falso",      "vero",
                               "verdadeiro", "\xC3\xA9t\xC3\xA9 1"})
    EXPECT_EQ(guarded_id(id), "'" + id);
  for (std::string const id : {"D12", "q7", "MS-1", "doc", "document-a", "verdad", "trueish"})
    EXPECT_EQ(guarded_id(id), id);
}

TEST(label_cells, of_other_programs_lose_no_apostrophe_of_their_own) {
  for (std::string const text : {"=a", "+\x01", "-0.5", "@x", "'", "'tis", "''", "\xEF\xBC\x9D"}) {
    EXPECT_EQ(unguarded_formula(guarded_formula(text)), text);
    EXPECT_EQ(unguarded_formula("'" + text), text);
  }
  for (std::string const text : {"", "'", "'tis", "'007", "=a", "-5", "a'=b"})
    EXPECT_EQ(unguarded_formula(text), text);
  for (std::string const id : {"007", "1-2", "MARCH1", "true", "=a", "'tis", "'", "''", "'007"}) {
    EXPECT_EQ(unguarded_id(guarded_id(id)), id);
    EXPECT_EQ(unguarded_id("'" + id), id);
  }
  for (std::string const id : {"", "'", "'tis", "'D12", "007", "=a", "a'1"})
    EXPECT_EQ(unguarded_id(id), id);
}

/// Any text is read back as it was written, with any delimiter of the table.
TEST(label_cells, are_read_back_equal) {
  constexpr std::string_view alphabet = "=+-@\t\r\n'\",; ax1";
  random_engine bits(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> cells{"line"};
    for (int c = 0; c < 3; ++c) {
      std::string text;
      for (std::uint64_t n = bits() % 6; n > 0; --n) text += alphabet[bits() % alphabet.size()];
      cells.push_back(text);
    }
    for (char const delimiter : {'\t', ',', ';'}) {
      std::string table = "a";
      table += delimiter;
      table += "b\n";
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) table += delimiter;
        append_cell(guarded(cells[i]), delimiter, table);
      }
      table += '\n';
      label_records records(table);
      ASSERT_TRUE(records.next() && records.next());
      ASSERT_EQ(records.cells().size(), cells.size()) << table;
      for (std::size_t i = 0; i < cells.size(); ++i)
        EXPECT_EQ(unguarded(records.cells()[i].text), cells[i]) << table;
      EXPECT_FALSE(records.next());
    }
  }
}

}  // namespace
}  // namespace rulerank::datasets::label_cells_test
