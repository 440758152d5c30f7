#include "datasets/transactions.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/testing.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace rulerank::inline v0::datasets::transactions_test {
namespace {

using testing_tools::complaint_of;
using testing_tools::input_and_message;

using rows = std::vector<std::vector<std::string>>;

/// Returns the names of the items of each transaction.
rows named(transactions const& data) {
  rows all;
  for (std::size_t t = 0; t < data.size(); ++t) {
    all.emplace_back();
    for (std::uint32_t const x : data.transaction(t)) all.back().push_back(data.names[x]);
  }
  return all;
}

class transaction_files : public ::testing::Test {
 protected:
  std::string file(std::string_view bytes) const {
    write_file(folder_ / "in", bytes);
    return folder_ / "in";
  }
  std::string message_of(std::string_view bytes) const {
    return complaint_of(folder_ / "in", [&] { read_fimi({}, file(bytes)); });
  }
  testing_tools::temporary_folder folder_;
};

TEST_F(transaction_files, fimi) {
  EXPECT_EQ(named(read_fimi({}, file("3 1 2\n\n10 3 \r\n2"))),
            (rows{{"1", "2", "3"}, {}, {"3", "10"}, {"2"}}));
  EXPECT_EQ(named(read_fimi({}, file("7 7\t0 7\n"))), (rows{{"0", "7"}}));
  EXPECT_EQ(named(read_fimi({}, file("4294967295 5\n5\n"))), (rows{{"5", "4294967295"}, {"5"}}));
  EXPECT_EQ(named(read_fimi({}, file("\n"))), rows{{}});
  EXPECT_EQ(read_fimi({}, file("5 900 5\n")).items, (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(transaction_files, faults_of_fimi) {
  EXPECT_EQ(message_of(""), ":1:1: found no transactions, expected one on each line");
  std::string const expected = ", expected an item, an integer from 0 to 4294967295";
  input_and_message const rows[] = {
      {"1 2\n3 -4 5\n", ":2:3: found \"-4\"" + expected},
      {"1 2\n3 bread\n", ":2:3: found \"bread\"" + expected + "; --form baskets reads names"},
      {"1 0 1 1\n0 1 0 0\n",
       ":1:1: found a table with a column for each item, expected the items of a basket on each "
       "line"},
      {"1 2.5\n", ":1:3: found \"2.5\"" + expected},
      {"4294967296\n", ":1:1: found \"4294967296\"" + expected},
      {"99999999999999999999999\n", ":1:1: found \"99999999999999999999999\"" + expected},
  };
  expect_messages(rows, [&](std::string const& text) { return message_of(text); });
}

TEST_F(transaction_files, baskets) {
  EXPECT_EQ(named(read_baskets({}, file("milk  bread\tbread \r\n\n butter\n"))),
            (rows{{"bread", "milk"}, {}, {"butter"}}));
  EXPECT_EQ(
      named(read_baskets({}, file("green tea, milk ,green tea\n \nmilk\n"), {.separator = ','})),
      (rows{{"green tea", "milk"}, {}, {"milk"}}));
  EXPECT_EQ(named(read_baskets({}, file("10 9 2\n"))), (rows{{"10", "2", "9"}})) << "by bytes";
  EXPECT_EQ(complaint_of(folder_ / "in",
                         [&] { read_baskets({}, file("a,b\na, ,b\n"), {.separator = ','}); }),
            ":2:4: found nothing between two separators, expected a name");
  EXPECT_THROW(read_baskets({}, file("")), error);
}

TEST_F(transaction_files, spmf) {
  EXPECT_EQ(
      named(read_fimi({}, file("@CONVERTED_FROM_TEXT\n@ITEM=2=pear\r\n% a\n\n1 2\n\n# b\n2\n"))),
      (rows{{"1", "pear"}, {}, {"pear"}}));
  EXPECT_EQ(message_of("@ITEM=x=pear\n1\n"),
            ":1:7: found \"x=pear\", expected an item and its name, as in @ITEM=1=apple");
  EXPECT_EQ(message_of("@ITEM=1=a\n@ITEM=1=b\n1\n"),
            ":2:7: found the name of item 1 again, expected it once");
}

TEST_F(transaction_files, baskets_as_tools_write_them) {
  std::vector<std::string> warnings;
  basket_options options{.separator = ',',
                         .warn = [&](std::string const& w) { warnings.push_back(w); }};
  auto const read = [&](std::string_view text) {
    return named(read_baskets({}, file(text), options));
  };
  EXPECT_EQ(read("# a\n#\n\nx,y,,\n,\n\"a, \"\"b\"\"\" ,z,\r\n"),
            (rows{{"x", "y"}, {}, {"a, \"b\"", "z"}}));
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          folder_ / "in:1: left out 3 lines of comments (this is the first)"}));
  warnings.clear();
  EXPECT_EQ(read("1,a\n1,b\n2,a\n").size(), 3U);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings.at(0).find("--form pairs"), std::string::npos);
  options.pairs = true;
  EXPECT_EQ(read("order,item\n1,b\n2,a\n1,a\n1,a\n\n"), (rows{{"a", "b"}, {"a"}}));
  options = {.separator = ','};
  input_and_message const faults[] = {
      {"order,item\n1,a\n",
       ":1:1: found the header \"order,item\", expected items; if a line is a basket's id and an "
       "item, use --form pairs; --skip-lines 1 leaves out a header"},
      {"a\n#b,c\n",
       ":2:1: found \"#b\", which can be a comment or an item; expected --comments skip or "
       "--comments keep"},
      {"a,\"b\n", ":1:3: found a quote that is not closed, expected a second quote on the line"},
      {"\"b\"c\n", ":1:4: found \"c\" after a quote, expected a separator or the line's end"},
  };
  auto const fault_of = [&](std::string const& text) {
    return complaint_of(folder_ / "in", [&] { read_baskets({}, file(text), options); });
  };
  expect_messages(faults, fault_of);
  options.pairs = true;
  EXPECT_EQ(fault_of("1,a,b\n"), ":1:5: found 3 cells, expected 2 (a basket's id and an item)");
  options = {.skip_lines = 1, .comments = false};
  EXPECT_EQ(read("order item\n#b c\n"), (rows{{"#b", "c"}}));
}

