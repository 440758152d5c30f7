#include "datasets/svmlight.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/input/number.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/read.hpp"
#include "datasets/svmlight/svmlight_reference.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::svmlight_test {
namespace {

using namespace std::string_literals;
using testing_tools::message_of;

context with_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

dataset parse(std::string text, svmlight_options const& options = {}, int threads = 2,
              std::size_t chunk_bytes = 40) {
  return parse_svmlight_chunks(with_threads(threads), make_text(std::move(text)), "f", options, {},
                               chunk_bytes);
}

/// A file that changes while it is read.
struct changing_text final : changeable_text {
  std::string text;
  bool written = false;
  std::string_view bytes() const noexcept override { return text; }
  bool changed() const noexcept override { return written; }
};

TEST(svmlight, a_text_that_changes_while_it_is_read_is_an_error) {
  for (std::string_view const other : {"0 qid:1 1:1 2:1 3:1 4:1 5:1 6:1\n", "0 qid:1 1:1\n#\n"}) {
    auto const text = std::make_shared<changing_text>();
    for (int line = 0; line < 2000; ++line) text->text += "# nothing is counted in a comment\n";
    context ctx = with_threads(2);
    ctx.progress = [&](std::string_view, std::uint64_t done, std::uint64_t total) {
      if (done == 0 || done == total) return true;
      for (std::size_t at = done; at + other.size() < total; at += other.size())
        text->text.replace(at, other.size(), other);
      text->written = true;
      return true;
    };
    EXPECT_TRUE(message_of([&] {
                  parse_svmlight_chunks(ctx, text, "f", {}, {}, 40);
                }).starts_with("f: was changed while it was read"));
  }
  testing_tools::temporary_folder const folder;
  write_file(folder / "f", "0 qid:1 1:1\n");
  auto const text = open_text({}, folder / "f");
  std::ofstream(folder / "f", std::ios::app) << "1 qid:1 1:1\n";
  EXPECT_EQ(message_of([&] { parse_svmlight({}, text, "f"); }),
            "f: was changed while it was read, expected the same file to the end");
}

struct odd_file {
  char const* name;
  std::string text;
  std::string expected;  ///< the beginning of the error, or "OK"
  svmlight_options options{};
};

svmlight_options zero_based() {
  svmlight_options options;
  options.zero_based = true;
  return options;
}
svmlight_options regroup() {
  svmlight_options options;
  options.regroup = true;
  return options;
}
svmlight_options unlabelled_is(std::int32_t label) {
  svmlight_options options;
  options.unlabelled = label;
  return options;
}

// Long because it is the table of all forms and faults.
std::vector<odd_file> odd_files() {
  std::string const long_zeros = "0." + std::string(400, '0') + "1";
  return {
      // Unusual but valid.
      {"plain", "1 qid:1 1:0.5 2:1\n0 qid:1 1:2\n", "OK"},
      {"no line end at the end", "1 qid:1 1:0.5", "OK"},
      {"CRLF", "1 qid:1 1:0.5 # c\r\n0 qid:1\r\n", "OK"},
      {"CR at the end of the file", "1 qid:1 1:0.5\r", "OK"},
      {"byte order mark", "\357\273\2771 qid:1 1:0.5\n", "OK"},
      {"blank lines", "\n  \n\t\n1 qid:1 1:1\n\r\n\n", "OK"},
      {"comment lines", "# a\n  # b: c\n1 qid:1 1:1 #x#y\n#\n", "OK"},
      {"blanks around", "  1 \t qid:1   1:1  2:2 \t \n", "OK"},
      {"string qid", "1 qid:alpha:beta/\xc3\xa9 1:1\n", "OK"},
      {"float label", "2.0 qid:1 1:1\n1e0 qid:1\n", "OK"},
      {"label with a plus", "+2 qid:1 1:1\n", "OK"},
      {"label minus zero", "-0 qid:1 1:1\n", "OK"},
      {"largest label", "2147483647 qid:1 1:1\n", "OK"},
      {"missing values", "1 qid:1 1:NULL 2:nan 3:NaN 4:-nan 5:null\n", "OK"},
      {"unsorted", "1 qid:1 3:1 1:2 2:3\n", "OK"},
      {"largest feature", "1 qid:1 2147483647:1\n", "OK"},
      {"leading zeros in a feature", "1 qid:1 0000000000003:1\n", "OK"},
      {"point first and last", "1 qid:1 1:.5 2:5. 3:-.5\n", "OK"},
      {"exponents", "1 qid:1 1:1e3 2:1E-3 3:+1.5e+2\n", "OK"},
      {"underflow is 0", "1 qid:1 1:1e-400 2:" + long_zeros + "\n", "OK"},
      {"many digits", "1 qid:1 1:0." + std::string(1000, '3') + "\n", "OK"},
      {"no features", "1 qid:1\n0 qid:1 # none\n", "OK"},
      {"label alone", "1\n0\n", "OK"},
      {"comment at once", "1 qid:1#c\n1 qid:1 1:2#d\n", "OK"},
      {"no qid", "1 1:1\n0 2:1\n", "OK"},
      {"feature 0 where it is allowed", "1 qid:1 0:1 1:1\n", "OK", zero_based()},
      {"queries apart, gathered", "1 qid:1\n1 qid:2\n0 qid:1\n", "OK", regroup()},
      {"not labelled yet", "-1 qid:1 1:1\n", "OK", unlabelled_is(-1)},
      {"features by name", "1 qid:1 bm25:0.3 page_rank:1 \xc3\xa9:NULL\n0 qid:1 bm25:1\n", "OK"},
      {"names like numbers and words", "1 qid:1 nan:1 NULL:2 e5:3 _1:4\n", "OK"},
      {"not labelled yet, another number", "-7.0 qid:1 1:1\n", "OK", unlabelled_is(-7)},
      // Invalid.
      {"empty", "", "f:1:1: found no documents"},
      {"blank", "\n \n\n", "f:1:1: found no documents"},
      {"comments alone", "# a\n# b", "f:1:1: found no documents"},
      {"byte order mark alone", "\xef\xbb\xbf", "f:1:1: found no documents"},
      {"feature twice", "1 qid:1 1:1\n\n1 qid:1 5:0.25 5:1\n",
       "f:3:16: found feature 5 twice, expected each feature once"},
      {"feature twice, apart", "1 qid:1 5:1 3:1 5:2 3:2\n", "f:1:17: found feature 5 twice"},
      {"feature twice before another fault", "1 qid:1 5:1 5:2 x\n",
       "f:1:13: found feature 5 twice"},
      {"feature twice behind another fault", "1 qid:1 x 5:1 5:2\n",
       "f:1:9: found \"x\" without a colon, expected <feature>:<value>"},
      {"feature 0", "1 qid:1 0:1\n", "f:1:9: found feature 0, expected 1 or more"},
      {"feature 00", "1 qid:1 00:1\n", "f:1:9: found feature 0, expected 1 or more"},
      {"feature 2^31", "1 qid:1 2147483648:1\n",
       "f:1:9: feature \"2147483648\" is too large, expected at most 2147483647"},
      {"feature of 30 digits", "1 qid:1 " + std::string(30, '9') + ":1\n",
       "f:1:9: feature \"999999999999999999999999999999\" is too large"},
      {"negative feature", "1 qid:1 -1:1\n", "f:1:9: feature \"-1\" is not a number"},
      {"digits and letters for a feature", "1 qid:1 1cost:1\n",
       "f:1:9: feature \"1cost\" is not a number or a name, expected <feature>:<value>"},
      {"a name behind numbers", "1 qid:1 1:1 cost:1\n",
       "f:1:13: found a feature by name, expected a number, as the features before have"},
      {"a number behind names", "1 qid:1 cost:1\n1 qid:1\n1 qid:1 1:2\n",
       "f:3:9: found a feature by number, expected a name, as the features before have"},
      {"a name on a later line", "1 qid:1 1:1\n0 qid:1 2:1\n2 qid:1  cost:1 x\n",
       "f:3:10: found a feature by name, expected a number"},
      {"a name behind a fault", "1 qid:1 1:1\n-2 qid:1 1:1\n2 qid:1 cost:1\n",
       "f:2:1: label \"-2\" is negative"},
      {"a query apart before a name", "1 qid:1 1:1\n1 qid:2 1:1\n0 qid:1 cost:1\n",
       "f:3:3: found query \"1\" again"},
      {"a name twice", "1 qid:1 a:1 b:1 a:2\n",
       "f:1:17: found feature a twice, expected each feature once"},
      {"a value of a name", "1 qid:1 bm25:x\n", "f:1:14: value \"x\" of feature bm25 is not"},
      {"a control character in a name", "1 qid:1 a\x01:1\n", "f:1:9: feature \"a\\x01\" is not"},
      {"a mark of direction in a name", "1 qid:1 a\xe2\x80\x8f:1\n",
       "f:1:9: feature \"a\\xe2\\x80\\x8f\" is not"},
      {"a name that is not UTF-8",
       "1 qid:1 gr\xf6\xdf"
       "e:1\n",
       "f:1:9: the name \"gr\\xf6\\xdfe\" is not UTF-8, expected UTF-8; iconv -f ENCODING -t UTF-8 "
       "converts the file"},
      {"no feature before the colon", "1 qid:1 :1\n", "f:1:9: feature \"\" is not a number"},
      {"no colon", "1 qid:1 1:1 2\n", "f:1:13: found \"2\" without a colon"},
      {"no value", "1 qid:1 1: 2:1\n", "f:1:11: value \"\" of feature 1 is not a number"},
      {"blank before the value", "1 qid:1 1: 2\n",
       "f:1:11: value \"\" of feature 1 is not a number"},
      {"two colons", "1 qid:1 1:2:3\n", "f:1:11: value \"2:3\" of feature 1 is not a number"},
      {"two points", "1 qid:1 1:1.2.3\n", "f:1:11: value \"1.2.3\""},
      {"decimal comma", "1 qid:1 1:1,5\n", "f:1:11: value \"1,5\""},
      {"rubbish behind a value", "1 qid:1 1:1.5x\n", "f:1:11: value \"1.5x\""},
      {"exponent without digits", "1 qid:1 1:1e\n", "f:1:11: value \"1e\""},
      {"hexadecimal", "1 qid:1 1:0x10\n", "f:1:11: value \"0x10\""},
      {"two signs", "1 qid:1 1:+-1\n", "f:1:11: value \"+-1\""},
      {"signed NULL", "1 qid:1 1:-NULL\n", "f:1:11: value \"-NULL\""},
      {"nearly NULL", "1 qid:1 1:NULLS\n", "f:1:11: value \"NULLS\""},
      {"infinite", "1 qid:1 1:inf\n",
       "f:1:11: value \"inf\" of feature 1 is infinite, expected a finite number"},
      {"minus infinity", "1 qid:1 1:-Infinity\n",
       "f:1:11: value \"-Infinity\" of feature 1 is infinite"},
      {"overflow", "1 qid:1 1:1 2:1e400\n",
       "f:1:15: value \"1e400\" of feature 2 is too large for a double"},
      {"overflow without an exponent", "1 qid:1 1:" + std::string(400, '9') + "\n",
       "f:1:11: value \"99999999999999999999999999999999...\" of feature 1 is too large"},
      {"huge exponent", "1 qid:1 1:1e99999999999999999999\n",
       "f:1:11: value \"1e99999999999999999999\" of feature 1 is too large"},
      {"negative label", "1 qid:1\n-1 qid:1 1:1\n",
       "f:2:1: label \"-1\" is negative, expected an integer of 0 or more"},
      {"another negative label", "-2 qid:1 1:1\n",
       "f:1:1: label \"-2\" is negative, expected an integer of 0 or more (or -1",
       unlabelled_is(-1)},
      {"fractional label", " 1.5 qid:1 1:1\n",
       "f:1:2: label \"1.5\" is fractional, expected an integer"},
      {"label out of range", "2147483648 qid:1 1:1\n",
       "f:1:1: label \"2147483648\" is out of range"},
      {"label beyond doubles", "1e999 qid:1 1:1\n", "f:1:1: label \"1e999\" is out of range"},
      {"infinite label", "inf qid:1 1:1\n", "f:1:1: found label \"inf\", expected an integer"},
      {"missing label", "NULL qid:1 1:1\n", "f:1:1: found label \"NULL\", expected an integer"},
      {"no label", "qid:1 1:1\n", "f:1:1: label \"qid:1\" is not a number"},
      {"a header", "label,qid,f1\n", "f:1:1: label \"label,qid,f1\" is not a number"},
      {"qid without an id", "1 qid: 1:1\n", "f:1:3: found qid: without an id, expected qid:<id>"},
      {"a missing qid", "1 qid:7 1:1\n1 qid:nan 1:1 2:0.5 3:0.25 4:0.125\n",
       "f:2:3: found the qid nan, which stands for a missing value, expected another qid"},
      {"two qids", "1 qid:1 qid:2 1:1\n",
       "f:1:9: found \"qid:2\", expected one qid, right after the label"},
      {"qid behind a feature", "1 qid:1\n1 1:1 qid:1\n",
       "f:2:3: found no qid, expected qid:<id>, as on the lines before"},
      {"qid behind a feature, first", "1 1:1 qid:1\n", "f:1:7: found \"qid:1\""},
      {"qid missing on the last line",
       "1 qid:1 1:1\n1 qid:1 1:1\n1 qid:1 1:1\n1 qid:1 1:1\n0 1:1\n", "f:5:3: found no qid"},
      {"qid missing on a bare line", "1 qid:1 1:1\n0\n", "f:2:2: found no qid"},
      {"qid on the last line alone", "1 1:1\n1 1:1\n1 1:1\n1 1:1\n1 1:1\n1 1:1\n0  qid:1\n",
       "f:7:4: found qid \"1\", expected none, as on the lines before"},
      {"query apart", "1 qid:1\n1 qid:1\n1 qid:2\n0  qid:1\n",
       "f:4:4: found query \"1\" again, expected its lines together (they ended on line 2); "
       "--regroup gathers them"},
      {"query apart on a line with a fault", "1 qid:1\n1 qid:2\n0 qid:1 x\n",
       "f:3:3: found query \"1\" again"},
      {"query apart behind a fault", "1 qid:1\n1 qid:2 x\n0 qid:1\n",
       "f:2:9: found \"x\" without a colon"},
      {"queries apart, gathered, with a fault", "1 qid:1\n1 qid:2\n0 qid:1\n-1 qid:1\n",
       "f:4:1: label \"-1\" is negative", regroup()},
      {"NUL in a value", "1 qid:1 1:1\0\n"s, "f:1:11: value \"1\\x00\""},
      {"NUL in a qid", "1 qid:a\0b 1:1\n"s, "f:1:8: found \"\\x00\" in a qid, expected text"},
      {"NUL in a comment", "1 qid:1 1:1 # \0\n"s, "f:1:15: found a NUL byte, expected text"},
      {"NULs to the end", "1 qid:1 1:1\n" + std::string(100, '\0'), "f:2:1: label \"\\x00"},
      {"carriage returns for line ends", "1 qid:1 1:1 #a\r1 qid:1 1:1 #b\r1 qid:1 1:1",
       "f:1:15: found a carriage return inside the line, expected a line end"},
      {"carriage return in a line", "1 qid:1\r 1:1\n", "f:1:8: found \"\\x0d\" in a qid"},
      {"UTF-16", "\377\3761\0 \0"s, "f:1:1: label \"\\xff\\xfe1\\x00\""},
      {"binary",
       "\x7f"
       "ELF\x02\x01\x01\n"s,
       "f:1:1: label \"\\x7fELF\\x02\\x01\\x01\" is not a number"},
  };
}

TEST(svmlight, odd_files_are_read_or_named) {
  std::string const padding(200, ' ');  // enables the fast path, which needs space after a line
  for (odd_file const& file : odd_files()) {
    for (int const threads : {1, 3}) {
      for (std::size_t const chunk : {1, 7, 100000}) {
        auto const said = message_of([&] { parse(file.text, file.options, threads, chunk); });
        EXPECT_EQ(said.substr(0, file.expected.size()), file.expected)
            << file.name << ": " << said << ", " << threads << " threads, chunks of " << chunk;
      }
    }
    if (file.text.ends_with('\n')) {
      auto const said = message_of([&] { parse(file.text + padding, file.options, 1, 100000); });
      EXPECT_EQ(said.substr(0, file.expected.size()), file.expected)
          << file.name << ", with room behind: " << said;
    }
  }
}

TEST(svmlight, ids_are_docids_or_first_words_with_a_digit) {
  dataset const data = parse(
      "2 qid:1 1:1 # 1370 Rambo III\n1 qid:1 1:2 #\t7555\tFirst Blood\n"
      "1 qid:1 1:1 # 1A\n1 qid:1 1:1 ## 8 docid = b\n"
      "1 qid:2 1:1 # easy\n0 qid:2 1:1 # note1: x\n0 qid:2 1:1 # inc1 = 1\n0 qid:2 1:1 #\n");
  std::vector<std::string> ids;
  for (std::size_t d = 0; d < data.size(); ++d) ids.push_back(data.docid(d));
  EXPECT_EQ(ids, (std::vector<std::string>{"1370", "7555", "1A", "b", "2-5", "2-6", "2-7", "2-8"}));
}

TEST(svmlight, reads_what_a_line_says) {
  dataset const data = parse(
      "2.0 qid:10 3:-0.5 1:NULL 2:1e2 #docid = GX008-86-4444840 inc = 1 prob = 0.08\r\n"
      "\n"
      "0 qid:10  # 244338\n"
      "-3 qid:b 7:0.471076#docid=x\n",
      unlabelled_is(-3));
  EXPECT_EQ(data.name, "f");
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{2, 0, unlabelled}));
  EXPECT_EQ(data.max_label(), 2);
  ASSERT_EQ(data.queries.size(), 2U);
  EXPECT_EQ(data.queries[0].qid, "10");
  EXPECT_EQ(data.queries[0].size(), 2U);
  EXPECT_EQ(data.queries[1].qid, "b");
  EXPECT_EQ(data.queries[1].begin, 2U);
  EXPECT_EQ(data.queries[1].end, 3U);
  EXPECT_EQ(data.row, (std::vector<std::size_t>{0, 3, 3, 4}));
  EXPECT_EQ(data.entries[0].feature, 1U);
  EXPECT_TRUE(std::isnan(data.entries[0].value));
  EXPECT_EQ(data.entries[1].value, 100);
  EXPECT_EQ(data.entries[2].value, -0.5);
  EXPECT_EQ(data.entries[3].feature, 7U);
  EXPECT_EQ(data.entries[3].value, 0.471076);
  EXPECT_EQ(data.line_numbers, (std::vector<std::uint64_t>{1, 3, 4}));
  EXPECT_EQ(data.lines[0],
            "2.0 qid:10 3:-0.5 1:NULL 2:1e2 #docid = GX008-86-4444840 inc = 1 prob = 0.08");
  EXPECT_EQ(data.comment(0), "docid = GX008-86-4444840 inc = 1 prob = 0.08");
  EXPECT_EQ(data.comment(1), "244338");
  EXPECT_EQ(data.docid(0), "GX008-86-4444840");
  EXPECT_EQ(data.docid(1), "244338");
  EXPECT_EQ(data.docid(2), "x");
}

