#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/delimited/joined_features.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/delimited/read.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/split.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/testing.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace rulerank::inline v0::datasets::delimited_test {
namespace {

using namespace std::string_literals;
using testing_tools::input_and_message;
using testing_tools::message_of;

dataset parse(std::string text, read_options const& options = {}, int threads = 2,
              std::size_t chunk_bytes = 40, char delimiter = ',') {
  context ctx;
  ctx.threads = threads;
  return parse_delimited_chunks(ctx, make_text(std::move(text)), "f", delimiter, options, {},
                                chunk_bytes);
}

std::string content_of(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Compares the documents of two data sets.
void expect_same_documents(dataset const& a, dataset const& b, std::string const& what) {
  EXPECT_EQ(a.labels, b.labels) << what;
  EXPECT_EQ(a.fractional_labels, b.fractional_labels) << what;
  EXPECT_EQ(a.row, b.row) << what;
  EXPECT_EQ(a.names, b.names) << what;
  ASSERT_EQ(a.size(), b.size()) << what;
  ASSERT_EQ(a.entries.size(), b.entries.size()) << what;
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    EXPECT_EQ(a.entries[i].feature, b.entries[i].feature) << what;
    bool const missing = std::isnan(a.entries[i].value);
    EXPECT_EQ(missing, std::isnan(b.entries[i].value)) << what;
    if (!missing) {
      EXPECT_EQ(a.entries[i].value, b.entries[i].value) << what;
    }
  }
  ASSERT_EQ(a.queries.size(), b.queries.size()) << what;
  for (std::size_t q = 0; q < a.queries.size(); ++q) {
    EXPECT_EQ(a.queries[q].qid, b.queries[q].qid) << what;
    EXPECT_EQ(a.queries[q].begin, b.queries[q].begin) << what;
    EXPECT_EQ(a.queries[q].end, b.queries[q].end) << what;
  }
  for (std::size_t d = 0; d < a.size(); ++d)
    EXPECT_EQ(d < a.ids.size() ? a.ids[d] : "", d < b.ids.size() ? b.ids[d] : "") << what;
}

TEST(delimited, passes_over_an_index_and_words) {
  std::vector<std::string> warnings;
  auto const read = [&](std::string text, read_options const& options = {}) {
    warnings.clear();
    return parse_dataset(context{}, std::move(text), "f.csv", options,
                         [&](std::string const& what) { warnings.push_back(what); });
  };
  dataset data =
      read(",label,qid,query,a\n0,2,q,red shoes,NA\n1,0,q,\"2001, a film\",TRUE\n2,1,q,x,\n");
  EXPECT_EQ(data.names, (feature_names{{1, "a"}}));
  EXPECT_TRUE(std::isnan(data.entries.at(0).value));
  EXPECT_EQ(data.entries.at(1).value, 1);
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "f.csv: left out the first column, which has no name",
                          "f.csv: left out the column query, whose values are not numbers"}));
  data = read("Unnamed: 0,rel,q,a,b\n0,1,x,1,n\n1,0,x,2,m\n",
              {.label_column = "rel", .qid_column = "q", .skip_columns = {"b"}});
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(data.queries.at(0).qid, "x");
  EXPECT_EQ(data.names, (feature_names{{1, "a"}}));
  EXPECT_EQ(warnings.size(), 1U);
  auto const fault = [&](std::string const& text, read_options const& options = {}) {
    return message_of([&] { read(text, options); });
  };
  EXPECT_EQ(fault("label,qid,a,day\n1,7,1,2020-01-31\n"),
            "f.csv:2:7: value \"2020-01-31\" of feature day looks like a date, expected a number, "
            "or --skip-columns day");
  EXPECT_EQ(fault("label,qid,a\n1,7,1\n", {.skip_columns = {"b"}}),
            "f.csv:1:1: found no column \"b\" of --skip-columns, expected it in the header "
            "\"label,qid,a\"");
  for (read_options const& options :
       {read_options{.label_column = "grade"}, read_options{.qid_column = "grade"}})
    EXPECT_EQ(fault("label,qid,a\n1,7,1\n", options),
              fmt::format("f.csv:1:1: found no column \"grade\" of {}, expected it in the header "
                          "\"label,qid,a\"",
                          options.qid_column.empty() ? "--label-column" : "--qid-column"));
  EXPECT_NE(fault("label,qid,a\n1,7,1\n1,7,x\n").find("f.csv:3:5: "), std::string::npos);
}