TEST_F(transaction_files, tables_with_an_item_a_line) {
  std::vector<std::string> warnings;
  basket_options options{.separator = ',', .pairs = true, .warn = [&](std::string const& w) {
                           warnings.push_back(w);
                         }};
  auto const read = [&](std::string_view text) {
    warnings.clear();
    return named(read_baskets({}, file(text), options));
  };
  std::string const in = folder_ / "in";
  EXPECT_EQ(read("Date,InvoiceNo,Country,StockCode\n1/2,7,UK,a\n1/2,7,,b\n1/2,8,,a\n"),
            (rows{{"a", "b"}, {"a"}}));
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                in + ": read the columns InvoiceNo and StockCode, left out Date, Country"}));
  EXPECT_EQ(read("item,order_id\na,7\nb,7\n"), (rows{{"a", "b"}})) << "by name";
  EXPECT_EQ(warnings.size(), 0U);
  read("order,items\n1,\"a,b\"\n2,\"a,c\"\n");
  EXPECT_EQ(
      warnings,
      (std::vector<std::string>{
          in + ": no basket has two lines; if a cell holds several items, write a line for each"}));
  auto const fault_of = [&](std::string const& text) {
    return complaint_of(in, [&] { read_baskets({}, file(text), options); });
  };
  input_and_message const of_pairs[] = {
      {"order_id,day,item\n1,x\n", ":2:1: found 2 cells, expected 3 as in the header"},
      {"CustomerID,StockCode\n17850,85123A\nNA,71053\n",
       ":3:1: found the id NA, which stands for a missing value, expected another id"},
      {"order_id,day,item\n1,x,a,b\n", ":2:7: found 4 cells, expected 3 as in the header"},
      {"1;a\n",
       ":1:1: found 1 cell, expected 2 (a basket's id and an item); if they are split at another "
       "character, use --separator ';'"},
      {"['a', 'b']\n",
       ":1:1: found \"['a', 'b']\", a list in brackets, expected items between separators"},
  };
  expect_messages(of_pairs, fault_of);
  options = {};
  input_and_message const of_baskets[] = {
      {"Member_number,Date,itemDescription\n1,2,milk\n",
       ":1:1: found the header \"Member_number,Date,itemDescripti...\", expected items; if a line "
       "is a basket's id and an item, use --form pairs --separator ','; --skip-lines 1 leaves out "
       "a header"},
      {"{a,b}\n{c}\n",
       ":1:1: found \"{a,b}\", a list in brackets, expected items between "
       "separators"},
      {"1\n2 -1 3 -1 -2\n",
       ":2:11: found -2 at the end of the line, which is SPMF's form for sequences, expected items "
       "alone"},
      {"bread milk eggs\nTrue False True\nfalse true true\n",
       ":1:1: found a table with a column for each item, expected the items of a basket on each "
       "line"},
      {"7 T F F\n8 F T T\n",
       ":1:1: found a table with a column for each item, expected the items of a basket on each "
       "line"},
  };
  expect_messages(of_baskets, fault_of);
  EXPECT_EQ(fault_of("milk\n7z\x1c tea\n"), ":2:3: found a byte of value 28, expected text");
  EXPECT_EQ(read_baskets({}, file("yes no\nno yes\n")).size(), 2U) << "no word twice";
}