TEST(svmlight, names_get_numbers_in_the_order_of_their_bytes) {
  dataset const data = parse("1 qid:1 b:1 a10:2\n0 qid:1 a2:3 b:NULL\n");
  EXPECT_EQ(data.names, (feature_names{{1, "a10"}, {2, "a2"}, {3, "b"}}));
  ASSERT_EQ(data.row, (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(data.entries[0].feature, 1U);
  EXPECT_EQ(data.entries[0].value, 2);
  EXPECT_EQ(data.entries[1].feature, 3U);
  EXPECT_EQ(data.entries[1].value, 1);
  EXPECT_EQ(data.entries[2].feature, 2U);
  EXPECT_EQ(data.entries[3].feature, 3U);
  EXPECT_TRUE(std::isnan(data.entries[3].value));
  EXPECT_TRUE(parse("1 qid:1 1:2\n").names.empty());
}

TEST(svmlight, fractional_labels_where_they_are_asked_for) {
  svmlight_options options;
  options.fractional_labels = true;
  dataset const data = parse("1.5 qid:1 1:1\n0.25 qid:1 1:2\n2 qid:1 1:3\n", options);
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(data.fractional_labels, (std::vector<double>{1.5, 0.25, 2}));
  EXPECT_EQ(message_of([&] { expect_labels(data, "learn from"); }),
            "f:1:1: found the fractional label 1.5, expected classes (integers) to learn from");
  EXPECT_TRUE(parse("2 qid:1 1:1\n1.0 qid:1 1:2\n", options).fractional_labels.empty());
  EXPECT_EQ(message_of([&] { parse("-0.5 qid:1 1:1\n", options); }),
            "f:1:1: label \"-0.5\" is negative, expected a number of 0 or more");
  EXPECT_EQ(message_of([] { parse("1 qid:1 1:1\n0.5 qid:1 1:1\n"); }),
            "f:2:1: label \"0.5\" is fractional, expected an integer of 0 or more, because labels "
            "are classes; only evaluate reads fractional labels");
}

TEST(svmlight, documents_without_labels_where_they_are_allowed) {
  svmlight_options options;
  options.optional_labels = true;
  std::string const room(100, ' ');  // enables the fast path
  for (std::string const& end : {std::string(), room}) {
    dataset const data = parse("qid:1 1:1\n2 qid:1 1:2 #docid = x\n qid:2 1:3\n" + end, options);
    EXPECT_EQ(data.labels, (std::vector<std::int32_t>{unlabelled, 2, unlabelled}));
    EXPECT_EQ(data.queries.size(), 2U);
    EXPECT_EQ(data.docid(1), "x");
    EXPECT_EQ(data.document(2)[0].value, 3);
  }
  EXPECT_EQ(parse("1:1\n1:2\n", options).size(), 2U);
  EXPECT_EQ(message_of([] { parse("qid:1 1:1\n"); }),
            "f:1:1: label \"qid:1\" is not a number, expected an integer of 0 or more");
}

TEST(svmlight, without_qid_all_is_one_query_and_a_warning) {
  std::vector<std::string> warnings;
  dataset const data =
      parse_svmlight(context(), make_text("1 1:1\n0 1:2\n"), "f", {},
                     [&](std::string const& warning) { warnings.push_back(warning); });
  ASSERT_EQ(data.queries.size(), 1U);
  EXPECT_EQ(data.queries[0].size(), 2U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], "f: no line has a qid, so all 2 documents are one query");
}

TEST(svmlight, regroup_keeps_the_order_of_first_appearance) {
  dataset const data = parse(
      "1 qid:b 1:1\n2 qid:a 1:2\n3 qid:b 1:3\n# c\n4 qid:c 1:4\n5 qid:a 1:5 2:6\n6 qid:b 1:7\n",
      regroup());
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{1, 3, 6, 2, 5, 4}));
  EXPECT_EQ(data.line_numbers, (std::vector<std::uint64_t>{1, 3, 7, 2, 6, 5}));
  ASSERT_EQ(data.queries.size(), 3U);
  EXPECT_EQ(data.queries[0].qid, "b");
  EXPECT_EQ(data.queries[1].qid, "a");
  EXPECT_EQ(data.queries[1].begin, 3U);
  EXPECT_EQ(data.queries[2].end, 6U);
  EXPECT_EQ(data.document(4).size(), 2U);
  EXPECT_EQ(data.document(4)[1].value, 6);
  EXPECT_EQ(data.lines[5], "4 qid:c 1:4");
}