TEST(delimited, reads_columns_of_usual_names) {
  std::vector<std::string> warnings;
  auto const read = [&](std::string text, read_options const& options = {}) {
    warnings.clear();
    return parse_dataset(context{}, std::move(text), "f", options,
                         [&](std::string const& what) { warnings.push_back(what); });
  };
  dataset data = read("index;Query ID;query;relevance;a\n0;7;red shoes;2;1\n1;8;blue;0;2\n");
  EXPECT_EQ(data.names, (feature_names{{1, "a"}}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(data.label_column, "relevance");
  ASSERT_EQ(data.queries.size(), 2U);
  EXPECT_EQ(data.queries[1].qid, "8");
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                "f: read the column relevance as label", "f: read the column Query ID as qid",
                "f: left out the column index, which is an index of pandas; rename it to make it a "
                "feature",
                "f: left out the column query, whose values are not numbers"}));
  EXPECT_EQ(read("label,group_id,a\n1,7,1\n").queries.at(0).qid, "7");
  EXPECT_EQ(read("Label,QID,DocID,a,index,level_0,Unnamed: 0.1\n1,7,d,1,2,3,4\n").names,
            (feature_names{{1, "a"}}));
  EXPECT_EQ(warnings.at(2), "f: read the column DocID as docid");
  EXPECT_EQ(warnings.size(), 6U);
  for (std::string const title :
       {"docid", "doc_id", "docno", "id", "_id", "product_id", "document_id", "corpus-id"}) {
    data = read("label,qid," + title + ",a\n1,7,12,3\n");
    EXPECT_EQ(data.names, (feature_names{{1, "a"}})) << title;
    EXPECT_EQ(data.docid(0), "12") << title;
    EXPECT_EQ(warnings, title == "docid" ? std::vector<std::string>{}
                                         : std::vector<std::string>{"f: read the column " + title +
                                                                    " as docid"});
  }
  EXPECT_EQ(read("qid,query_id,label,a\n1,2,1,1\n", {.skip_columns = {"query_id"}}).names.size(),
            1U);
  auto const fault = [&](std::string const& text, read_options const& options = {}) {
    return message_of([&] { read(text, options); });
  };
  EXPECT_EQ(
      fault("label,qid,id,a,product_id\n1,7,1,3,2\n"),
      "f:1:16: found the columns id and product_id, expected --skip-columns with one of them");
  EXPECT_EQ(fault("label,qid,a\nTRUE,7,1\n"),
            "f:2:1: label \"TRUE\" is not a number, expected 1 for TRUE and 0 for FALSE");
  EXPECT_EQ(fault("label,query_id,a,topic_id\n1,7,1,3\n"),
            "f:1:18: found the columns query_id and topic_id, expected --qid-column query_id or "
            "--qid-column topic_id, or --skip-columns with one of them");
  EXPECT_NE(fault("query_id,qid,label\n1,7,1\n").find("the columns query_id and qid"),
            std::string::npos);
  EXPECT_NE(fault("qid,label,relevance\n1,7,1\n").find("--label-column relevance"),
            std::string::npos);
  EXPECT_EQ(read("qid,label,relevance\n1,7,1\n", {.label_column = "label"}).labels.at(0), 7);
}

TEST(delimited, reads_texts_of_queries_as_ids) {
  std::vector<std::string> warnings;
  auto const read = [&](std::string text) {
    warnings.clear();
    return parse_dataset(context{}, std::move(text), "f.csv", {},
                         [&](std::string const& what) { warnings.push_back(what); });
  };
  dataset const data = read(
      "label,query,a\n2,blue shoes,1\n0,\"blue shoes\",2\n"
      "1,\"a \"\"b\"\"\nc\",3\n0,50%,4\n");
  ASSERT_EQ(data.queries.size(), 3U);
  EXPECT_EQ(data.queries[0].qid, "blue%20shoes");
  EXPECT_EQ(data.queries[0].size(), 2U);
  EXPECT_EQ(data.queries[1].qid, "a%20\"b\"%0Ac");
  EXPECT_EQ(data.queries[2].qid, "50%");
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                "f.csv: read the column query as qid",
                "f.csv: wrote %20 for each blank in ids of queries, such as blue%20shoes"}));
  EXPECT_EQ(read("label,qid,a\n2,blue%20shoes,1\n").queries.at(0).qid, "blue%20shoes");
  EXPECT_EQ(warnings, std::vector<std::string>{});
  std::string_view const alone = "label,query,a\n2,,1\n";
  EXPECT_EQ(message_of([&] { read(std::string(alone)); }), "f.csv:2:3: found no qid, expected one");
}

TEST(delimited, reads_what_the_columns_say) {
  dataset const data = parse(
      "bm25,docid,label,page rank,qid\r\n"
      "0.5,007,2,,q1\r\n"
      "\r\n"
      "1e2,\"a\"\"b\",0,nan,q1\r\n"
      " NULL , 1e3 ,1, -3 ,\"01\"");
  EXPECT_EQ(data.name, "f");
  EXPECT_EQ(data.delimiter, ',');
  EXPECT_EQ(data.header, "bm25,docid,label,page rank,qid");
  EXPECT_EQ(data.names, (feature_names{{1, "bm25"}, {2, "page rank"}}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{2, 0, 1}));
  EXPECT_EQ(data.row, (std::vector<std::size_t>{0, 2, 4, 6}));
  EXPECT_EQ(data.document(0)[0].value, 0.5);
  EXPECT_EQ(data.document(0)[1].feature, 2U);
  EXPECT_TRUE(std::isnan(data.document(0)[1].value));
  EXPECT_EQ(data.document(1)[0].value, 100);
  EXPECT_TRUE(std::isnan(data.document(1)[1].value));
  EXPECT_TRUE(std::isnan(data.document(2)[0].value));
  EXPECT_EQ(data.document(2)[1].value, -3);
  EXPECT_EQ(data.docid(0), "007");
  EXPECT_EQ(data.docid(1), "a\"b");
  EXPECT_EQ(data.docid(2), "1e3");
  EXPECT_EQ(data.comment(0), "");
  ASSERT_EQ(data.queries.size(), 2U);
  EXPECT_EQ(data.queries[0].qid, "q1");
  EXPECT_EQ(data.queries[0].end, 2U);
  EXPECT_EQ(data.queries[1].qid, "01");
  EXPECT_EQ(data.line_numbers, (std::vector<std::uint64_t>{2, 4, 5}));
  EXPECT_EQ(data.lines[1], "1e2,\"a\"\"b\",0,nan,q1");
}

struct odd_file {
  char const* name;
  std::string text;
  std::string expected;  ///< the beginning of the error, or "OK"
  read_options options{};
};

read_options unlabelled_is(std::int32_t label) {
  read_options options;
  options.unlabelled = label;
  return options;
}