TEST_F(transaction_files, sets_in_braces_and_rules_are_refused) {
  char separator = ' ';
  auto const fault_of = [&](std::string const& text) {
    return complaint_of(folder_ / "in",
                        [&] { read_baskets({}, file(text), {.separator = separator}); });
  };
  std::string const sets =
      ", which is a set in braces or a rule with => or ->, expected items alone; quotes around an "
      "item keep its braces";
  input_and_message const between_blanks[] = {
      {"bread\nfrozenset({'bread', 'milk'}) tea\n", ":2:1: found \"frozenset({'bread',\"" + sets},
      {"lhs rhs support\n{bread} {milk} 0.5\n", ":2:1: found \"{bread}\"" + sets},
      {"{bread} => {milk}\n", ":1:1: found \"{bread}\"" + sets},
      {"bread => milk\n", ":1:7: found \"=>\"" + sets},
      {"bread -> milk\n", ":1:7: found \"->\"" + sets},
  };
  expect_messages(between_blanks, fault_of);
  separator = ',';
  input_and_message const between_commas[] = {
      {"{bread,milk},T1\n{bread},T2\n", ":1:1: found \"{bread\"" + sets},
      {"a,x\nfrozenset({'bread', 'milk'})\n", ":2:1: found \"frozenset({'bread'\"" + sets},
      {"lhs,rhs,support\n{bread},{milk},0.5\n", ":2:1: found \"{bread}\"" + sets},
      {"tea,bread => milk\n", ":1:5: found \"bread => milk\"" + sets},
      {"tea,bread -> milk\n", ":1:5: found \"bread -> milk\"" + sets},
      {"tea\nT1 {milk,bread}\n", ":2:1: found \"T1 {milk\"" + sets},
  };
  expect_messages(between_commas, fault_of);
  for (char const any : {' ', ','}) {
    separator = any;
    for (std::string const list : {"(milk, bread)", "('milk',)", "('milk', 'bread')", "c('a','b')",
                                   "set(['a', 'b'])", "tea,set(['a', 'b'])"})
      EXPECT_EQ(
          fault_of("tea\n" + list + "\n"),
          ":2:1: found \"" + list + "\", a list in brackets, expected items between separators");
  }
  EXPECT_EQ(fault_of("c(\"a\",\"b\")\n").substr(0, 6), ":1:10:");
  EXPECT_EQ(named(read_baskets({}, file("(red) tea,milk (2 l)\nf(x),(a)\n"), {.separator = ','})),
            (rows{{"(red) tea", "milk (2 l)"}, {"(a)", "f(x)"}}));
  EXPECT_EQ(named(read_baskets({}, file("\"{bread}\",a}\n:{,b\n"), {.separator = separator})),
            (rows{{"a}", "{bread}"}, {":{", "b"}}));
}