TEST(svmlight, unlabelled_must_be_negative) {
  EXPECT_THROW(parse("1 qid:1 1:1\n", unlabelled_is(0)), usage_error);
}

TEST(svmlight, stops_on_request) {
  std::stop_source source;
  source.request_stop();
  context ctx;
  ctx.stop = source.get_token();
  EXPECT_THROW(parse_svmlight(ctx, "1 qid:1 1:1\n", "f"), interrupted);
  context told;
  told.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  EXPECT_THROW(parse_svmlight(told, "1 qid:1 1:1\n", "f"), interrupted);
}

TEST(svmlight, stops_at_any_time) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "1 qid:1 1:3 2:4\n";
  auto const shared = make_text(std::move(text));
  int stopped = 0;
  // More rounds on a machine that always starts the other thread too late.
  for (int round = 0; round < 400 || (stopped == 0 && round < 40'000); ++round) {
    std::stop_source source;
    context ctx = with_threads(2 + round % 7);
    ctx.stop = source.get_token();
    std::jthread const stopping([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(round % 500));
      source.request_stop();
    });
    try {
      EXPECT_EQ(parse_svmlight_chunks(ctx, shared, "f", {}, {}, 64).size(), 4000U);
    } catch (interrupted const&) {
      ++stopped;
    }
  }
  EXPECT_GT(stopped, 0);
}