// Long because it is the table of all forms and faults.
std::vector<odd_file> odd_files() {
  read_options optional, fractional, regroup, zero_based;
  optional.optional_labels = true;
  fractional.fractional_labels = true;
  regroup.regroup = true;
  zero_based.zero_based = true;
  return {
      // Unusual but valid.
      {"plain", "label,qid,a\n1,1,0.5\n0,1,2\n", "OK"},
      {"no line end at the end", "label,qid,a\n1,1,0.5", "OK"},
      {"CRLF", "label,qid,a\r\n1,1,0.5\r\n", "OK"},
      {"CR at the end of the file", "label,qid,a\n1,1,0.5\r", "OK"},
      {"byte order mark", "\xef\xbb\xbflabel,qid,a\n1,1,0.5\n", "OK"},
      {"columns in another order", "a,qid,b,label\n1,q,2,0\n", "OK"},
      {"all in quotes", "\"label\",\"qid\",\"a\"\n\"1\",\"q\",\"0.5\"\n", "OK"},
      {"quoted delimiters", "label,qid,\"a,\"\"b\"\"\"\n1,1,2\n", "OK"},
      {"blank lines", "label,qid,a\n\n1,1,2\n  \n\r\n0,1,3\n\n", "OK"},
      {"blanks around cells", "label , qid,  a\n 1 ,q ,\t2 \n", "OK"},
      {"missing values", "label,qid,a,b,c,d\n1,1,,NULL,nan,\"\"\n", "OK"},
      {"numbers for features", "label,qid,10,2\n1,1,0.5,1\n", "OK"},
      {"no features", "label,qid\n1,1\n", "OK"},
      {"no qid", "label,a\n1,2\n0,3\n", "OK"},
      {"an empty docid", "label,qid,docid,a\n1,1,,2\n", "OK"},
      {"float label", "label,qid,a\n2.0,1,2\n", "OK"},
      {"no labels where they are optional", "qid,a\n1,2\n", "OK", optional},
      {"an empty label where it is optional", "label,qid,a\n,1,2\n", "OK", optional},
      {"an empty label, not labelled yet", "label,qid,a\n,1,2\n-1,1,3\n", "OK", unlabelled_is(-1)},
      {"fractional labels", "label,qid,a\n0.5,1,2\n", "OK", fractional},
      {"queries apart, gathered", "label,qid,a\n1,1,1\n1,2,1\n0,1,1\n", "OK", regroup},
      {"feature 0 where it is allowed", "label,qid,0\n1,1,2\n", "OK", zero_based},
      {"a title like another in case", "label,qid,a,A\n1,1,2,3\n", "OK"},
      {"titles in another case", "a,Label,QID,DocId\n2,1,1,1\n", "OK"},
      // Invalid headers.
      {"empty", "", "f:1:1: found no documents, expected a header and records"},
      {"a blank header", "\nlabel,qid\n1,1\n", "f:1:1: found a column without a name"},
      {"blank", " \n\n", "f:1:2: found a column without a name"},
      {"a header alone", "label,qid,a\n",
       "f:1:1: found no documents, expected a header and records"},
      {"no column of labels", "qid,a\n1,2\n", "f:1:1: found no column label, expected one"},
      {"a column without a name", "label,qid,,a\n1,1,2,3\n",
       "f:1:11: found a column without a name"},
      {"a column twice", "label,qid,a,b,a\n1,1,2,3,4\n", "f:1:15: found column \"a\" twice"},
      {"two qids", "label,qid,qid\n1,1,2\n", "f:1:11: found column \"qid\" twice"},
      {"a number twice", "label,qid,1,01\n1,1,2,3\n", "f:1:13: found feature 1 twice"},
      {"names and numbers", "label,qid,a,2\n1,1,2,3\n",
       "f:1:13: found a feature by number, expected a name, as the features before have"},
      {"feature 0", "label,qid,0\n1,1,2\n", "f:1:11: found feature 0, expected 1 or more"},
      {"feature 2^31", "label,qid,2147483648\n1,1,2\n",
       "f:1:11: feature \"2147483648\" is too large"},
      {"a header with an open quote", "label,qid,\"a\n1,1,2\n",
       "f:1:11: found a quote that is not closed"},
      {"a fault on a header's second line", "label,qid,\"a\nb\",\"x\"y\n1,1,2,3\n",
       "f:2:7: found \"y\" after a quote, expected a comma or the line's end"},
      // Invalid records.
      {"too few cells", "label,qid,a\n1,1,2\n1,1\n",
       "f:3:4: found 2 cells, expected 3 as in the header"},
      {"too many cells", "label,qid,a\n1,1,2,3\n",
       "f:2:7: found 4 cells, expected 3 as in the header"},
      {"a delimiter at the end", "label,qid,a\n1,1,2,\n", "f:2:7: found 4 cells, expected 3"},
      {"a word for a value", "label,qid,a\n1,1,2\n\n0,2,x\n",
       "f:4:5: value \"x\" of feature a is not"},
      {"a fault behind a quoted line end", "label,qid,docid,a\n1,1,\"d\",2\n0,1,\"d\n\",x\n",
       "f:3:6: found docid \"d\\x0a\", expected one word"},
      {"a value on the record's second line", "label,qid,a,b\n1,1,\"1\",2\n0,1,\"\n\",x\n",
       "f:3:6: value \"\\x0a\" of feature a is not a number"},
      {"an infinite value", "label,qid,a\n1,1,inf\n",
       "f:2:5: value \"inf\" of feature a is infinite"},
      {"a decimal comma in quotes", "label,qid,a\n1,1,\"0,5\"\n",
       "f:2:6: value \"0,5\" of feature a"},
      {"a negative label", "label,qid,a\n-1,1,2\n", "f:2:1: label \"-1\" is negative"},
      {"a fractional label", "a,qid,label\n2,1,1.5\n",
       "f:2:5: label \"1.5\" is fractional, expected an integer of 0 or more"},
      {"no label", "label,qid,a\n1,1,2\n,1,2\n",
       "f:3:1: found no label, expected an integer of 0 or more"},
      {"a word for a label", "label,qid,a\ngood,1,2\n", "f:2:1: label \"good\" is not a number"},
      {"no qid in a record", "label,qid,a\n1,,2\n", "f:2:3: found no qid, expected one"},
      {"a qid that is a comment", "label,qid,a\n1,#,2\n",
       "f:2:3: found qid \"#\", expected one word"},
      {"query apart", "label,qid,a\n1,x,1\n1,y,1\n0,x,1\n", "f:4:3: found query \"x\" again"},
      {"query apart behind a fault", "label,qid,a\n1,x,1\n1,y,z\n0,x,1\n", "f:3:5: value \"z\""},
      {"a quote in a cell", "label,qid,a\n1,q\"1\",2\n", "f:2:4: found a quote inside a cell"},
      {"letters behind a quote", "label,qid,a\n1,\"q\"1,2\n",
       "f:2:6: found \"1\" after a quote, expected a"},
      {"an open quote", "label,qid,a\n1,1,2\n1,\"1,2\n0,1,2\n",
       "f:3:3: found a quote that is not closed"},
      {"an open quote, closed by another", "label,qid,a\n1,\"1,2\n0,\"1\",2\n",
       "f:3:4: found \"1\" after a quote"},
      {"NUL in a cell", "label,qid,a\n1,1,2\0\n"s, "f:2:6: found a NUL byte, expected text"},
      {"NUL in quotes", "label,qid,a\n1,\"1\0\",2\n"s, "f:2:5: found a NUL byte, expected text"},
      {"carriage returns for line ends", "label,qid,a\r1,1,2\r",
       "f:1:12: found a carriage return inside"},
      {"a semicolon for a comma", "label;qid;a\n1;1;2\n",
       "f:1:6: found ';' between columns, expected ','"},
      {"the same without labels", "qid;a\n1;2\n", "f:1:4: found ';' between columns, expected ','",
       optional},
      {"a tab for a comma", "label\tqid\ta\n1\t1\t2\n",
       "f:1:6: found a tab between columns, expected ','"},
      {"a missing qid of pandas", "label,qid,a\n1,NaN,2\n",
       "f:2:3: found the qid NaN, which stands for a missing value, expected another qid"},
      {"a missing docid of R", "label,qid,docid,a\n1,1,NA,2\n",
       "f:2:5: found the docid NA, which stands for a missing value, expected another docid"},
      {"a query of such a word", "label,query,a\n1,nan,2\n0,nan bread,2\n", "OK"},
      {"labels twice", "label,qid,a,Label\n1,1,2,3\n",
       "f:1:13: found the columns label and Label, expected --label-column label or"},
      {"a line end in a title", "label,qid,\"a\nb\"\n1,1,2\n",
       "f:1:12: column \"a\\x0ab\" has a control character or a mark of direction in its name, "
       "expected plain text"},
      {"a command in a title", "label,qid,a\033[2J\n1,1,2\n",
       "f:1:11: column \"a\\x1b[2J\" has a control character or a mark of direction"},
      {"one of U+0080 to U+009F", "label,qid,a\xc2\x9b\n1,1,2\n", "f:1:11: column"},
      {"a mark of direction in a title", "label,qid,a\xe2\x80\xae\n1,1,2\n",
       "f:1:11: column \"a\\xe2\\x80\\xae\" has a control character or a mark of direction"},
      {"a title that is not UTF-8",
       "label,qid,gr\xf6\xdf"
       "e,a\n1,1,2,3\n",
       "f:1:11: the name \"gr\\xf6\\xdfe\" is not UTF-8, expected UTF-8; iconv -f ENCODING -t "
       "UTF-8 converts the file"},
      {"no column of labels, and the option for that", "qid,a\n1,2\n",
       "f:1:1: found no column label, expected one, or --label-column NAME (or "
       "--unlabelled -1 if no label is known)"},
      {"no label, and the option for that", "label,qid,a\n,1,2\n",
       "f:2:1: found no label, expected an integer of 0 or more (or --unlabelled -1 if an "
       "empty cell or NA means that the document has no label)"},
      {"no label among fractional ones", "label,qid,a\n,1,2\n",
       "f:2:1: found no label, expected a number of 0 or more", fractional},
  };
}