TEST_F(transaction_files, sets_in_braces_and_rules_are_no_pairs) {
  basket_options const options{.separator = ',', .pairs = true};
  auto const fault_of = [&](std::string const& text) {
    return complaint_of(folder_ / "in", [&] { read_baskets({}, file(text), options); });
  };
  std::string const sets =
      ", which is a set in braces or a rule with => or ->, expected items alone; quotes around an "
      "item keep its braces";
  input_and_message const faults[] = {
      {"1,{bread}\n2,{milk}\n", ":1:3: found \"{bread}\"" + sets},
      {"1,tea\n2,{bread,milk}\n", ":2:3: found \"{bread\"" + sets},
      {"order_id,item\n1,bread => milk\n", ":2:3: found \"bread => milk\"" + sets},
      {"frozenset({'bread'}),1\n", ":1:1: found \"frozenset({'bread'})\"" + sets},
  };
  expect_messages(faults, fault_of);
  EXPECT_EQ(named(read_baskets({}, file("1,\"{bread}\"\n1,a}\n2,:{\n"), options)),
            (rows{{"a}", "{bread}"}, {":{"}}));
  EXPECT_EQ(named(read_baskets({}, file("order_id,item,options\n1,tea,{a}\n1,milk,\"[1,2]\"\n"),
                               options)),
            (rows{{"milk", "tea"}}))
      << "a column that is left out";
}

TEST_F(transaction_files, default_names_of_columns_are_said) {
  auto const warned = [&](std::string_view text, char separator) {
    std::string all;
    read_baskets({}, file(text), {.separator = separator, .warn = [&](std::string const& w) {
                                    all += w.substr((folder_ / "in").size()) + "\n";
                                  }});
    return all;
  };
  for (std::string const names : {"0,1,2", "V1,V2"}) {
    EXPECT_EQ(warned("# a table\n" + names + "\nmilk,bread\ntea\n", ','),
              ":1: left out 1 line of comments (this is the first)\n"
              ":2: no item of the line occurs again, and pandas and R give such names to columns; "
              "if it is a header, use --skip-lines 2\n");
    EXPECT_EQ(warned(names + "\n" + names + "\ntea,milk,red\n", ','), "") << "items";
  }
}