TEST(svmlight, group_files) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "train.query";
  std::string const text = "1 1:1\n0 1:2\n2 1:3\n";
  svmlight_options options;
  options.group_file = path;
  struct {
    char const* groups;
    std::string expected;
  } const cases[] = {
      {"1\n2\n", "OK"},
      {"\n 1 \r\n2", "OK"},
      {"1\n1\n", path + ":2:1: the group sizes add up to 2 documents, expected as many as f has"},
      {"1\n3\n1\n", path + ":2:1: the group sizes add up to more than 3 documents"},
      {"3\n1\n", path + ":2:1: the group sizes add up to more than 3 documents"},
      {"1\n0\n2\n", path + ":2:1: found group size \"0\", expected an integer of 1 or more"},
      {"1\n 2x\n", path + ":2:2: found group size \"2x\", expected an integer of 1 or more"},
      {"-1\n", path + ":1:1: found group size \"-1\""},
      {"99999999999999999999999\n", path + ":1:1: found group size"},
      {"18446744073709551615\n5\n", path + ":1:1: the group sizes add up to more"},
      {"", path + ":1:1: the group sizes add up to 0 documents, expected as many as f has"},
  };
  for (auto const& one : cases) {
    write_file(path, one.groups);
    auto const said = message_of([&] {
      dataset const data = parse(text, options);
      ASSERT_EQ(data.queries.size(), 2U);
      EXPECT_EQ(data.queries[0].qid, "1");
      EXPECT_EQ(data.queries[1].begin, 1U);
      EXPECT_EQ(data.queries[1].end, 3U);
    });
    EXPECT_EQ(said.substr(0, one.expected.size()), one.expected) << one.groups << ": " << said;
  }
  write_file(path, "3\n");
  EXPECT_EQ(message_of([&] { parse("1 qid:7 1:1\n", options); }),
            "f:1:3: found qid \"7\", expected none, because " + path + " gives the queries");
  options.group_file = folder / "absent";
  EXPECT_EQ(message_of([&] { parse(text, options); }),
            options.group_file + ": cannot be read: No such file or directory");
}