TEST(delimited, odd_files_are_read_or_named) {
  for (odd_file const& file : odd_files())
    for (int const threads : {1, 3})
      for (std::size_t const chunk : {1, 7, 100000}) {
        auto const said = message_of([&] { parse(file.text, file.options, threads, chunk); });
        EXPECT_EQ(said.substr(0, file.expected.size()), file.expected)
            << file.name << ": " << said << ", " << threads << " threads, chunks of " << chunk;
      }
}

TEST(delimited, the_form_follows_from_the_name_or_the_first_line) {
  struct {
    char const* name;
    char const* first_line;
    char delimiter;
  } const cases[] = {
      {"f.csv", "1 qid:1 1:1", ','},
      {"f.tsv.gz", "a,b", '\t'},
      {"f.csv.zst", "a\tb", ','},
      {"f.csv", "label;qid;a,b", ';'},
      {"f.csv", "\"qid\";a", ';'},
      {"f.csv", "label,a;qid", ','},
      {"f.tsv", "label;qid", '\t'},
      {"f.txt", "label;qid;a", ';'},
      {"f.txt", "label,qid,a", ','},
      {"f.txt", "a\tqid\tb,c", '\t'},
      {"f.txt", "docid,\"qid\",a", ','},
      {"f.txt", "\"label\"\ta", '\t'},
      {"f.txt", "a,b,c", 0},
      {"f.txt", "1 qid:1 1:1", 0},
      {"f.txt", "1 qid:1 1:1 #a,label,b", 0},
      {"f.txt", "-1\tqid:1\t1:1 #\tlabel", 0},
      {"f.txt", "#,label,qid", 0},
      {"f.txt", " label,qid", 0},
      {"f.txt", "", 0},
      {"csv", "1", 0},
      {"f.csv", "sep=;", ';'},
      {"f.tsv", "sep=,\r", ','},
      {"f", "sep=\t", '\t'},
      {"f.csv", "sep=;,qid", ','},
      {"f", "sep=|", 0},
  };
  for (auto const& one : cases)
    EXPECT_EQ(delimiter_of(one.name, one.first_line), one.delimiter)
        << one.name << ": " << one.first_line;
}