TEST_F(transaction_files, odd_baskets_are_said) {
  auto const warned = [&](std::string_view text, char separator) {
    std::string all;
    read_baskets({}, file(text), {.separator = separator, .warn = [&](std::string const& w) {
                                    all += w.substr((folder_ / "in").size()) + "\n";
                                  }});
    return all;
  };
  EXPECT_EQ(
      warned("tea\nbread,milk\nbread, eggs\n", ' '),
      ":2: 2 lines with items that contain ',' (this is the first); --separator ',' splits them\n");
  EXPECT_EQ(warned("\"bread, white\" milk\n", ' '), "");
  EXPECT_EQ(
      warned("a;b\nc,d;e\n", ','),
      ":1: 1 line with items that contain ';' (this is the first); --separator ';' splits them\n");
  EXPECT_EQ(warned("a\tgreen tea\n", '\t'), "");
  EXPECT_EQ(warned("a,nan\nb,c,None\n", ','),
            ": None counts as an item; if it means an empty cell, leave the cell empty\n: nan "
            "counts as an item; if it means an empty cell, leave the cell empty\n");
  EXPECT_EQ(warned("tea\ncaf\xe9\n", ' '),
            ":2:4: found the byte E9, expected UTF-8; iconv -f NAME -t UTF-8 converts the file\n");
  EXPECT_EQ(warned("0,a,b\n1,a\n2,b,c\n", ','),
            ": the first items number the lines: 0, 1, ...; if they are not items, remove them\n");
  EXPECT_EQ(warned("4,citrus,bread,marg,soup\n1,milk,,,\n", ','),
            ": the first items are the numbers of items that follow; if they are not items, remove "
            "them\n");
  EXPECT_EQ(warned("1001,a,b\n1002,a\n1003,b,c\n", ','),
            ": the first items number the lines: 1001, 1002, ...; if they are not items, remove "
            "them\n");
  EXPECT_EQ(warned("T7,a,b\nT9,a\nT5,b,c\n", ','),
            ": the first items differ in all lines, and no other item has a digit; if they are not "
            "items, remove them\n");
  for (std::string_view const some :
       {"alice: bread milk\nbob: bread\ncarol: milk\n", "T1: bread milk\nT1: bread\nT2: milk\n",
        "T1: bread milk\nT2: bread 10:30\n"})
    EXPECT_EQ(warned(some, ' '),
              ": the first items end with ':'; if they are not items, remove them\n")
        << some;
  std::string const quantity = "; if it is a quantity, remove it\n";
  EXPECT_EQ(warned("milk:2,bread:1\nmilk:1\n", ','),
            ": each item ends with a number, such as bread:1" + quantity);
  EXPECT_EQ(warned("1(0.5) 2(0.3)\n1(0.9)\n", ' '),
            ": each item ends with a number, such as 1(0.5)" + quantity);
  EXPECT_EQ(warned("a:1 b:x\n", ' '), "");
  EXPECT_EQ(warned("gender,age,city\nm,20,x\nf,?,x\n", ','),
            ": all lines have 3 items, and no item of the first line occurs again; if it is a "
            "header, use --skip-lines 1 and write each value with its column's name, such as "
            "colour=red\n: ? counts as an item; if it means an empty cell, leave the cell empty\n");
  std::string const table =
      ": all lines have 2 items, and each item occurs in one column only; if it is a table, write "
      "each value with its column's name, such as colour=red\n";
  EXPECT_EQ(warned("m,20\nf,30\nm,30\nf,20\n", ','), table);
  EXPECT_EQ(warned("a,b\nc,d\na,e\n", ','), "");
  EXPECT_EQ(warned("m,20\n20,m\nm,30\nm,20\n", ','), "");
  EXPECT_EQ(warned("m,20\nf,30\nm,30\nf,20,x\n", ','), "");
  EXPECT_EQ(named(read_baskets({}, file("green tea\tmilk\n"), {.separator = '\t'})),
            (rows{{"green tea", "milk"}}));
}