// Numbers: each path through the reader returns the result of strtod.

TEST(number, is_rounded_like_strtod) {
  random_engine engine(7);
  std::vector<std::string> tokens{"0",
                                  "-0",
                                  "0.1",
                                  "0.471076",
                                  "1.000000",
                                  "9007199254740993",
                                  "900719925474099.3",
                                  "9.007199254740993",
                                  "0.9007199254740993",
                                  "179769313486231570000e288",
                                  "2.2250738585072011e-308",
                                  "4.9e-324",
                                  "2e-324",
                                  "3e-324",
                                  "0.000000000000000000000000000000000000001",
                                  "1.00000000000000011102230246251565404236316680908203125",
                                  "12345678.12345678",
                                  "1234567.1234567890123456",
                                  "999.9999999999999999",
                                  "00000000000000000000001.5"};
  for (int i = 0; i < 20000; ++i) {
    std::string token = uniform_below(engine, 4) == 0 ? "-" : "";
    for (std::uint64_t n = 1 + uniform_below(engine, 10); n > 0; --n)
      token += static_cast<char>('0' + uniform_below(engine, 10));
    if (uniform_below(engine, 5) != 0) {
      token += '.';
      for (std::uint64_t n = uniform_below(engine, 20); n > 0; --n)
        token += static_cast<char>('0' + uniform_below(engine, 10));
    }
    if (uniform_below(engine, 4) == 0)
      token += fmt::format("e{}", static_cast<int>(uniform_below(engine, 640)) - 340);
    if (std::isinf(std::strtod(token.c_str(), nullptr))) continue;
    tokens.push_back(token);
  }
  std::string text = "0 qid:1";
  for (std::size_t i = 0; i < tokens.size(); ++i) text += fmt::format(" {}:{}", i + 1, tokens[i]);
  text += "\n" + std::string(100, ' ');
  dataset const data = parse(text);
  ASSERT_EQ(data.entries.size(), tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    double const expected = std::strtod(tokens[i].c_str(), nullptr);
    double value = 1;
    EXPECT_EQ(read_number(tokens[i], value), number_kind::finite) << tokens[i];
    EXPECT_EQ(value, expected) << tokens[i];
    EXPECT_EQ(std::signbit(value), std::signbit(expected)) << tokens[i];
    EXPECT_EQ(data.entries[i].value, expected) << tokens[i];
    EXPECT_EQ(std::signbit(data.entries[i].value), std::signbit(expected)) << tokens[i];
  }
}