TEST(delimited, other_forms_are_named) {
  input_and_message const rows[] = {
      {"[{\"label\":2}]\n",
       "f:1:1: found JSON, expected CSV or TSV with a header, or SVMlight's lines..."},
      {"{\"label\":2}\n", "f:1:1: found JSON, expected..."},
      {"<table border=\"1\">\n", "f:1:1: found HTML or XML, expected..."},
      {"@relation x\n", "f:1:1: found ARFF, expected..."},
      {"label|qid|x\n1|1|2\n", "f:1:1: found '|' between columns, expected..."},
      {"| label | qid |\n|---|---|\n", "f:1:1: found '|' between columns, expected..."},
      {"\"label\" \"qid\" \"x\"\n\"1\" 2 1 0.3\n",
       "f:1:1: found blanks between columns, expected..."},
      {" label  qid   x\n     2    1 0.5\n", "f:1:1: found blanks between columns, expected..."},
      {"# label qid x\n1 qid:1 1:2\n", "OK"},
      {"1 qid:1 1:2 # label | qid\n", "OK"},
      {"qid:1 1:2 # docid = a | label\n", "f:1:1: label \"qid:1\" is not a number..."},
  };
  expect_messages(rows, [](std::string const& text) {
    return message_of([&] { parse_dataset({}, text, "f"); });
  });
  EXPECT_EQ(message_of([] { parse_dataset({}, "label|qid|x\n1|1|2\n", "f.csv"); }),
            "f.csv:1:6: found '|' between columns, expected ','");
}

TEST(delimited, a_label_for_a_missing_value_is_none) {
  std::string const text = "\"\",\"label\",\"qid\",\"x\"\n\"1\",NA,1,0.3\n\"2\",0,1,0.1\n";
  EXPECT_EQ(
      message_of([&] { parse_dataset({}, text, "f"); }),
      "f:2:5: found no label, expected an integer of 0 or more (or --unlabelled -1 if an empty "
      "cell or NA means that the document has no label)");
  EXPECT_EQ(parse_dataset({}, text, "f", unlabelled_is(-1)).labels,
            (std::vector<std::int32_t>{unlabelled, 0}));
}

TEST(delimited, other_text_has_no_columns_for_options) {
  read_options label, qid, skip;
  label.label_column = "rel";
  qid.qid_column = "query";
  skip.skip_columns = {"note"};
  for (auto const& one :
       {std::pair(label, "--label-column"), {qid, "--qid-column"}, {skip, "--skip-columns"}})
    for (std::string const text : {"1 qid:1 1:1\n", "# c\n1 qid:1 1:1\n", "a|b\n1|2\n"})
      EXPECT_EQ(message_of([&] { parse_dataset({}, text, "f", one.first); }),
                "f:1:1: found SVMlight's form, which has no columns, expected CSV or TSV with a "
                "header for "s +
                    one.second);
}

/// A first line that names the separator for Excel.
TEST(delimited, a_first_line_says_what_is_between_cells) {
  for (std::string const end : {"\n", "\r\n"})
    for (std::string const mark : {"", "\xef\xbb\xbf"}) {
      std::string const text =
          mark + "sep=;" + end + "label;qid;docid;a" + end + "1;q;x;0.5" + end + "0;q;y;2" + end;
      dataset const data = parse_dataset({}, text, "f.csv");
      ASSERT_EQ(data.size(), 2U);
      EXPECT_EQ(data.header, "label;qid;docid;a");
      EXPECT_EQ(data.line_numbers, (std::vector<std::uint64_t>{3, 4}));
      EXPECT_EQ(data.ids[1], "y");
      EXPECT_EQ(data.document(1)[0].value, 2);
      EXPECT_EQ(parse_columns({}, text, "own", {}, {}).size(), 2U);
    }
  input_and_message const rows[] = {
      {"sep=;\nlabel;qid;a\n1;q;x\n", "f.csv:3:5:..."},
      {"sep=;\nlabel;qid;a;a\n1;q;1;1\n", "f.csv:2:13..."},
      {"sep=;\n", "f.csv:2:1:..."},
  };
  expect_messages(rows, [](std::string const& text) {
    return message_of([&] { parse_dataset({}, text, "f.csv"); });
  });
}