TEST_F(transaction_files, baskets_that_begin_with_ids) {
  auto const refused = [&](std::string const& text, char separator) {
    std::string const path = file(text);
    return testing_tools::message_of([&] { read_baskets({}, path, {.separator = separator}); })
        .substr(path.size());
  };
  auto const ids = [](std::string const& first, std::string const& cut, int line = 1) {
    return fmt::format(
        ":{}:1: found \"{}\" and such ids at the beginning of all lines, expected "
        "items alone; cut {} removes the ids",
        line, first, cut);
  };
  EXPECT_EQ(refused("T100: a b\nT200: b\n", ' '), ids("T100:", "-d':' -f2-"));
  EXPECT_EQ(refused("T100:a,b\r\nT200:b\r\n", ','), ids("T100:", "-d':' -f2-"));
  EXPECT_EQ(refused("T100: a, b\nT200: b\n", ','), ids("T100:", "-d':' -f2-"));
  EXPECT_EQ(refused("7\ta,b\n9\tb\n", ','), ids("7\\x09", "-f2-"));
  EXPECT_EQ(refused("7\ta,b\n9\tb\n", ' '), ids("7\\x09", "-f2-"));
  EXPECT_EQ(refused("7;a,b\n9;b\n", ','), ids("7;", "-d';' -f2-"));
  EXPECT_EQ(refused("7 | a, b\n9 | b\n", ','), ids("7 |", "-d'|' -f2-"));
  EXPECT_EQ(message_of("100\t3 4\n200\t3\n"), ids("100\\x09", "-f2-"));
  EXPECT_EQ(refused("T1=a,b\nT2=b\n", ','), ids("T1=", "-d'=' -f2-"));
  EXPECT_EQ(refused("T1 -> a,b\nT2 -> b\n", ','), ids("T1 ->", "-d'>' -f2-"));
  EXPECT_EQ(refused("1. a,b\n2. b\n", ','), ids("1.", "-d'.' -f2-"));
  EXPECT_EQ(refused("# my baskets\nT1: a b\nT2: b\n", ' '), ids("T1:", "-d':' -f2-", 2));
  EXPECT_EQ(message_of("# my baskets\n100\t3 4\n200\t3\n"), ids("100\\x09", "-f2-", 2));
  std::string const headed = file("items\nT1: a b\nT2: b\n");
  EXPECT_EQ(testing_tools::message_of([&] { read_baskets({}, headed, {.skip_lines = 1}); }),
            headed + ids("T1:", "-d':' -f2-", 2));
  EXPECT_EQ(refused("# a table\n7 T F F\n8 F T T\n", ' ').substr(0, 19), ":2:1: found a table");
  EXPECT_EQ(refused("1 2 #SUP: 3\n", ' '),
            ":1:5: found \"#SUP:\", which is SPMF's form for results, expected items alone");
  for (std::string const some :
       {"a1:x b:y\na2:x c\n", "a1\tb\na2\tb\n", "a1:2\na2:3\n", "b:x c\na:x d\n", "1.5 2\n2.5 3\n"})
    EXPECT_EQ(read_baskets({}, file(some), {}).size(), 2U) << some;
}

TEST_F(transaction_files, baskets_that_are_all_in_quotes) {
  for (char const separator : {',', ' '}) {
    std::string const path = file("\"c\"\n\"a,b\"\n");
    EXPECT_EQ(testing_tools::message_of([&] { read_baskets({}, path, {.separator = separator}); }),
              path +
                  ":2:1: found all items of a basket in quotes, expected quotes around single "
                  "items; tr -d '\"' removes the quotes");
  }
  EXPECT_EQ(named(read_baskets({}, file("\"c\"\n\"d e\"\n"), {.separator = ','})),
            (rows{{"c"}, {"d e"}}));
}