// Comparison with the plain reader.

void expect_same(dataset const& data, reference::outcome const& expected, std::string const& text) {
  ASSERT_EQ(data.size(), expected.documents.size()) << text;
  ASSERT_EQ(data.names.size(), expected.names.size()) << text;
  for (std::size_t i = 0; i < expected.names.size(); ++i)
    EXPECT_EQ(data.names.at(static_cast<std::uint32_t>(i + 1)), expected.names[i]);
  std::size_t query = 0;
  for (std::size_t d = 0; d < data.size(); ++d) {
    reference::document const& e = expected.documents[d];
    EXPECT_EQ(data.labels[d], e.label);
    EXPECT_EQ(data.lines[d], e.line);
    EXPECT_EQ(data.line_numbers[d], e.line_number);
    EXPECT_EQ(data.comment(d), e.comment());
    while (data.queries[query].end <= d) ++query;
    EXPECT_EQ(data.queries[query].qid, expected.with_qid ? e.qid : "1");
    auto const entries = data.document(d);
    ASSERT_EQ(entries.size(), e.features.size()) << text;
    std::size_t i = 0;
    for (auto const& [feature, value] : e.features) {
      EXPECT_EQ(entries[i].feature, feature);
      EXPECT_TRUE(entries[i].value == value || (std::isnan(entries[i].value) && std::isnan(value)));
      ++i;
    }
  }
}