TEST(delimited, faults_between_semicolons_have_places) {
  input_and_message const rows[] = {
      {"1;\"q;r\";0.5\n", "OK"},
      {"1;q;0,5\n",
       "f.csv:2:5: value \"0,5\" of feature a is not a number, expected a number such as 0.5, or "
       "nan or NULL"},
      {"1;\"q\"1;2\n", "f.csv:2:6: found \"1\" after a quote, expected a semicolon..."},
      {"1;q\n", "f.csv:2:4: found 2 cells, expected 3..."},
  };
  expect_messages(rows, [](std::string const& records) {
    return message_of([&] { parse_dataset({}, "label;qid;a\n" + records, "f.csv"); });
  });
}

TEST(delimited, files_of_either_form_are_read_by_one_function) {
  testing_tools::temporary_folder const folder;
  std::string const csv = "label,qid,docid,a,b\n1,q,d1,1,2\n0,q,d2,3,NULL\n";
  std::string const tsv = "label\tqid\tdocid\ta\tb\n1\tq\td1\t1\t2\n0\tq\td2\t3\t\n";
  std::string const semicolons = "label;qid;docid;a;b\r\n1;q;d1;1;2\r\n0;q;\"d2\";3;\r\n";
  std::string const svmlight = "1 qid:q a:1 b:2 # docid = d1\n0 qid:q a:3 b:nan # docid = d2\n";
  dataset const expected = parse_dataset({}, svmlight, "f");
  EXPECT_EQ(expected.delimiter, 0);
  for (auto const& [name, bytes] :
       std::vector<std::pair<std::string, std::string>>{{"a.csv", csv},
                                                        {"a.tsv", tsv},
                                                        {"a.csv.gz", testing_tools::gzip(csv)},
                                                        {"a.tsv.zst", testing_tools::zstd(tsv)},
                                                        {"a.txt", csv},
                                                        {"s.csv", semicolons},
                                                        {"s.txt", "\xef\xbb\xbf" + semicolons},
                                                        {"b.txt", tsv},
                                                        {"c.txt", "\xef\xbb\xbf" + csv},
                                                        {"d.txt", svmlight}}) {
    write_file(folder / name, bytes);
    expect_same_documents(read_dataset({}, folder / name), expected, name);
  }
}

// Random data sets, written as SVMlight and as delimited text, are read as the same documents.

struct drawn {
  std::string svmlight, delimited;
};

drawn draw(random_engine& engine, bool named, char delimiter) {
  auto const below = [&](std::uint64_t n) { return uniform_below(engine, n); };
  auto const quoted_sometimes = [&](std::string const& text) {
    return below(4) == 0 ? "\"" + text + "\"" : text;
  };
  std::size_t const features = 1 + below(9);
  std::vector<std::string> titles;
  for (std::size_t f = 0; f < features; ++f)
    titles.push_back(fmt::format("{}{}", named ? "f" : "", f * 3 + 1 + below(3)));
  std::vector<std::string> columns{"label", "qid", "docid"};
  columns.insert(columns.end(), titles.begin(), titles.end());
  shuffle(std::span(columns), engine);
  drawn text;
  char const* const end = below(2) == 0 ? "\n" : "\r\n";
  for (std::size_t c = 0; c < columns.size(); ++c)
    text.delimited += (c == 0 ? "" : std::string(1, delimiter)) + quoted_sometimes(columns[c]);
  text.delimited += end;
  std::uint64_t query = 0;
  for (std::uint64_t d = 1 + below(30); d > 0; --d) {
    query += below(3) == 0;
    std::string const label = std::to_string(below(5));
    std::string const qid = fmt::format("0{}", query);
    std::string const id = fmt::format("D-{}", d);
    std::vector<std::string> values;
    for (std::size_t f = 0; f < features; ++f)
      values.push_back(below(6) == 0 ? "" : fmt::format("{}", std::ldexp(below(1000000), -12)));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      std::string const& title = columns[c];
      auto const feature = std::find(titles.begin(), titles.end(), title) - titles.begin();
      std::string const value = title == "label"   ? label
                                : title == "qid"   ? qid
                                : title == "docid" ? id
                                                   : values[static_cast<std::size_t>(feature)];
      text.delimited += (c == 0 ? "" : std::string(1, delimiter)) + quoted_sometimes(value);
    }
    text.delimited += end;
    text.svmlight += fmt::format("{} qid:{}", label, qid);
    for (std::size_t f = 0; f < features; ++f)
      text.svmlight += fmt::format(" {}:{}", titles[f], values[f].empty() ? "NULL" : values[f]);
    text.svmlight += fmt::format(" # docid = {}\n", id);
  }
  return text;
}

/// Returns the documents of a text read as a stream, query by query.
std::string streamed(std::string const& text, dataset const& whole) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  std::size_t documents = 0;
  std::size_t queries = 0;
  std::string const said = message_of([&] {
    stream_dataset({}, ends[0], "f", {}, [&](dataset const& query) {
      if (whole.size() == 0) return;
      query_group const& group = whole.queries.at(queries++);
      std::vector<std::size_t> its(group.size());
      std::iota(its.begin(), its.end(), group.begin);
      expect_same_documents(renumbered(query, whole.names), subset(whole, its), text);
      EXPECT_EQ(query.lines, subset(whole, its).lines);
      EXPECT_EQ(query.header, whole.header);
      documents += query.size();
    });
  });
  ::close(ends[0]);
  if (said == "OK") {
    EXPECT_EQ(documents, whole.size()) << text;
  }
  return said;
}

TEST(delimited, is_the_data_set_that_svmlight_says) {
  random_engine engine(16);
  for (int round = 0; round < 400; ++round) {
    char const delimiter = round % 3 == 0 ? '\t' : ',';
    drawn const text = draw(engine, round % 2 == 0, delimiter);
    dataset const expected = parse_dataset({}, text.svmlight, "f");
    dataset const data = parse(text.delimited, {}, round % 10 == 0 ? 3 : 1,
                               1 + uniform_below(engine, 200), delimiter);
    expect_same_documents(data, expected, text.delimited);
    if (round % 4 == 0) {
      EXPECT_EQ(streamed(text.delimited, data), "OK");
      EXPECT_EQ(streamed(text.svmlight, expected), "OK");
    }
  }
}