TEST_F(transaction_files, pairs_below_a_header_of_other_names) {
  std::string said;
  basket_options options{.separator = ',', .pairs = true};
  options.warn = [&](std::string const& what) { said += what.substr(what.rfind('/') + 1); };
  std::string const path = file("cust,art\n1,a\n1,b\n2,a\n");
  EXPECT_EQ(testing_tools::message_of([&] { read_baskets({}, path, options); }),
            path +
                ":1:1: found the header \"cust,art\", expected a basket's id and an item; "
                "--skip-lines 1 leaves out a header, --skip-lines 0 reads it as a pair");
  std::string const numbers = file("c1,c2\n1,a\n1,b\n2,a\n");
  EXPECT_TRUE(testing_tools::message_of([&] {
                read_baskets({}, numbers, options);
              }).starts_with(numbers + ":1:1: found the header"));
  file("cust,art\n1,a\n1,b\n2,a\n");
  options.skip_lines = 1;
  EXPECT_EQ(named(read_baskets({}, path, options)), (rows{{"a", "b"}, {"a"}}));
  options.skip_lines = 0;
  file("C536379,D\n536365,85123A\n536366,71053\n536366,85123A\n");
  EXPECT_EQ(named(read_baskets({}, path, options)), (rows{{"D"}, {"85123A"}, {"71053", "85123A"}}));
  options.skip_lines.reset();
  EXPECT_EQ(said, "");
  EXPECT_EQ(read_baskets({}, file("who,art\nann,a\nbob,b\nann,b\n"), options).size(), 3U);
  EXPECT_NE(said.find(":1: neither \"who\" nor \"art\" occurs again; if the line is a header, use "
                      "--skip-lines 1"),
            std::string::npos)
      << said;
  said.clear();
  EXPECT_EQ(read_baskets({}, file("ann,a\nann,b\nbob,b\n"), options).size(), 2U);
  EXPECT_EQ(said, "");
}

TEST(transactions, of_documents) {
  discretizer fitted;
  fitted.features = {{3, {0.25, 0.5}}, {5, {}}, {7, {1}}};
  dataset data;
  data.labels = {2, unlabelled, 0};
  double const nan = std::numeric_limits<double>::quiet_NaN();
  data.entries = {{3, 0.3}, {7, nan}, {3, 0.5}, {7, 2}, {3, 0.1}};
  data.row = {0, 2, 4, 5};
  data.queries = {{"1", 0, 3}};
  auto const binned = apply_discretizer({}, data, fitted);
  EXPECT_EQ(named(transactions_of(binned, fitted, true)),
            (rows{{"3:[0.25,0.5)", "7:missing", "label=2"},
                  {"3:[0.5,inf)", "7:[1,inf)"},
                  {"3:(-inf,0.25)", "7:(-inf,1)", "label=0"}}));
  EXPECT_EQ(named(transactions_of(binned, fitted, false))[0],
            (rows::value_type{"3:[0.25,0.5)", "7:missing"}));
}

TEST(transactions, of_documents_with_a_huge_label) {
  discretizer fitted;
  fitted.features = {{3, {0.25}}};
  dataset data;
  data.labels = {std::numeric_limits<std::int32_t>::max(), 7, 0};
  data.entries = {{3, 0.3}};
  data.row = {0, 1, 1, 1};
  data.queries = {{"1", 0, 3}};
  auto const binned = apply_discretizer({}, data, fitted);
  auto const peak_kilobytes = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  auto const before = peak_kilobytes();
  transactions const made = transactions_of(binned, fitted, true);
  EXPECT_LT(peak_kilobytes() - before, 1 << 20) << "an item for each label there could be";
  EXPECT_EQ(named(made), (rows{{"3:[0.25,inf)", "label=2147483647"},
                               {"3:(-inf,0.25)", "label=7"},
                               {"3:(-inf,0.25)", "label=0"}}));
}

TEST(transactions, that_were_moved_from_are_none) {
  transactions made;
  made.row = {0, 1};
  made.items = {0};
  transactions const taken = std::move(made);
  EXPECT_EQ(taken.size(), 1U);
  EXPECT_EQ(made.size(), 0U);  // NOLINT(bugprone-use-after-move): what is tried
}

TEST_F(transaction_files, real_sets) {
  RULERANK_REAL_DATA(chess, "fim/chess.dat");
  RULERANK_REAL_DATA(quest, "fim/T10I4D100K.dat");
  EXPECT_EQ(read_fimi({}, chess).size(), 3196U);
  EXPECT_EQ(read_fimi({}, chess).names.size(), 75U);
  EXPECT_EQ(read_fimi({}, quest).size(), 100000U);
  EXPECT_EQ(read_fimi({}, quest).names.size(), 870U);
}

}  // namespace
}  // namespace rulerank::datasets::transactions_test