/// Returns a random text that is mostly valid, with all forms that the reader supports.
std::string drawn_text(random_engine& engine, bool flawed, bool named) {
  auto const one_of = [&](std::vector<char const*> const& words) {
    return std::string(words[uniform_below(engine, words.size())]);
  };
  std::string text;
  std::uint64_t const lines = uniform_below(engine, 40);
  std::uint64_t query = 0;
  for (std::uint64_t i = 0; i < lines; ++i) {
    if (uniform_below(engine, 8) == 0)
      text += one_of({"", "# note", "  ", "\t# x: y"});
    else {
      query += uniform_below(engine, 3) == 0;
      text += one_of({"0", "1", "2", "2.0", "+1", "10", "3"}) + fmt::format(" qid:{}", query);
      std::uint64_t feature = 0;
      for (std::uint64_t n = uniform_below(engine, 12); n > 0; --n) {
        feature += 1 + uniform_below(engine, uniform_below(engine, 9) == 0 ? 10000000 : 3);
        text += one_of({" ", " ", " ", "\t", "  "}) + (named ? "f" : "") + std::to_string(feature) +
                ":" +
                one_of({"0", "1", "0.471076", "-0.25", "1.000000", "NULL", "nan", "835", "8.198216",
                        "0.1234567890123456789", "1e-5", ".5", "123456789"});
      }
      if (uniform_below(engine, 10) == 0)
        text += fmt::format(fmt::runtime(named ? " f{}:1 f{}:2" : " {}:1 {}:2"), feature + 9,
                            feature + 5);
      text += one_of({"", " ", "#c", " # docid = D1", " #docid = G-1 inc = 1"});
    }
    text += one_of({"\n", "\n", "\n", "\r\n"});
  }
  if (flawed && !text.empty())
    for (std::uint64_t n = 1 + uniform_below(engine, 3); n > 0; --n)
      text[uniform_below(engine, text.size())] =
          one_of({":", " ", "x", "-", "\n", "#", ".", "0", "\r", "9", "e", "q"})[0];
  return text;
}

TEST(svmlight, agrees_with_the_plain_reader) {
  random_engine engine(11);
  int faults = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string const text = drawn_text(engine, round % 2 == 1, round % 6 < 2);
    reference::outcome const expected = reference::read(text, {});
    int const threads = round % 10 < 2 ? 3 : 1;
    std::size_t const chunk = 1 + uniform_below(engine, 300);
    try {
      dataset const data = parse(text, {}, threads, chunk);
      ASSERT_EQ(expected.bad_line, 0U) << text;
      expect_same(data, expected, text);
    } catch (error const& e) {
      ++faults;
      ASSERT_EQ(e.where().line, expected.bad_line) << e.what() << "\n" << text;
      EXPECT_EQ(message_of([&] { parse(text, {}, 1, 1 << 20); }), e.what());
    }
  }
  EXPECT_GT(faults, 300);
}

// Sizes.