TEST(delimited, a_stream_says_what_the_whole_text_says) {
  for (odd_file const& file : odd_files()) {
    if (file.expected == "OK" || file.text.empty() || file.text.front() == ' ') continue;
    if (delimiter_of("f", file.text.substr(0, file.text.find('\n'))) != ',') continue;
    EXPECT_EQ(streamed(file.text, {}), message_of([&] { parse(file.text); })) << file.name;
  }
}

// Writing.

TEST(write_dataset, is_read_back_as_it_was) {
  testing_tools::temporary_folder const folder;
  std::string const text =
      "docid,qid,\"a,\"\"b\",label,c\n7,q1,0.1,2,\n\"x\"\"y\",q1,1e-300,0,5\n,q2,0,1,nan\n";
  dataset const data = parse(text);
  output_file out(folder / "w.csv");
  write_dataset(data, out);
  out.commit();
  EXPECT_EQ(content_of(folder / "w.csv"),
            "label,qid,docid,\"a,\"\"b\",c\n2,q1,'7,0.1,\n0,q1,\"x\"\"y\",1e-300,5\n1,q2,,0,\n");
  expect_same_documents(read_dataset({}, folder / "w.csv"), data, text);
  dataset const named = parse("label,qid,docid,a\n1,q,d,2\n");
  output_file lines(folder / "w.txt");
  write_svmlight(named, lines);
  lines.commit();
  EXPECT_EQ(content_of(folder / "w.txt"), "1 qid:q a:2 #docid = d\n");
  expect_same_documents(read_dataset({}, folder / "w.txt"), named, "svmlight");
  output_file refused(folder / "x.txt");
  EXPECT_EQ(
      message_of([&] { write_svmlight(parse("label,page rank\n1,2\n"), refused); }),
      "f:2:1: found feature name \"page rank\", expected text that a line of SVMlight can hold");
  EXPECT_EQ(message_of([&] { write_svmlight(parse("label,qid,a\n1,#1,2\n"), refused); }),
            "f:2:1: found qid \"#1\", expected text that a line of SVMlight can hold");
}

/// Text that a spreadsheet would evaluate gets an apostrophe, as do ids that it would convert to
/// numbers, dates or booleans; values of features never do.
TEST(write_dataset, guards_ids_and_titles_and_reads_them_back) {
  testing_tools::temporary_folder const folder;
  std::string const text =
      "label,qid,docid,=1+1,'@b,c\n"
      "1,-q,=SUM(A1),-0.5,+2,-1e-3\n"
      "0,-q,'x,\"-1\",0,1\n"
      "0,q,\"=\"\"\",0,0,-7\n"
      "0,q,''=y,0,0,-7\n";
  dataset const data = parse(text);
  EXPECT_EQ(data.names, (feature_names{{1, "=1+1"}, {2, "@b"}, {3, "c"}}));
  EXPECT_EQ(data.ids, (std::vector<std::string_view>{"=SUM(A1)", "'x", "=\"", "'=y"}));
  auto const write = [&](std::string const& name) {
    output_file out(folder / name);
    write_dataset(data, out);
    out.commit();
    return content_of(folder / name);
  };
  EXPECT_EQ(write("w.csv"),
            "label,qid,docid,'=1+1,'@b,c\n"
            "1,'-q,'=SUM(A1),-0.5,2,-0.001\n"
            "0,'-q,''x,-1,0,1\n"
            "0,q,\"'=\"\"\",0,0,-7\n"
            "0,q,''=y,0,0,-7\n");
  expect_same_documents(read_dataset({}, folder / "w.csv"), data, text);
  dataset const numbers = parse(
      "label,qid,docid,a\n"
      "1,007,1e5,1\n"
      "0,007,1-2,2\n"
      "0,007,MARCH1,3\n"
      "0,true,'tis,4\n"
      "0,true,D12,5\n");
  output_file out(folder / "n.csv");
  write_dataset(numbers, out);
  out.commit();
  EXPECT_EQ(content_of(folder / "n.csv"),
            "label,qid,docid,a\n"
            "1,'007,'1e5,1\n"
            "0,'007,'1-2,2\n"
            "0,'007,'MARCH1,3\n"
            "0,'true,''tis,4\n"
            "0,'true,D12,5\n");
  expect_same_documents(read_dataset({}, folder / "n.csv"), numbers, "numbers");
  EXPECT_EQ(read_dataset({}, folder / "n.csv").ids, numbers.ids);
}

TEST(write_dataset, reads_any_id_back) {
  testing_tools::temporary_folder const folder;
  constexpr std::string_view of_qids = "=+-@'\",;ea10\xEF\xBC\x9D";
  constexpr std::string_view of_ids = "=+-@'\",;ea10\xEF\xBC\x9D\x01\x7f";
  random_engine engine(8);
  auto const word = [&](std::string_view alphabet) {
    std::string text;
    for (std::uint64_t n = 1 + uniform_below(engine, 5); n > 0; --n)
      text += alphabet[uniform_below(engine, alphabet.size())];
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::string lines;
    for (int query = 0; query < 3; ++query) {
      std::string const qid = word(of_qids) + std::to_string(query);
      for (int d = 0; d < 3; ++d)
        lines += fmt::format("1 qid:{} a:-{} #docid = {}\n", qid, d + 1, word(of_ids));
    }
    dataset data = parse_dataset({}, lines, "f");
    for (char const delimiter : {',', '\t', ';'}) {
      data.delimiter = delimiter;
      std::string const path = folder / (delimiter == '\t' ? "w.tsv" : "w.csv");
      output_file out(path);
      write_dataset(data, out);
      out.commit();
      dataset const again = read_dataset({}, path);
      EXPECT_EQ(again.ids, data.ids) << lines;
      EXPECT_EQ(again.queries.front().qid, data.queries.front().qid) << lines;
      EXPECT_EQ(again.document(8)[0].value, -3);
      std::string const table = content_of(path);
      label_records records(table);
      ASSERT_TRUE(records.next());
      while (records.next())
        for (std::size_t const c : {1, 2})
          EXPECT_EQ(std::string_view("=+-@").find(records.cells()[c].text[0]),
                    std::string_view::npos)
              << table;
    }
  }
}

TEST(write_lines, are_records_behind_their_header) {
  testing_tools::temporary_folder const folder;
  auto const written = [&](dataset const& data, std::vector<std::size_t> const& chosen,
                           std::vector<std::int32_t> const& labels) {
    output_file out(folder / "w");
    write_lines(data, chosen, out, labels);
    out.commit();
    return content_of(folder / "w");
  };
  dataset const data = parse("a,\"label\",qid\r\n 1,0,\"q\"\r\n2,1,q\r\n3,2,r\r\n");
  EXPECT_EQ(written(data, {2, 0}, {}), "a,\"label\",qid\n 1,0,\"q\"\n3,2,r\n");
  dataset const asked = parse("a,label,qid\n1,\"\",q\n2,1,q\n3,-1,q\n", unlabelled_is(-1));
  EXPECT_EQ(written(asked, {0, 1, 2}, {2, 0, 4}), "a,label,qid\n1,\"2\",q\n2,1,q\n3,4,q\n");
  dataset const bare = parse("a,qid\n1,q\n2,q\n", unlabelled_is(-1));
  EXPECT_EQ(written(bare, {0, 1}, {2, unlabelled}), "label,a,qid\n2,1,q\n,2,q\n");
}

TEST(split, writes_the_header_into_each_part) {
  testing_tools::temporary_folder const folder;
  dataset const data = parse("label,qid,a\n1,x,1\n0,y,2\n0,y,3\n1,z,4\n");
  split_options options;
  options.folds = 3;
  options.shuffle = false;
  write_split({}, data, options, folder / "out");
  EXPECT_EQ(content_of(folder / "out/Fold1/train.txt"), "label,qid,a\n1,x,1\n");
  EXPECT_EQ(read_dataset({}, folder / "out/Fold1/vali.txt").size(), 2U);
}

TEST(delimited, a_cell_of_10_megabytes) {
  std::string text = "label,qid,docid,a\n1,q,d,2\n";
  text += "0,q,\"";
  text.append(10'000'000, 'x');
  text += "\",3\n1,q,e,4\n";
  dataset const data = parse(text, {}, 2, 1 << 16);
  ASSERT_EQ(data.size(), 3U);
  EXPECT_EQ(data.ids[1].size(), 10'000'000U);
  EXPECT_EQ(data.document(2)[0].value, 4);
}

// Features are matched by name, not by number.

TEST(warn_of_lacking_features, names_the_first) {
  auto const warnings = [](std::string const& text, feature_names const& expected,
                           unlisted_values unlisted = unlisted_values::zero) {
    std::vector<std::string> all;
    warn_of_lacking_features(parse_dataset({}, text, "f"), expected, unlisted,
                             [&](std::string const& what) { all.push_back(what); });
    return all;
  };
  feature_names const five{{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}, {5, "e"}};
  using list = std::vector<std::string>;
  EXPECT_EQ(warnings("label,qid,a,b,c,d,e\n1,1,1,1,1,1,1\n", five), list());
  EXPECT_EQ(warnings("label,qid,a,b,x,d,e\n1,1,1,1,1,1,1\n", five),
            list{"f: found no column for 1 of 5 features (c); all their values count as 0"});
  EXPECT_EQ(warnings("label,qid,e\n1,1,1\n", five, unlisted_values::missing),
            list{"f: found no column for 4 of 5 features (a, b, c, ...); all their values count as "
                 "missing"});
  EXPECT_EQ(warnings("1 qid:1 a:1\n", five), list());  // it lists nonzero values only
  EXPECT_EQ(warnings("label,qid,7\n1,1,1\n", five), list());
}

TEST(renumbered, goes_by_names) {
  dataset const train = parse("label,qid,b,d\n1,q,1,2\n");
  dataset const test = parse("label,qid,d,c,a,b\n1,q,1,2,3,4\n");
  EXPECT_EQ(test.names, (feature_names{{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}}));
  dataset const alike = renumbered(test, train.names);
  EXPECT_EQ(alike.names, (feature_names{{1, "b"}, {2, "d"}, {3, "a"}, {4, "c"}}));
  ASSERT_EQ(alike.entries.size(), 4U);
  double const expected[] = {4, 1, 3, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(alike.entries[i].feature, i + 1);
    EXPECT_EQ(alike.entries[i].value, expected[i]);
  }
  dataset const numbers = parse("label,qid,1\n1,q,1\n");
  EXPECT_EQ(message_of([&] { renumbered(numbers, train.names); }),
            "f:1:1: found features with numbers, expected names such as b");
  EXPECT_EQ(message_of([&] { renumbered(train, {}); }),
            "f:1:1: found features with names such as b, expected numbers");
}

}  // namespace
}  // namespace rulerank::datasets::delimited_test