TEST(svmlight, a_line_of_10_megabytes) {
  std::string text = "1 qid:1";
  std::uint32_t features = 0;
  while (text.size() < 10'000'000) text += fmt::format(" {}:0.25", ++features);
  text += " 2147483647:1\n0 qid:2 1:1\n";
  dataset const data = parse(text, {}, 2, 1 << 16);
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data.document(0).size(), features + 1U);
  EXPECT_EQ(data.entries[features].feature, 2147483647U);
  EXPECT_EQ(data.lines[0].size() + 1 + data.lines[1].size() + 1, text.size());
}

// The first lines suggest space for fewer entries than later lines have.
TEST(svmlight, lines_that_get_longer) {
  for (int const threads : {1, 2, 7}) {
    std::string text;
    std::size_t entries = 0;
    for (int d = 1; d <= 300; ++d) {
      text += "1 qid:1";
      for (int f = 1; f <= d; f += 7) text += fmt::format(" {}:{}", f, ++entries);
      text += '\n';
    }
    dataset const data = parse(text, {}, threads, 100);
    ASSERT_EQ(data.entries.size(), entries);
    for (std::size_t e = 0; e < entries; ++e)
      ASSERT_EQ(data.entries[e].value, static_cast<double>(e + 1));
  }
}

TEST(svmlight, a_document_a_query) {
  std::string text;
  for (int q = 0; q < 5000; ++q) text += fmt::format("1 qid:{} 1:1\n", q);
  dataset const data = parse(text, {}, 3, 1000);
  ASSERT_EQ(data.queries.size(), 5000U);
  for (std::size_t q = 0; q < 5000; ++q) EXPECT_EQ(data.queries[q].qid, std::to_string(q));
}

// The real collections, compared with the figures in their descriptions.

struct real_set {
  char const* folder;
  std::size_t queries;
  std::size_t features;
  std::map<std::int32_t, std::size_t> labels;
};

void check_real_set(std::string const& folder, real_set const& set, char const* stem) {
  std::size_t queries = 0;
  std::map<std::int32_t, std::size_t> labels;
  for (char const part : {'1', '2', '3', '4', '5'}) {
    std::string const path = folder + "/" + stem + part + ".txt";
    dataset const data = read_svmlight(context(), path);
    queries += data.queries.size();
    for (std::int32_t const label : data.labels) ++labels[label];
    EXPECT_EQ(listed_features(data).size(), set.features) << path;
    EXPECT_EQ(data.entries.size(), data.size() * set.features) << path;
    EXPECT_EQ(data.queries.back().end, data.size()) << path;
    EXPECT_FALSE(data.docid(0).find('-') == std::string::npos && set.queries == 784) << path;
  }
  EXPECT_EQ(queries, set.queries);
  EXPECT_EQ(labels, set.labels);
}

TEST(svmlight_real, mq2008) {
  RULERANK_REAL_DATA(folder, "letor/MQ2008");
  check_real_set(folder, {"MQ2008", 784, 46, {{0, 12279}, {1, 2001}, {2, 931}}}, "S");
}

TEST(svmlight_real, mq2008_aggregation) {
  RULERANK_REAL_DATA(folder, "letor/MQ2008-agg");
  check_real_set(folder, {"MQ2008-agg", 784, 25, {{0, 12279}, {1, 2001}, {2, 931}}}, "A");
}

TEST(svmlight_real, ohsumed) {
  RULERANK_REAL_DATA(folder, "letor/OHSUMED");
  check_real_set(folder, {"OHSUMED", 106, 45, {{0, 11303}, {1, 2585}, {2, 2252}}}, "S");
}

TEST(svmlight_real, ohsumed_letor2) {
  RULERANK_REAL_DATA(folder, "letor/OHSUMED-LETOR2");
  check_real_set(folder, {"OHSUMED-LETOR2", 106, 25, {{0, 11303}, {1, 2585}, {2, 2252}}}, "S");
}

TEST(svmlight_real, agrees_with_the_plain_reader) {
  RULERANK_REAL_DATA(folder, "letor");
  for (char const* name : {"/MQ2008/S1.txt", "/MQ2008-agg/A1.txt", "/OHSUMED/S1.txt",
                           "/OHSUMED-LETOR2/S1.txt", "/small/mslr-sample/train.txt"}) {
    dataset const data = read_svmlight(context(), folder + name);
    expect_same(data, reference::read(std::string(data.text->bytes()), {}), name);
  }
}

TEST(svmlight_real, lightgbm_groups) {
  RULERANK_REAL_DATA(folder, "letor/small/lightgbm-lambdarank");
  svmlight_options options;
  options.group_file = folder + "/rank.train.query";
  dataset const data = read_svmlight(context(), folder + "/rank.train", options);
  EXPECT_EQ(data.queries.size(), 201U);
  EXPECT_EQ(data.size(), 3005U);
  EXPECT_EQ(data.queries[1].size(), 13U);
}

}  // namespace
}  // namespace rulerank::datasets::svmlight_test
