#include "datasets/text/documents.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/testing.hpp"
#include "datasets/testing.hpp"

#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace rulerank::inline v0::datasets {

// Found by argument-dependent lookup, so in the namespace of the types.
bool operator==(text_field const& a, text_field const& b) {
  return a.name == b.name && a.text == b.text;
}
bool operator==(text_document const& a, text_document const& b) {
  auto const same = [](feature_value const& x, feature_value const& y) {
    return x.feature == y.feature && x.value == y.value;
  };
  return a.id == b.id && a.label == b.label && a.fields == b.fields &&
         std::equal(a.vector.begin(), a.vector.end(), b.vector.begin(), b.vector.end(), same);
}
void PrintTo(text_document const& d, std::ostream* out) {
  *out << d.id << '|' << d.label;
  for (auto const& [name, text] : d.fields) *out << '|' << name << '=' << text;
  for (auto const& [column, value] : d.vector) *out << '|' << column << ':' << value;
}

}  // namespace rulerank::datasets

namespace rulerank::inline v0::datasets::documents_test {

namespace {

using testing_tools::gzip;
using testing_tools::input_and_message;
using testing_tools::message_of;
using testing_tools::zstd;
using documents = std::vector<text_document>;

documents all(std::string const& path, text_format format = text_format::automatic,
              text_options const& options = {}) {
  documents result;
  read_documents(
      context{}, path, format, [&](text_document&& d) { result.push_back(std::move(d)); }, options);
  return result;
}

class text_files : public ::testing::Test {
 protected:
  std::string file(std::string_view text) {
    std::string const path = folder_ / "f";
    write_file(path, text);
    return path;
  }
  documents read(std::string_view text, text_format format = text_format::automatic,
                 text_options const& options = {}) {
    return all(file(text), format, options);
  }
  /// Returns the message about a file, without its path.
  std::string complaint(std::string_view text, text_format format = text_format::automatic,
                        text_options const& options = {}) {
    std::string const path = file(text);
    return testing_tools::complaint_of(path, [&] { all(path, format, options); });
  }
  testing_tools::temporary_folder folder_;
};

text_options const with_labels{.labels = true};
text_options const by_position{.number_by_position = true};

// tsv

TEST_F(text_files, tsv_is_an_id_a_tab_and_text) {
  documents const expected{
      {"a", "", {{"", "one two"}}}, {"b c", "", {{"", ""}}}, {"d", "", {{"", "with\ta tab "}}}};
  EXPECT_EQ(read("a\tone two\nb c\t\nd\twith\ta tab \n"), expected);
  EXPECT_EQ(read("a\tone two\r\nb c\t\r\n\r\nd\twith\ta tab "), expected);
  EXPECT_EQ(read("\xef\xbb\xbf\n\na\tone two\nb c\t\nd\twith\ta tab "), expected);
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a\tx"),
            (documents{{"a", "", {{"", "x"}}}}));
}

TEST_F(text_files, tsv_with_labels) {
  EXPECT_EQ(read("1\tship\tTugs.\n2\t\tNo label\tand a tab\n", text_format::tsv, with_labels),
            (documents{{"1", "ship", {{"", "Tugs."}}}, {"2", "", {{"", "No label\tand a tab"}}}}));
}

TEST_F(text_files, bytes_that_are_no_utf8_stay_as_they_are) {
  EXPECT_EQ(read("1\tcaf\xe9 \xff"), (documents{{"1", "", {{"", "caf\xe9 \xff"}}}}));
  std::string const zero("1\ta\0b\n", 6);
  EXPECT_EQ(read(zero)[0].fields[0].text, std::string("a\0b", 3));
}

TEST_F(text_files, archives_and_long_lines) {
  std::string text = "first\tx\n";
  std::string const line(10 << 20, 'y');
  text += "long\t" + line + "\n";
  for (int d = 0; d < 5000; ++d) text += fmt::format("{}\ttext of {}\n", d, d);
  documents const plain = read(text);
  ASSERT_EQ(plain.size(), 5002U);
  EXPECT_EQ(plain[1].fields[0].text, line);
  EXPECT_EQ(plain[5001], (text_document{"4999", "", {{"", "text of 4999"}}}));
  EXPECT_EQ(read(gzip(text)), plain);
  EXPECT_EQ(read(zstd(text)), plain);
}

TEST_F(text_files, documents_know_the_lines_of_their_ids) {
  auto const lines = [](documents const& given) {
    std::vector<std::uint64_t> found;
    for (text_document const& d : given) found.push_back(d.line);
    return found;
  };
  using expected = std::vector<std::uint64_t>;
  EXPECT_EQ(lines(read("a\tx\n\nb\ty\n")), (expected{1, 3}));
  EXPECT_EQ(lines(read("\n{\"id\": 1, \"text\": \"x\"}\n \n{\"id\": 2, \"text\": \"y\"}\n")),
            (expected{2, 4}));
  EXPECT_EQ(lines(read("\n.I 1\n.W\nx\ny\n.I 2\n.W\nz\n")), (expected{2, 6}));
  EXPECT_EQ(lines(read("<DOC>\n<DOCNO>1</DOCNO>\n</DOC>\n<DOC>\n\n<DOCNO>2</DOCNO>\n</DOC>\n")),
            (expected{2, 6}));
  EXPECT_EQ(lines(read("<top>\n<num> 1\n<title> x\n</top>\n<top>\n<num> 2\n<title> y\n</top>\n")),
            (expected{2, 6}));
  EXPECT_EQ(lines(read("1 1:2 # a\n\n0 2:1\n", text_format::svmlight)), (expected{1, 3}));
  EXPECT_EQ(lines(all(folder_.path().string(), text_format::folder)), (expected{0}));
}

TEST_F(text_files, lines_that_end_where_the_pieces_of_a_stream_end) {
  // The stream reads 256 KiB at a time.
  constexpr std::size_t piece = 1 << 18;
  for (std::size_t const size : {piece - 2, piece - 1, piece, piece + 1, 2 * piece}) {
    for (std::string const end : {"\n", "\r\n"}) {
      std::string const first = "a\t" + std::string(size - 2 - end.size(), 'x');
      documents const d = read(first + end + "b\ty" + end);
      ASSERT_EQ(d.size(), 2U) << size;
      EXPECT_EQ(d[0].fields[0].text, first.substr(2));
      EXPECT_EQ(d[1].fields[0].text, "y");
    }
  }
}

TEST_F(text_files, tsv_faults) {
  input_and_message const rows[] = {
      {"a\tx\nbcd\n", ":2:4: found no tab after \"bcd\", expected id<TAB>text"},
      {"a\tx\n\ty\n", ":2:1: found an empty id, expected id<TAB>text"},
      {"a\tx\nb\ty\n\na\tz\n",
       ":4:1: found id \"a\" again (first on line 1), expected each id once"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text); });
  EXPECT_EQ(complaint("a\tl\tx\na1\tbcd\n", text_format::tsv, with_labels),
            ":2:7: found no tab after \"bcd\", expected id<TAB>label<TAB>text");
  EXPECT_EQ(complaint("\t\tx\n", text_format::automatic, with_labels),
            ":1:1: found an empty id, expected id<TAB>label<TAB>text");
}

std::string utf16(std::u16string_view text, bool is_big_endian = false) {
  std::string bytes;
  for (char16_t const unit : text) {
    char const low = static_cast<char>(unit & 0xff), high = static_cast<char>(unit >> 8);
    bytes += is_big_endian ? high : low;
    bytes += is_big_endian ? low : high;
  }
  return bytes;
}

TEST_F(text_files, utf16_and_what_is_refused_by_name) {
  documents const expected{{"1", "", {{"", "caf\u00e9"}}}, {"2", "", {{"", "\U0001F600"}}}};
  std::u16string const text = u"\ufeff1\tcaf\u00e9\r\n2\t\U0001F600";
  EXPECT_EQ(read(utf16(text)), expected);
  EXPECT_EQ(read(utf16(text, true)), expected);
  EXPECT_EQ(complaint(utf16(text) + "x"),
            ":2:7: the UTF-16 text ends inside a character, expected the rest of the text");
  std::string const unpack = ", expected text, gzip or zstd; unpack it first";
  std::string const mark = ", expected UTF-8, or UTF-16 with its byte order mark";
  input_and_message const rows[] = {
      {"BZh91AY&SYxx", ":1:1: found bzip2" + unpack},
      {"\xfd"
       "7zXZ",
       ":1:1: found xz" + unpack},
      {"\x04\x22\x4d\x18xx", ":1:1: found lz4" + unpack},
      {"PK\x03\x04xx", ":1:1: found a zip archive" + unpack + ", or save a workbook as CSV"},
      {"\x1f\x9d\x90xx", ":1:1: found a file of compress (.Z)" + unpack},
      {"7z\xbc\xaf\x27\x1c", ":1:1: found a 7z archive" + unpack},
      {"Rar!\x1a\x07", ":1:1: found a RAR archive" + unpack},
      {"\xd0\xcf\x11\xe0xx",
       ":1:1: found a file of Microsoft Office, expected text; save a workbook as CSV"},
      {"%PDF-1.4\n", ":1:1: found a PDF file, expected text; pdftotext makes text of it"},
      {utf16(u"1\ta\n"), ":1:1: found UTF-16 without a byte order mark" + mark},
      {std::string("\xff\xfe\0\0", 4), ":1:1: found UTF-32" + mark},
  };
  expect_messages(rows, [&](std::string const& bytes) { return complaint(bytes); });
  EXPECT_EQ(read("BZh9 is no archive\tx\n").size(), 1U);
}

TEST_F(text_files, other_encodings) {
  documents const expected{{"1", "", {{"", "caf\u00e9 \u20ac"}}}, {"2", "", {{"", "th\u00e9"}}}};
  text_options of_windows;
  of_windows.encoding = "windows-1252";
  std::string const windows = "1\tcaf\xe9 \x80\r\n2\tth\xe9";
  EXPECT_EQ(read(windows, text_format::automatic, of_windows), expected);
  EXPECT_EQ(read(gzip(windows), text_format::automatic, of_windows), expected);
  std::string const mark = "\xef\xbb\xbf";
  EXPECT_EQ(read(mark + "1\tcaf\u00e9 \u20ac\n2\tth\u00e9", text_format::tsv, of_windows),
            expected);
  EXPECT_EQ(read(gzip(utf16(u"\ufeff1\tcaf\u00e9 \u20ac\n2\tth\u00e9"))), expected);
  EXPECT_EQ(read("a\t", text_format::tsv, of_windows), (documents{{"a", "", {{"", ""}}}}));
  std::filesystem::create_directories(folder_.path() / "latin");
  write_file(folder_ / "latin/x", "caf\xe9");
  EXPECT_EQ(all(folder_ / "latin", text_format::folder, of_windows),
            (documents{{"x", "", {{"", "caf\u00e9"}}}}));

  text_options japanese;
  japanese.encoding = "Shift_JIS";
  // A trail byte may be a backslash: \u8868 is 95 5C.
  EXPECT_EQ(read("{\"id\":1,\"text\":\"\x95\x5c\"}", text_format::automatic, japanese),
            (documents{{"1", "", {{"text", "\u8868"}}}}));
  EXPECT_EQ(complaint("1\t\x95\x5c\n2\ta\xff\n", text_format::automatic, japanese),
            ":2:4: found the byte FF, expected a character of Shift_JIS");
  EXPECT_EQ(complaint("1\ta\n2\t\x95\x5c\x95", text_format::automatic, japanese),
            ":2:6: the Shift_JIS text ends inside a character, expected the rest of the text");
  EXPECT_EQ(complaint("1\ta\n\x95\x5c\n", text_format::automatic, japanese),
            ":2:4: found no tab after \"\\xe8\\xa1\\xa8\", expected id<TAB>text");
  text_options strict;
  strict.encoding = "UTF-8";
  EXPECT_EQ(complaint("1\ta\n2\t\xe9\n", text_format::automatic, strict),
            ":2:3: found the byte E9, expected a character of UTF-8");
  text_options unknown;
  unknown.encoding = "latni1";
  EXPECT_THROW(read("1\ta", text_format::automatic, unknown), usage_error);
}

TEST_F(text_files, a_likely_encoding_is_named) {
  std::vector<std::string> warnings;
  text_options options;
  options.warn = [&](std::string const& message) { warnings.push_back(message); };
  std::string const russian =
      "\xf7\xd3\xd1\xcb\xc9\xca \xd4\xc5\xcb\xd3\xd4 \xce\xc1 \xd2\xd5\xd3\xd3\xcb\xcf\xcd "
      "\xd1\xda\xd9\xcb\xc5";
  read("1\tplain\n2\ta" + russian + "\n3\t" + russian + "\n", text_format::automatic, options);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(
      warnings.front().ends_with(":2:4: found the byte F7, which is not UTF-8; read such bytes as "
                                 "Latin-1, but the text is probably KOI8-R: --encoding KOI8-R"))
      << warnings.front();
  EXPECT_EQ(
      complaint("{\"id\":1,\"text\":\"" + russian + "\"}"),
      ":1:17: found the byte F7, expected UTF-8; the text is probably KOI8-R: --encoding KOI8-R");
  // A short Chinese text resembles many encodings.
  warnings.clear();
  read("1\t\xb1\xb1\xbe\xa9\xb4\xf3\xd1\xa7\n2\t\xc7\xe5\xbb\xaa\xb4\xf3\xd1\xa7\n",
       text_format::automatic, options);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings.front().find("but the text is perhaps "), std::string::npos)
      << warnings.front();
  EXPECT_NE(warnings.front().find("GB18030"), std::string::npos) << warnings.front();
  EXPECT_TRUE(warnings.front().ends_with(": --encoding NAME")) << warnings.front();
  // One bad byte within UTF-8.
  warnings.clear();
  read("1\t\xff\n2\t\u0442\u0435\u043a\u0441\u0442 \u0442\u0435\u043a\u0441\u0442\n",
       text_format::automatic, options);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings.front().ends_with("as Latin-1")) << warnings.front();
}

TEST_F(text_files, tables_of_columns_are_refused_by_name) {
  std::string const make = ", expected text; python3 -c \"import polars; polars.";
  input_and_message const rows[] = {
      {std::string("PAR1\x15\x04", 6),
       ":1:1: found a Parquet file" + make +
           "read_parquet('FILE').write_csv('FILE.csv')\" makes a CSV file of it"},
      {std::string("ARROW1\0\0", 8),
       ":1:1: found an Arrow file" + make +
           "read_ipc('FILE').write_csv('FILE.csv')\" makes a CSV file of it"},
      {std::string("\xff\xff\xff\xff\x10\0\0\0", 8),
       ":1:1: found an Arrow stream" + make +
           "read_ipc_stream('FILE').write_csv('FILE.csv')\" makes a CSV file of it"},
  };
  expect_messages(rows, [&](std::string const& bytes) { return complaint(bytes); });
  EXPECT_EQ(read("PAR1\tx\nARROW1\ty\n").size(), 2U);
}

TEST_F(text_files, binary_files_of_data_analysis_are_named) {
  input_and_message const rows[] = {
      {"\x89HDF\r\n\x1a\n", ":1:1: found an HDF5 file, expected text; pandas writes CSV"},
      {"SQLite format 3",
       ":1:1: found an SQLite database, expected text; sqlite3 -csv writes a table"},
      {"\x93NUMPY\1", ":1:1: found a NumPy array, expected text; numpy.savetxt writes text"},
      {std::string("X\n\0\0\0\3\0\4", 8),
       ":1:1: found a file of R's saveRDS, expected text; write.csv writes text"},
      {"RDX3\nX\n", ":1:1: found a file of R's save, expected text; write.csv writes text"},
      {"\x80\x05\x95\xa4\x04", ":1:1: found a pickle of Python, expected text; pandas writes CSV"},
  };
  expect_messages(rows, [&](std::string const& bytes) { return complaint(bytes); });
  EXPECT_EQ(read("SQLi\tx\nRDX3\ty\n").size(), 2U);
}

// jsonl

TEST_F(text_files, jsonl_is_an_object_a_line) {
  documents const d = read(
      "{\"text\": \"b\\u00e9\\n\", \"id\": \"x\", \"label\": \"l\", \"abstract\": \"a\"}\r\n"
      "\n  \n"
      " {\"id\": 12, \"label\": -3, \"year\": 1999, \"tags\": [\"t\"], \"title\": \"\"}\n"
      "{\"id\": 18446744073709551615, \"label\": null, \"body\": \"z\"}");
  EXPECT_EQ(d, (documents{{"x", "l", {{"text", "b\u00e9\n"}, {"abstract", "a"}}},
                          {"12", "-3", {{"title", ""}}},
                          {"18446744073709551615", "", {{"body", "z"}}}}));
  EXPECT_EQ(read("  {\"id\":1,\"text\":\"\"}").size(), 1U);
  EXPECT_EQ(read("{\"id\":1,\"n\":{\"id\":2,\"id\":3},\"m\":[{\"text\":\"a\"}],\"text\":\"b\"}"),
            (documents{{"1", "", {{"text", "b"}}}}));
  EXPECT_EQ(
      read("{\"id\":1,\"a\\\":\":\"\\\\\",\"b\":\"\\\",\\\"b\\\":{[\\\\\\\"\",\"c\":{\"d\":[]}}",
           text_format::automatic, {.text_fields = {"a\":", "b"}}),
      (documents{{"1", "", {{"a\":", "\\"}, {"b", "\",\"b\":{[\\\""}}}}));
  EXPECT_EQ(read(gzip("\xef\xbb\xbf{\"id\":1,\"text\":\"\"}")).size(), 1U);
}

TEST_F(text_files, a_zero_byte_is_no_json) {
  std::string const line("{\"id\":1,\"text\":\"b\"}\0\":{\"\n", 24);
  EXPECT_EQ(complaint(line), ":1:20: found a zero byte, expected a document in JSON");
}

TEST_F(text_files, jsonl_faults) {
  std::string const good = "{\"id\":1,\"text\":\"a\"}\n";
  std::string const again = " again, expected each member once";
  EXPECT_EQ(complaint(good + "{\"id\":2,\"text\":\"b\"\n").substr(0, 55),
            ":2:19: found malformed JSON, expected a document (synta");
  EXPECT_EQ(complaint(good + "{\"id\":2,\"text\":\"\xff\"}\n").substr(0, 43),
            ":2:17: found the byte FF, expected UTF-8; t");
  EXPECT_EQ(complaint(good + "{\"id\":2,\"n\":1e999,\"text\":\"\"}\n"),
            ":2:13: found 1e999, expected a number that a double holds");
  EXPECT_LT(complaint("{\"id\":\"" + std::string(1 << 20, 'x') + "\n").size(), 400U);
  input_and_message const rows[] = {
      {"{\n \"id\": 1,\n \"text\": \"a\"\n}\n",
       ":1:1: found an object that does not end on its line, expected one object on each line; jq "
       "-c . writes them so"},
      {good + "[1, 2]\n", ":2:1: found array, expected an object with id and text"},
      {good + "{\"text\":\"b\"}", ":2:1: found no id, expected an object with id and text"},
      {good + "{\"id\":2, \"label\":\"b\", \"n\":1}",
       ":2:1: found no text, expected an object with id and text"},
      {"{\"id\":1.5,\"text\":\"\"}", ":1:1: found 1.5 as id, expected a string or an integer"},
      {"{\"id\":1,\"label\":true,\"text\":\"\"}",
       ":1:1: found boolean as label, expected a string or an integer"},
      // Deep enough to overflow the stack of a recursive parser.
      {"{\"id\":" + std::string(80'000, '[') + std::string(80'000, ']') + ",\"text\":\"a\"}\n",
       ":1:506: found JSON of more than 500 nested levels, expected a document"},
      {"{\"id\":[[1]],\"text\":\"\"}", ":1:1: found array as id, expected a string or an integer"},
      {"{\"id\":\"\",\"text\":\"\"}", ":1:1: found an empty id, expected text or a number"},
      {good + "\n{\"id\":\"1\",\"text\":\"b\"}\n",
       ":3:1: found id \"1\" again (first on line 1), expected each id once"},
      {"{\"id\":2,\"\":1,\"\":\"b\"}\n", ":1:1: found the member \"\"" + again},
      {"{\"id\":2,\"a\\\\\":\"b\\\"\\\\\",\"a\\\\\":\"\"}\n",
       ":1:1: found the member \"a\\\\\"" + again},
      {good + "{\"id\":2,\"text\":\"b\",\"text\":\"c\"}\n",
       ":2:1: found the member \"text\"" + again},
      {"\n{\"id\":2,\"text\":\"b\",\"\\u0069d\":3}\n", ":2:1: found the member \"id\"" + again},
      {"{\"id\":2,\"n\":1,\"text\":\"b\",\"n\":{}}\n", ":1:1: found the member \"n\"" + again},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text); });
  EXPECT_EQ(complaint("a\tb\n", text_format::jsonl).substr(0, 47),
            ":1:1: found malformed JSON, expected a document");
}

// Members by their names

TEST_F(text_files, members_are_text_by_their_names) {
  auto const d = [](char const* id, std::vector<text_field> fields) {
    return documents{{id, "", std::move(fields)}};
  };
  std::pair<std::string, documents> const rows[] = {
      {R"({"docid": "1", "contents": "a", "url": "b"})", d("1", {{"contents", "a"}})},
      {R"({"query-id": 7, "Query": "a", "lang": "en"})", d("7", {{"Query", "a"}})},
      {R"({"pid": "p1", "docid": "d1", "passage": "a"})", d("p1", {{"passage", "a"}})},
      {R"({"id": 1, "topic": "sport", "body": "a"})", d("1", {{"body", "a"}})},
      {R"({"number": 1, "query": "a", "question": "b?"})", d("1", {{"query", "a"}})},
      {R"({"id": 1, "title": null, "text": "a"})", d("1", {{"text", "a"}})},
      {R"({"id": 1, "title": 1984})", d("1", {{"title", "1984"}})},
  };
  for (auto const& [line, expected] : rows) EXPECT_EQ(read(line), expected) << line;
  std::vector<std::string> warnings;
  text_options options;
  options.warn = [&](std::string const& w) { warnings.push_back(w); };
  std::string const two =
      "{\"id\":1,\"text\":\"a\",\"url\":\"b\"}\n{\"id\":2,\"text\":\"\",\"date\":\"c\",\"url\":"
      "\"\"}\n";
  EXPECT_EQ(read(two, text_format::automatic, options).size(), 2U);
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                (folder_ / "f") +
                ": left out the members url and date; --text-fields sets the members to read"}));
  warnings.clear();
  read(
      "{\"id\":1,\"text\":\"a\",\"turn\":[{\"raw\":\"b\"}],\"authors\":[\"c\"],\"years\":[1],"
      "\"tags\":[],"
      "\"topic\":[\"d\"],\"meta\":{\"a\":[\"\"]}}\n",
      text_format::automatic, options);
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                (folder_ / "f") +
                ": left out the members turn and authors; --text-fields sets the members to read"}))
      << "lists and objects";
  options.text_fields = {"url", "none"};
  options.id_field = "text";
  warnings.clear();
  EXPECT_EQ(complaint(two, text_format::automatic, options),
            ":2:1: found an empty id, expected text or a number");
  options.id_field.clear();
  options.text_fields = {"url", "none"};
  EXPECT_EQ(read(two, text_format::automatic, options)[0].fields[0].text, "b");
  EXPECT_EQ(warnings.back(), (folder_ / "f") + ": found no member none of --text-fields");
  input_and_message const faults[] = {
      {R"({"id": 1, "text": ["a"]})", ":1:1: found array as text, expected a string"},
      {R"({"id": 1, "note": "a"})",
       ":1:1: found note, but no text; expected text, contents, title or query, or other names in "
       "--text-fields"},
      {R"({"id": 1, "query": "a", "text": "b"})",
       ":1:1: found the members query and text, expected the text of a query or of a document; "
       "--text-fields query reads one of them"},
      {R"({"id": 1, "qid": 2, "query": "a"})",
       ":1:1: found id and qid with different ids, expected one of them; --id-field sets which"},
  };
  expect_messages(faults, [&](std::string const& text) { return complaint(text); });
}

TEST_F(text_files, json_arrays) {
  std::string const text =
      "[\n {\"qid\": \"1\", \"query\": \"a ] \\\" }\"},\n {\"qid\": 2,\n  \"query\": \"b\", \"n\": "
      "[{}]}]\n";
  documents const d = read(text);
  EXPECT_EQ(d, (documents{{"1", "", {{"query", "a ] \" }"}}}, {"2", "", {{"query", "b"}}}}));
  EXPECT_EQ(d[1].line, 3U);
  input_and_message const faults[] = {
      {"[]", ":1:1: found no documents, expected at least one"},
      {"[{\"id\": 1, \"text\": \"\"}\n", ":1:1: the file ends inside the array, expected ]"},
      {"[{\"id\": 1, \"text\": \"\"} {",
       ":1:1: found '{' in an array of documents, expected a comma or ]"},
      {"[\n{\"id\": 1}]", ":2:1: found no text, expected an object with id and text"},
  };
  expect_messages(faults, [&](std::string const& text) { return complaint(text); });
}

TEST_F(text_files, tables_have_a_header) {
  documents const expected{{"1", "", {{"text", "a \"b\", c"}, {"title", "T"}}},
                           {"2", "", {{"text", "d"}, {"title", ""}}}};
  EXPECT_EQ(read("id\ttext\ttitle\n1\t\"a \"\"b\"\", c\"\tT\n2\td\t\n"), expected);
  EXPECT_EQ(read("docid,text,title\r\n1,\"a \"\"b\"\", c\",T\r\n2,d,\r\n"), expected);
  EXPECT_EQ(read("id,title,text\n1,x,\"a\nb\"\n2,y,c\n", text_format::table)[0].fields[1].text,
            "a\nb");
  EXPECT_EQ(read("id\ttext\n1\t5\" pipe\n2\t\"so\" he said\n")[1].fields[0].text, "\"so\" he said");
  EXPECT_EQ(read("1\ttext title\n2\tid\n").size(), 2U) << "no header";
  std::string warning;
  text_options warned;
  warned.warn = [&](std::string const& what) { warning = what; };
  read("id,,text\n1,a,b\n", text_format::automatic, warned);
  EXPECT_NE(warning.find(": left out the member column 2; --text-fields"), std::string::npos);
  read("{\"id\":1,\"\":\"a\",\"text\":\"b\"}\n", text_format::automatic, warned);
  EXPECT_NE(warning.find(": left out the member \"\"; --text-fields"), std::string::npos);
  text_options shop;
  shop.id_field = "sku";
  EXPECT_EQ(read("sku,title\n1,a\n", text_format::automatic, shop)[0].id, "1");
  shop.text_fields = {"name", "description"};
  documents const shoes{{"7", "", {{"name", "shoe"}, {"description", "red"}}}};
  EXPECT_EQ(read("sku,name,price,description\n7,shoe,9,red\n", text_format::automatic, shop),
            shoes);
  // WANDS' product.csv and query.csv.
  EXPECT_EQ(
      read("product_id\tproduct_name\tproduct_class\tproduct_description\treview_count\n"
           "0\tsolid \"wood\" bed\tBeds\tgood\t15\n"),
      (documents{
          {"0", "", {{"product_name", "solid \"wood\" bed"}, {"product_description", "good"}}}}));
  EXPECT_EQ(read("query_id\tquery\tquery_class\n3\tsalon chair\tChairs\n"),
            (documents{{"3", "", {{"query", "salon chair"}}}}));
  EXPECT_EQ(read(R"({"id": 1, "product_id": 2, "text": "a"})")[0].id, "1");
  EXPECT_EQ(complaint("id,name\n7,shoe\n", text_format::table, shop),
            ":1:1: found no header with sku and name, description, expected one such as id,text; "
            "--id-field and --text-fields set other columns");
  input_and_message const faults[] = {
      {"id,text\n1,a\n2,b,c\n", ":3:1: found 3 cells, expected 2 as in the header"},
      {"id,text\n", ":1:1: found a header alone, expected documents below the header"},
      {"id,text,text\n1,a,b\n", ":1:1: found the column \"text\" again, expected each column once"},
      {"id,text\n1,a\n1,b\n",
       ":3:1: found id \"1\" again (first on line 2), expected each id once"},
  };
  expect_messages(faults, [&](std::string const& text) { return complaint(text); });
}

TEST_F(text_files, a_header_of_other_names_is_no_document) {
  EXPECT_EQ(complaint("url,content\n1,a\n"),
            ":1:12: found no tab after \"url,content\", expected id<TAB>text; --id-field and "
            "--text-fields read a table with a header");
  for (std::string const header :
       {"doc\tcontent", "sentence\tlabel", "asin\tdesc", "topic\tdescription", "Product_ID\tName",
        "id\tlabel\tsentence", "ID\tBeschreibung", "\"Id\"\tTexte", "qid\tfrage",
        "docid\tBeschreibung", "_id\tinhoud", "num\tTexte", "#\ttexto", "# docno\ttexto",
        "url\ttitle", "asin\treviewText"})
    EXPECT_EQ(complaint(header + "\n1\ta\n"),
              ":1:1: found the header " + rulerank::quoted(header) +
                  ", expected id<TAB>text; remove it, or name its columns with --id-field and "
                  "--text-fields");
  for (std::string const id : {"idea", "#1", "number", "item", "url"})
    EXPECT_EQ(read(id + "\tred wing\n1\ta\n").size(), 2U) << id;
  text_options named;
  named.id_field = "ID";
  named.text_fields = {"Beschreibung"};
  EXPECT_EQ(read("ID\tBeschreibung\n1\ta\n", text_format::automatic, named),
            (documents{{"1", "", {{"Beschreibung", "a"}}}}));
  EXPECT_EQ(read("doc\tcontent of it\n1\ta\n").size(), 2U);
  EXPECT_EQ(read("d1\ta\ndoc\tcontent\nid\ta\n").size(), 3U) << "the first line alone is a header";
  for (std::string const mark : {"#", "# "})
    EXPECT_EQ(read(mark + "id\ttext\n1\ta\n"), (documents{{"1", "", {{"text", "a"}}}})) << mark;
  EXPECT_EQ(read("sep=;\r\nid;text\r\n1;a\r\n"), (documents{{"1", "", {{"text", "a"}}}}))
      << "Excel";
  for (std::string const header : {"number,query", "topic,query", "topic_no;query", "num\tquery"})
    EXPECT_EQ(read(header + "\n1" +
                   (header.find(',') != header.npos   ? ","
                    : header.find(';') != header.npos ? ";"
                                                      : "\t") +
                   "red\n"),
              (documents{{"1", "", {{"query", "red"}}}}))
        << header;
  for (std::string const id : {"red wing", "\"1\""}) {
    std::string said;
    text_options options;
    options.warn = [&](std::string const& what) { said += what.substr((folder_ / "f").size()); };
    documents const found =
        read("2\tblue\n" + id + "\t1\n" + id + "s\tx y\n", text_format::automatic, options);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[1].id, id == "\"1\"" ? "1" : id);
    EXPECT_EQ(said, id == "\"1\""
                        ? ":2: left out the quotes of the id 1"
                        : ":2: the id \"red wing\" has a blank; expected id<TAB>text, or a "
                          "table with a header");
  }
}

// cranfield

TEST_F(text_files, cranfield_is_sections) {
  std::string const text =
      ".I 1\n.T\na title\nin two lines .\n.A\nan author\n.B\n.W\n .5 of\n\n.Xy is text\n"
      ".I 007 \n.W \n.K\nkey\n.W\nmore\n.I 3\n";
  documents const expected{{"1",
                            "",
                            {{"title", "a title\nin two lines ."},
                             {"author", "an author"},
                             {"bibliography", ""},
                             {"text", " .5 of\n\n.Xy is text"}}},
                           {"007", "", {{"text", ""}, {"K", "key"}, {"text", "more"}}},
                           {"3", "", {}}};
  EXPECT_EQ(read(text), expected);
  std::string crlf = "\xef\xbb\xbf\r\n";
  for (char const c : text.substr(0, text.size() - 1)) crlf += c == '\n' ? "\r\n" : std::string{c};
  EXPECT_EQ(read(crlf), expected);
  EXPECT_EQ(read(zstd(crlf), text_format::cranfield), expected);
  documents const numbered = read(".I 9\n.W\nx\n.I 9\n.W\n\n", text_format::automatic, by_position);
  EXPECT_EQ(numbered, (documents{{"1", "", {{"text", "x"}}}, {"2", "", {{"text", ""}}}}));
}

TEST_F(text_files, cranfield_faults) {
  EXPECT_EQ(complaint(".T\nx\n"),
            ":1:1: found \".T\" before the first document, expected .I and a number");
  EXPECT_EQ(complaint("\nx\n.I 1\n", text_format::cranfield),
            ":2:1: found \"x\" before the first document, expected .I and a number");
  input_and_message const rows[] = {
      {".I 1\n.W\nx\n.I\n", ":4:3: found nothing after .I, expected a number"},
      {".I  \n", ":1:5: found nothing after .I, expected a number"},
      {".I  1 a\n", ":1:5: found \"1 a\" after .I, expected a number"},
      {".I 1\n \nx\n", ":3:1: found \"x\" right after .I, expected a section such as .T or .W"},
      {".I 1\n.W\nx\n.I 2\n.I\t1\n",
       ":5:4: found id \"1\" again (first on line 1), expected each id once"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text); });
}

// Cross-references, notes on the entry and categories are no text of the document.
TEST_F(text_files, cranfield_sections_that_are_no_text) {
  documents const expected{{"1", "", {{"title", "a title"}, {"text", "words"}, {"K", "key"}}},
                           {"2", "", {}}};
  EXPECT_EQ(read(".I 1\n.X\n1\t5\t1\n.T\na title\n.W\nwords\n.N\nCA581203 JB\n.C\n3.24\n.K\nkey\n"
                 ".X\n1\t5\t1\n\n92\t1\t1\n.I 2\n.X\n4\t5\t2\n"),
            expected);
}

// BEIR's form

TEST_F(text_files, jsonl_with_the_ids_of_beir) {
  EXPECT_EQ(
      read("{\"_id\": \"MED-10\", \"title\": \"Statins\", \"text\": \"a study\", "
           "\"metadata\": {\"url\": \"http\"}}\n{\"_id\": 7, \"text\": \"q\", \"metadata\": {}}\n"),
      (documents{{"MED-10", "", {{"title", "Statins"}, {"text", "a study"}}},
                 {"7", "", {{"text", "q"}}}}));
  EXPECT_EQ(complaint("{\"_id\": 1, \"text\": \"\"}\n{\"_id\": 1, \"text\": \"\"}\n"),
            ":2:1: found id \"1\" again (first on line 1), expected each id once");
  EXPECT_EQ(
      complaint("{\"_id\": 1, \"id\": 2, \"text\": \"\"}\n"),
      ":1:1: found _id and id with different ids, expected one of them; --id-field sets which");
}

TEST_F(text_files, a_folder_of_beir_is_no_folder_of_documents) {
  std::filesystem::create_directories(folder_.path() / "beir/qrels");
  write_file(folder_ / "beir/queries.jsonl", "{\"_id\": 1, \"text\": \"red\"}\n");
  write_file(folder_ / "beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\t1\t1\n");
  EXPECT_EQ(all(folder_ / "beir").size(), 2U);
  for (char const* const corpus : {"beir/corpus.jsonl.gz", "beir/corpus.jsonl"}) {
    write_file(folder_ / corpus, "{\"_id\": 1, \"text\": \"red blue\"}\n");
    EXPECT_EQ(message_of([&] { all(folder_ / "beir"); }),
              (folder_ / "beir") + ": found a folder in BEIR's form, expected one of its files: " +
                  (folder_ / corpus) + " for its documents, or queries.jsonl");
  }
  EXPECT_EQ(all(folder_ / "beir/corpus.jsonl"), (documents{{"1", "", {{"text", "red blue"}}}}));
  EXPECT_EQ(all(folder_ / "beir", text_format::folder).size(), 4U);
}

// trec

TEST_F(text_files, trec_documents_are_sections_of_a_doc) {
  std::string const text =
      "<DOC>\n<DOCNO> A-1 </DOCNO>\n<DATE> 1 May </DATE>\n<HEADLINE>\n<P>\nA head\n</P>\n"
      "</HEADLINE>\n<TEXT>\nIf a < b &amp; c&hyph;d<P>then<!-- a <b> note -->x &#233; &x</TEXT>\n"
      "<BYLINE>Nobody</BYLINE>\n<TEXT>more</TEXT>\n</DOC>\n\n"
      "<doc><docno>A-2</docno><hl>H</hl><lp>L</lp></doc>\n"
      "<DOC>\n<DOCNO>W-3</DOCNO>\n<DOCHDR>\nhttp://a\n</DOCHDR>\n<html><head><title>T</title>"
      "<style>p {}</style></head><body><a\nhref=b>link</a> one</body></html>\n</DOC>\n"
      "<DOC><DOCNO>E-4</DOCNO></DOC>\n";
  documents const d = read(text);
  ASSERT_EQ(d.size(), 4U);
  auto const words = [](std::string const& of) {  // separated by single spaces
    std::string all;
    for (char const c : of)
      if (c != ' ' && c != '\n')
        all += c;
      else if (!all.empty() && all.back() != ' ')
        all += ' ';
    while (all.ends_with(' ')) all.pop_back();
    return all;
  };
  EXPECT_EQ(d[0].id, "A-1");
  ASSERT_EQ(d[0].fields.size(), 3U);
  EXPECT_EQ(d[0].fields[0].name, "title");
  EXPECT_EQ(words(d[0].fields[0].text), "A head");
  EXPECT_EQ(d[0].fields[1].name, "text");
  EXPECT_EQ(words(d[0].fields[1].text), "If a < b & c d then x \xc3\xa9 &x");
  EXPECT_EQ(words(d[0].fields[2].text), "more");
  EXPECT_EQ(d[1].id, "A-2");
  EXPECT_EQ(words(d[1].fields[0].text), "H");
  EXPECT_EQ(words(d[1].fields[1].text), "L");
  ASSERT_EQ(d[2].fields.size(), 2U);
  EXPECT_EQ(words(d[2].fields[0].text), "T");
  EXPECT_EQ(words(d[2].fields[1].text), "link one");
  EXPECT_EQ(words(d[3].fields[0].text), "");
  EXPECT_EQ(read(gzip("<?xml version=\"1.0\"?>\n<docs>\n" + text + "</docs>\n"), text_format::trec),
            d);
  std::string crlf;
  for (char const c : text) crlf += c == '\n' ? "\r\n" : std::string{c};
  EXPECT_EQ(read("\xef\xbb\xbf" + crlf), d);
}

TEST_F(text_files, trec_text_in_character_data_and_behind_marks) {
  std::vector<std::string> warnings;
  text_options options;
  options.warn = [&](std::string const& what) { warnings.push_back(what); };
  auto const text_of = [&](std::string const& text) {
    return read("<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>" + text + "</TEXT>\n</DOC>\n",
                text_format::automatic, options)[0]
        .fields[0]
        .text;
  };
  EXPECT_EQ(text_of("a <![CDATA[b <c> & d &amp;]]> e"), "a b <c> & d &amp; e ");
  EXPECT_EQ(text_of("alpha <!beta gamma> delta"), "alpha <!beta gamma> delta ");
  EXPECT_EQ(text_of("a<!DOCTYPE html>b<![if x]>c"), "a b c ");
  EXPECT_EQ(read("<topics><topic number='1'><title>x <![CDATA[obama]]> <!-- y -->tree</title>"
                 "<desc>d</desc></topic></topics>"),
            (documents{{"1", "", {{"title", "x obama  tree"}}}}));
  EXPECT_TRUE(warnings.empty());
  for (auto const& [begin, end] : {std::pair("<!--", "-->"), std::pair("<STYLE>", "</STYLE>"),
                                   std::pair("<SCRIPT>", "</SCRIPT>")}) {
    EXPECT_EQ(text_of("a\n" + std::string(begin) + " b"), "a\n ");
    ASSERT_EQ(warnings.size(), 1U);
    std::string const last = std::exchange(warnings, {})[0];
    EXPECT_EQ(
        last.substr(last.find(":4: ")),
        fmt::format(":4: found {} without its end, expected {}; left out the rest of the document",
                    begin, end));
  }
}

TEST_F(text_files, trec_text_of_tags_that_do_not_end) {
  std::string open;
  for (int i = 0; i < 300'000; ++i) open += "<a ";
  documents const d =
      read("<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>" + open + "\n<!-- " + open + "\n</DOC>\n");
  ASSERT_EQ(d.size(), 1U);
  EXPECT_EQ(d[0].fields[0].text, open + "\n ");
}

TEST_F(text_files, trec_documents_in_the_files_of_a_folder) {
  std::filesystem::create_directories(folder_.path() / "disk/b");
  write_file(folder_ / "disk/b/2", "<DOC><DOCNO>x</DOCNO><TEXT>two</TEXT></DOC>\n");
  write_file(folder_ / "disk/1",
             gzip("<DOC><DOCNO>y</DOCNO></DOC>\n<DOC><DOCNO>z</DOCNO></DOC>\n"));
  write_file(folder_ / "disk/0", "");
  documents const d = all(folder_ / "disk", text_format::trec);
  ASSERT_EQ(d.size(), 3U);
  EXPECT_EQ(d[0].id, "y");
  EXPECT_EQ(d[1].line, 0U) << "its file is not known";
  EXPECT_EQ(d[2].id, "x");
  // A folder that begins like TREC needs no named format; other folders have one document per file.
  EXPECT_EQ(all(folder_ / "disk"), d);
  EXPECT_EQ(all(folder_ / "disk", text_format::folder).size(), 3U);
  std::string const again = folder_ / "disk/c";
  write_file(again, "\n<DOC>\n<DOCNO>z</DOCNO>\n</DOC>\n");
  EXPECT_EQ(testing_tools::complaint_of(again, [&] { all(folder_ / "disk", text_format::trec); }),
            ":3:1: found id \"z\" again (first on " + std::string(folder_ / "disk/1") +
                ", line 2), expected each id once");
  std::filesystem::create_directory(folder_.path() / "none");
  write_file(folder_ / "none/f", "<?xml?>\n");
  EXPECT_EQ(testing_tools::complaint_of(folder_ / "none",
                                        [&] { all(folder_ / "none", text_format::trec); }),
            ": found no documents in the folder, expected at least one");
}

TEST_F(text_files, trec_topics_are_their_titles) {
  documents const expected{{"51", "", {{"title", "Airbus Subsidies"}}},
                           {"301", "", {{"title", "International Organized Crime"}}},
                           {"202", "", {{"description", "Status of treaties\nin force"}}},
                           {"MB01", "", {{"title", "a & b"}}}};
  EXPECT_EQ(
      read("<top>\n<head> Tipster Topic Description\n<num> Number:  051\n<dom> Domain: Economics\n"
           "<title> Topic:  Airbus Subsidies\n\n<desc> Description:\nA document\n</top>\n\n"
           "<top>\n\n<num> Number: 301\n<title> International Organized Crime\n\n"
           "<desc> Description:\nWho?\n\n<narr> Narrative:\nSome.\n\n</top>\n"
           "<top><num> Number: 202\n<desc> Description:\nStatus of treaties\nin force\n"
           "<narr> Narrative: No.</top>\n"
           "<TOP>\n<NUM>MB01</NUM>\n<TITLE>a &amp; b</TITLE>\n</TOP>\n"),
      expected);
}

// A topic in the formats of TREC's XML, CLEF, FIRE, microblogs, INEX and Indri.
TEST_F(text_files, topics_of_the_field) {
  auto const topic = [](char const* id, char const* name, char const* text) {
    return documents{{id, "", {{name, text}}}};
  };
  std::pair<std::string, documents> const rows[] = {
      {"<?xml version=\"1.0\"?>\n<!-- a\n<top> -->\n<web>\n<topic number=\"101\" "
       "type='x'>\n<query>a b</query>\n"
       "<description>d</description><subtopic number=\"1\">s</subtopic></topic></web>\n",
       topic("101", "query", "a b")},
      {"<!DOCTYPE topics [\n<!ELEMENT topic (a)>\n]>\n<topics><topic "
       "number=\"007\"><title>a</title></topic></topics>",
       topic("007", "title", "a")},
      {"<top lang=\"fr\"><num>C041</num>\n<FR-title>a</FR-title>\n<FR-desc>b</FR-desc></top>",
       topic("C041", "title", "a")},
      {"<topic lang=\"es\"><identifier>10.2452/41-AH</identifier><title>a</title></topic>",
       topic("10.2452/41-AH", "title", "a")},
      {"<top>\n<num> Number: MB01 </num>\n<query> a </query>\n<querytime> now </querytime>\n</top>",
       topic("MB01", "query", "a")},
      {"<inex_topic topic_id=\"9\"\n ct_no=\"1\">\n<title>a</title></inex_topic>",
       topic("9", "title", "a")},
      {"<parameters>\n<query><number>5</number><text>a b</text></query>\n</parameters>",
       topic("5", "title", "a b")},
      {"<topics>\n<topic number=\"1\">A woman of 45.</topic></topics>",
       topic("1", "text", "A woman of 45.")},
      {"<topic number=1 type=adhoc><title>red <b>hat</b></title></topic>",
       topic("1", "title", "red  hat")},
      {"<top><num>1</num><title>red <i>hat <entity id=\"4\">shop</entity></i> now</title></top>",
       topic("1", "title", "red  hat  shop   now")},
      {"<top><num> Number: 1 <title> red <em>hat</em>\n<desc> Description: blue</top>",
       topic("1", "title", "red  hat")},
      {"<top><num>1</num><text>long</text><title>red</title></top>", topic("1", "title", "red")},
      {"<topic number=\"1\"><!-- <topic> --><title><![CDATA[<topic>]]></title></topic>",
       topic("1", "title", "<topic>")},
      {"<TOPIC q=0101>\n<TITLE>\na\n</TITLE>\n<DESCRIPTION>\nb\n</DESCRIPTION>\n<NARRATIVE>\nc\n"
       "</NARRATIVE>\n</TOPIC>",
       topic("0101", "title", "a")},
      {"<TOPIC>\n<NUM>C10</NUM>\n<SLANG>CH</SLANG>\n<TLANG>EN</TLANG>\n<TITLE CASE=\"b\">a, "
       "b</TITLE>\n<DESC><![CDATA[c & "
       "<d>]]></DESC>\n<NARR>\n<BACK>e</BACK>\n<REL>f</REL>\n</NARR>\n"
       "<CONC>g</CONC>\n</TOPIC>",
       topic("C10", "title", "a, b")},
      {"<queries>\n<query>\n<qid>W1</qid>\n<content>a b</content>\n<description>c</description>\n"
       "</query>\n</queries>",
       topic("W1", "content", "a b")},
  };
  for (auto const& [text, expected] : rows) EXPECT_EQ(read(text), expected) << text;
  EXPECT_EQ(read("<dbpedia:Berlin>\tcapital\n")[0].id, "<dbpedia:Berlin>");
}

TEST_F(text_files, topics_that_are_refused) {
  input_and_message const faults[] = {
      {"<parameters><index>x</index>\n</parameters>",
       ":1:1: found \"x</index>\" between documents, expected <DOC> or <top>"},
      {"<topic number=\"1\"><narr>a</narr></topic>",
       ":1:1: found a topic without text, expected <title>, <query> or <desc>"},
      {"<query><number>5</number><text>#combine(a b)</text></query>",
       ":1:1: found \"#combine\" in a topic, expected words without operators"},
      {"<top><num>1</num><EN-title>a</EN-title>\n<FR-title>b</FR-title></top>",
       ":2:1: found <FR-TITLE> and <EN-TITLE>, expected a title in one language"},
      {"<!-- a\n", ":1:1: found \"<!-- a\\x0a\" without its end, expected -->"},
      {"<top>\n<num> Number: 1\n<title> red\n<top>\n<num> Number: 2\n<title> blue\n</top>\n",
       ":4:1: found <TOP> within the <TOP> of line 1, expected </TOP> first"},
      {"<topics>\n<topic number=\"1\"><query>red</query>\n  <topic "
       "number=\"2\"><query>blue</query></topic>",
       ":3:3: found <TOPIC> within the <TOPIC> of line 2, expected </TOPIC> first"},
      {"<parameters> <query><number>5</number><text>a</text> "
       "<query><number>6</number><text>b</text></query>",
       ":1:54: found <QUERY> within the <QUERY> of line 1, expected </QUERY> first"},
      {"<topic number=1 type=ad hoc>\n<title>red</title></topic>\n",
       ":1:1: found \"<topic number=1 type=ad hoc>\", expected a tag such as <DOC> or <topic "
       "number=\"1\">"},
      {"<top><num>1</num><title>red</title><title>hat</title></top>",
       ":1:36: found <TITLE> again (first on line 1), expected it once in a topic"},
      {"<topic number=\"1\">\n<title lang=\"en\">a</title>\n<title lang=\"fr\">b</title></topic>",
       ":3:1: found <TITLE> again (first on line 2), expected it once in a topic"},
      {"<top><num>1</num>\n<id>2</id>\n<title>hat</title></top>",
       ":2:1: found <ID> again (first on line 1), expected it once in a topic"},
      {"<top><num>1</num><title>red</title> hat <desc>blue</desc></top>",
       ":1:41: found \"hat\" after </TITLE>, expected it before, or in a section such as <desc>"},
      {"<top><num>1</num><title>red <desc>blue</desc></title></top>",
       ":1:29: found <DESC> within <TITLE>, expected </TITLE> first"},
  };
  expect_messages(faults, [&](std::string const& text) { return complaint(text); });
}

TEST_F(text_files, markup_in_trec_text) {
  std::pair<std::string, std::string> const rows[] = {
      {"if x<y then sorted lists merge", "if x<y then sorted lists merge"},
      {"x<y and z>0", "x<y and z>0"},
      {"a<b<c>d", "a<b d"},
      {"<F P=105> a </F>", "  a  "},
      {"mail <a@b.org> and <http://c.org/d>", "mail <a@b.org> and <http://c.org/d>"},
      {"<td nowrap>a</td><br/>b", " a  b"},
      {"caf&#xE9; fran&ccedil;ais &Eacute;t&eacute; &#146; &#233;",
       "caf\u00e9 fran\u00e7ais \u00c9t\u00e9 \u2019 \u00e9"},
      {"&scaron;&Omega;&mdash;&AMP;&apos;&nothing;&#0;", "\u0161\u03a9\u2014&'  "},
      {"AT&T & x &; &#xZZ;", "AT&T & x &;  "},
  };
  for (auto const& [text, expected] : rows)
    EXPECT_EQ(read("<DOC><DOCNO>1</DOCNO><TEXT>" + text + "</TEXT></DOC>")[0].fields[0].text,
              expected + ' ');
  documents const d =
      read("<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>\nx<y z\n</TEXT>\n<HEADLINE>late</HEADLINE>\n</DOC>\n");
  ASSERT_EQ(d[0].fields.size(), 2U);
  EXPECT_EQ(d[0].fields[1].text, "late ");
  EXPECT_EQ(read("<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>a <doc> tag</TEXT>\n</DOC>\n")[0].fields[0].text,
            "a   tag ");
  EXPECT_EQ(read("<doc id=\"12\" url=\"u\">\nA title\n</doc>\n")[0].id, "12");
}

TEST_F(text_files, trec_faults) {
  std::string const good = "<DOC>\n<DOCNO>1</DOCNO>\n</DOC>\n";
  EXPECT_EQ(complaint("a\tb\n", text_format::trec),
            ":1:1: found \"a\\x09b\" between documents, expected <DOC> or <top>");
  EXPECT_EQ(complaint("<?xml?>\n", text_format::trec),
            ":1:1: found no documents, expected at least one");
  input_and_message const rows[] = {
      {good + "words\n", ":4:1: found \"words\" between documents, expected <DOC> or <top>"},
      {good + "<DOC>\n<DOCNO>2</DOCNO>\n", ":4:1: found a <DOC> without its end, expected </DOC>"},
      {good + "<DOC>\n<TEXT>2</TEXT>\n</DOC>\n",
       ":4:1: found a document without <DOCNO>, expected its id in <DOCNO>"},
      {good + "<DOC>\n\n<DOCNO> </DOCNO>\n</DOC>\n",
       ":6:1: found an empty <DOCNO>, expected the document's id"},
      {good + "<DOC>\n<DOCNO>1</DOCNO>\n</DOC>\n",
       ":5:1: found id \"1\" again (first on line 2), expected each id once"},
      {good + "<DOC><DOCNO>2</DOCNO></DOC> <DOC>\n",
       ":4:1: found a <DOC> without its end, expected </DOC>"},
      {good + "<DOC><DOCNO>2</DOCNO></DOC> words\n",
       ":4:1: found \"words\" between documents, expected <DOC> or <top>"},
      {good + "<DOC id=\"2\">red\n <DOC id=\"3\">blue</DOC>\n",
       ":5:2: found <DOC> within the <DOC> of line 4, expected </DOC> first"},
      {good + "<DOC>\n<DOCNO>2</DOCNO>\n <DOC>\n<DOCNO>3</DOCNO>\n</DOC>\n",
       ":6:2: found <DOC> within the <DOC> of line 4, expected </DOC> first"},
      {good + "<DOC>\n<DOCNO>2</DOCNO>\n<DOCNO>3</DOCNO>\n</DOC>\n",
       ":6:1: found <DOCNO> again, expected it once in a document"},
      {good + "<DOC id=\"2\"\nred\n</DOC>\n",
       ":4:1: found \"<DOC id=\\\"2\\\"\", expected a tag such as <DOC> or <topic number=\"1\">"},
      {"<top>\n<title> x\n</top>\n",
       ":1:1: found a topic without <num>, expected its number in <num>"},
      {"<top>\n<num> Number:\n<title> x\n</top>\n",
       ":2:1: found an empty <num>, expected the topic's number"},
      {"<top>\n<num> Number: 7\n<title>\n<narr> x\n</top>\n",
       ":1:1: found a topic without text, expected <title>, <query> or <desc>"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text); });
  text_options column;
  column.ids = id_form::run_column;
  EXPECT_EQ(complaint("<DOC>\n<DOCNO>a b</DOCNO>\n</DOC>\n", text_format::automatic, column),
            ":2:1: found the id \"a b\", expected one word");
}

TEST_F(text_files, trec_elements_that_are_requested) {
  text_options options;
  auto const with = [&](std::vector<std::string> names) -> text_options const& {
    options.text_fields = std::move(names);
    return options;
  };
  std::string const topics =
      "<top><num>1</num><title>red</title><desc> Description: blue</desc><narr>x y</narr></top>\n"
      "<top>\n<num> 2\n<title> ant\n<desc> bee\n<narr> Narrative: cat\n</top>\n";
  EXPECT_EQ(read(topics, text_format::automatic, with({"description"})),
            (documents{{"1", "", {{"description", "blue"}}}, {"2", "", {{"description", "bee"}}}}));
  EXPECT_EQ(read(topics, text_format::automatic, with({"Narrative", "title"})),
            (documents{{"1", "", {{"Narrative", "x y"}, {"title", "red"}}},
                       {"2", "", {{"Narrative", "cat"}, {"title", "ant"}}}}));
  EXPECT_EQ(complaint(topics, text_format::automatic, with({"title", "nope"})),
            ": found no <nope>, expected --text-fields or --query-fields of these: DESC, NARR, "
            "TITLE");
  EXPECT_EQ(
      complaint(topics + "<top><num>3</num><title>z</title></top>", text_format::automatic,
                with({"desc"})),
      ":8:1: found a topic without text in <desc>, expected a section such as DESC, NARR, TITLE");

  std::string const text =
      "<DOC><DOCNO>1</DOCNO><TITLE>red <B>hat</B></TITLE><TEXT>blue</TEXT><AUTHOR>Ann</AUTHOR>"
      "</DOC>\n<DOC><DOCNO>2</DOCNO><TEXT>green</TEXT></DOC>\n";
  EXPECT_EQ(read(text, text_format::automatic, with({"title", "Author"})),
            (documents{{"1", "", {{"title", "red  hat  "}, {"Author", "Ann "}}}, {"2", "", {}}}));
  EXPECT_EQ(complaint(text, text_format::automatic, with({"headline"})),
            ": found no <headline>, expected --text-fields or --query-fields of these: AUTHOR, "
            "TEXT, TITLE");
}

TEST_F(text_files, names_where_a_form_has_none) {
  text_options texts, id;
  texts.text_fields = {"title", "body"};
  id.id_field = "key";
  std::string const found = ": found the form ";
  EXPECT_EQ(complaint("1\tred\n", text_format::automatic, texts),
            found +
                "tsv, expected JSON, trec or a table with title, body for --text-fields or "
                "--query-fields");
  EXPECT_EQ(complaint(".I 1\n.W\nx\n", text_format::automatic, id),
            found + "cranfield, expected JSON or a table with key for --id-field");
  EXPECT_EQ(complaint("<top><num>1</num><title>x</title></top>", text_format::automatic, id),
            found + "trec, expected JSON or a table with key for --id-field");
}

// svmlight

TEST_F(text_files, svmlight_is_a_vector_a_line) {
  std::string const text =
      "# head\n+1 3:0.5 0:-2 7:0\n-1.0 # docid = d 2\r\n\n0.25 qid:8 2:1e-300\t4:2 # three 3";
  EXPECT_EQ(read(text, text_format::svmlight),
            (documents{{"2", "1", {}, {{0, -2}, {3, 0.5}}},
                       {"d", "-1", {}, {}},
                       {"5", "0.25", {}, {{2, 1e-300}, {4, 2}}}}));
  documents const numbered = read(text, text_format::svmlight, by_position);
  ASSERT_EQ(numbered.size(), 3U);
  EXPECT_EQ(numbered[1].id, "2");
  EXPECT_EQ(numbered[2].id, "3");
  EXPECT_EQ(read("1 1:1 # 1370 rocky\n1 1:1 # title words\n", text_format::svmlight),
            (documents{{"1370", "1", {}, {{1, 1}}}, {"2", "1", {}, {{1, 1}}}}));
  EXPECT_EQ(read(gzip(text), text_format::svmlight), read(text, text_format::svmlight));
}

TEST_F(text_files, svmlight_faults) {
  auto const says = [&](char const* text, char const* what) {
    EXPECT_EQ(complaint(text, text_format::svmlight), what);
  };
  says("1 1:1\nx 1:1\n", ":2:1: found label \"x\", expected a finite number");
  says("1 1:inf\n", ":1:5: value \"inf\" of feature 1 is infinite, expected a finite number");
  says("1 1:NULL\n", ":1:5: value \"NULL\" of feature 1 is missing, expected a finite number");
  says("1 2:1 2:1\n", ":1:7: found feature 2 twice, expected each feature once");
  says("1 # a1\n\n1 1:1 # a1\n",
       ":3:9: found id \"a1\" again (first on line 1), expected each id once");
  says("# nothing\n", ":1:1: found no documents, expected at least one");
}

// folders

TEST_F(text_files, a_folder_is_its_files_in_byte_order) {
  std::filesystem::create_directories(folder_.path() / "d/b/deep");
  std::filesystem::create_directories(folder_.path() / "d/empty");
  write_file(folder_ / "d/b/2", "two");
  write_file(folder_ / "d/b/10", gzip("ten"));
  write_file(folder_ / "d/b/deep/x", "caf\xe9\r\n");
  write_file(folder_ / "d/b-", "");
  write_file(folder_ / "d/\xc3\xa9", "top");
  std::filesystem::create_symlink("2", folder_ / "d/b/link");
  std::filesystem::create_directory_symlink("..", folder_ / "d/b/round");
  documents const expected{
      {"b-", "", {{"", ""}}},         {"b/10", "b", {{"", "ten"}}},
      {"b/2", "b", {{"", "two"}}},    {"b/deep/x", "deep", {{"", "caf\xe9\r\n"}}},
      {"b/link", "b", {{"", "two"}}}, {"\xc3\xa9", "", {{"", "top"}}}};
  EXPECT_EQ(all(folder_ / "d"), expected);
  EXPECT_EQ(all(folder_ / "d/", text_format::folder), expected);
}

TEST_F(text_files, a_folder_tells_what_it_passes_over) {
  std::filesystem::create_directories(folder_.path() / "d/b/deep");
  write_file(folder_ / "d/b/2", "two");
  write_file(folder_ / "d/z", "top");
  std::vector<std::string> warnings;
  text_options options;
  options.warn = [&](std::string const& what) { warnings.push_back(what); };
  auto const read_all = [&] { return all(folder_ / "d", text_format::folder, options); };
  documents const expected{{"b/2", "b", {{"", "two"}}}, {"z", "", {{"", "top"}}}};
  EXPECT_EQ(read_all(), expected);
  EXPECT_TRUE(warnings.empty());

  std::filesystem::create_symlink("nowhere", folder_ / "d/b/deep/broken");
  std::filesystem::create_symlink("round", folder_ / "d/round");
  std::filesystem::create_symlink("2/below", folder_ / "d/b/below-a-file");
  std::filesystem::create_directory_symlink("b/deep", folder_ / "d/folder");
  ASSERT_EQ(::mkfifo((folder_ / "d/pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_all(), expected);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], (folder_ / "d") +
                             ": left out 5 of 7 entries, which are not regular files (links to "
                             "folders, broken links, pipes); the first is \"b/below-a-file\"");
  EXPECT_EQ(all(folder_ / "d"), expected);
}

TEST_F(text_files, folder_faults) {
  auto const said = [](std::string const& path, text_format format) {
    return message_of([&] { all(path, format); });
  };
  std::filesystem::create_directory(folder_.path() / "d");
  std::string const d = folder_ / "d";
  EXPECT_EQ(said(d, text_format::automatic),
            d + ": found no files in the folder, expected documents");
  EXPECT_EQ(said(d, text_format::tsv), d + ": is a folder, expected a file");
  EXPECT_EQ(said(d + "/none", text_format::folder),
            d + "/none/: cannot be read: No such file or directory");
  EXPECT_EQ(said(d + "/none", text_format::automatic),
            d + "/none: cannot be read: No such file or directory");
  write_file(d + "/broken", gzip("text").substr(0, 10));
  EXPECT_EQ(said(d, text_format::automatic),
            d + "/broken:1:1: the gzip archive ends too early, expected the rest of the text");
}

// all

TEST_F(text_files, inputs_without_documents) {
  std::string const expected = ":1:1: found no documents, expected at least one";
  for (text_format const format :
       {text_format::automatic, text_format::tsv, text_format::jsonl, text_format::cranfield,
        text_format::trec, text_format::svmlight}) {
    EXPECT_EQ(complaint("", format), expected);
    EXPECT_EQ(complaint("\n\r\n", format), expected);
    EXPECT_EQ(complaint(zstd(""), format), expected);
  }
  for (text_format const format :
       {text_format::jsonl, text_format::cranfield, text_format::trec, text_format::svmlight})
    EXPECT_EQ(complaint(" \n\t\n", format), expected);
}

TEST_F(text_files, archives_cut_short_give_what_is_whole_and_then_fail) {
  std::string text;
  for (int d = 0; d < 60000; ++d) text += fmt::format("{}\ttext {}\n", d, d * 7919 % 10007);
  for (std::string const& archive : {gzip(text), zstd(text)}) {
    std::string const path = file(std::string_view(archive).substr(0, archive.size() * 3 / 4));
    std::size_t given = 0;
    try {
      read_documents(context{}, path, text_format::automatic, [&](text_document&& d) {
        ASSERT_EQ(d.id, std::to_string(given));
        ++given;
      });
      FAIL() << "no complaint";
    } catch (error const& e) {
      EXPECT_NE(std::string(e.what()).find("archive ends too early"), std::string::npos);
      EXPECT_GE(e.where().line, given);
      EXPECT_GT(given, 0U);
    }
  }
}

TEST_F(text_files, ids_that_stand_for_missing_values) {
  auto const found = [](std::string const& id) {
    return ": found the id " + id + ", which stands for a missing value, expected another id";
  };
  EXPECT_EQ(complaint("a\tx\nNA\ty\n"), ":2:1" + found("NA"));
  EXPECT_EQ(complaint("id,text\na,x\nNaN,y\n"), ":3:1" + found("NaN"));
  EXPECT_EQ(complaint("{\"id\":\"null\",\"text\":\"\"}\n"), ":1:1" + found("null"));
  EXPECT_EQ(complaint("<top>\n<num> NA\n<title> x\n</top>\n"), ":2:1" + found("NA"));
  EXPECT_EQ(read("Na\tx\n")[0].id, "Na");
}

TEST_F(text_files, ids_that_have_not_the_form_that_is_asked_for) {
  text_options column, qid;
  column.ids = id_form::run_column;
  qid.ids = id_form::qid;
  std::string const tsv = "a\tx\nb c\ty\n";
  std::string const found = ": found the id \"b c\", expected one word";
  EXPECT_EQ(read(tsv).size(), 2U);
  EXPECT_EQ(complaint(tsv, text_format::automatic, column), ":2:1" + found);
  EXPECT_EQ(complaint(tsv, text_format::automatic, qid), ":2:1" + found + " without #");
  std::string const json = "{\"id\":1,\"text\":\"\"}\n\n{\"id\":\"b c\",\"text\":\"\"}\n";
  EXPECT_EQ(complaint(json, text_format::automatic, column), ":3:1" + found);
  EXPECT_EQ(read("a\tx\nt#1\ty\n", text_format::automatic, column)[1].id, "t#1");
  EXPECT_EQ(complaint("a\tx\nt#1\ty\n", text_format::automatic, qid),
            ":2:1: found the id \"t#1\", expected one word without #");
  EXPECT_EQ(complaint("1 1:1 # docid = t#1\n", text_format::svmlight, qid),
            ":1:17: found the id \"t#1\", expected one word without #");
  EXPECT_EQ(read(".I 7\n.W\nx\n", text_format::automatic, qid)[0].id, "7");
  EXPECT_EQ(complaint("1\tx\n#\tx\n", text_format::automatic, column),
            ":2:1: found the id \"#\", expected one word other than #");

  std::filesystem::create_directory(folder_.path() / "d");
  std::string const path = folder_ / "d/b c";
  write_file(path, "x");
  EXPECT_EQ(all(folder_ / "d")[0].id, "b c");
  EXPECT_EQ(testing_tools::complaint_of(
                path, [&] { all(folder_ / "d", text_format::automatic, column); }),
            found);
}

TEST_F(text_files, options_of_another_format_are_refused) {
  std::string const path = file("a\tb\n");
  EXPECT_THROW(all(path, text_format::jsonl, with_labels), usage_error);
  EXPECT_THROW(all(path, text_format::tsv, by_position), usage_error);
  EXPECT_THROW(all(path, text_format::svmlight, with_labels), usage_error);
  EXPECT_EQ(all(path, text_format::automatic, by_position).size(), 1U);
}

TEST_F(text_files, a_stop_ends_the_reading) {
  std::string text;
  for (int d = 0; d < 1000; ++d) text += fmt::format("{}\tx\n", d);
  context ctx;
  std::size_t given = 0;
  ctx.progress = [&](std::string_view, std::uint64_t, std::uint64_t) { return given < 100; };
  EXPECT_THROW(read_documents(ctx, file(text), text_format::tsv, [&](text_document&&) { ++given; }),
               interrupted);
  EXPECT_LT(given, 1000U);
}

TEST_F(text_files, what_the_taker_throws_comes_through) {
  EXPECT_THROW(read_documents(context{}, file("a\tb\n"), text_format::tsv,
                              [](text_document&&) { throw std::logic_error("enough"); }),
               std::logic_error);
}

// real data

TEST(real_text, cranfield) {
  RULERANK_REAL_DATA(folder, "text/cranfield");
  documents const d = all(folder + "/cran.all.1400");
  ASSERT_EQ(d.size(), 1400U);
  EXPECT_EQ(d.front().id, "1");
  EXPECT_EQ(d.back().id, "1400");
  ASSERT_EQ(d[0].fields.size(), 4U);
  EXPECT_EQ(d[0].fields[0].name, "title");
  EXPECT_EQ(d[0].fields[0].text,
            "experimental investigation of the aerodynamics of a\nwing in a slipstream .");
  EXPECT_EQ(d[0].fields[1].text, "brenckman,m.\t");
  EXPECT_EQ(d[470].fields.size(), 4U);  // a document without text
  EXPECT_EQ(d[470].fields[3].text, "");

  documents const queries = all(folder + "/cran.qry", text_format::automatic, by_position);
  ASSERT_EQ(queries.size(), 225U);
  EXPECT_EQ(queries[2].id, "3");
  EXPECT_EQ(queries[2].fields[0].text,
            "what problems of heat conduction in composite slabs have been solved so\nfar .");
  EXPECT_EQ(all(folder + "/cran.qry")[2].id, "004");
}

TEST(real_text, newsgroups) {
  for (auto const& [part, size] : {std::pair{"train", 11314}, std::pair{"test", 7532}}) {
    RULERANK_REAL_DATA(folder, fmt::format("text/20news-bydate/20news-bydate-{}", part));
    std::map<std::string, int> labels;
    std::set<std::string> ids;
    read_documents(context{}, folder, text_format::automatic, [&](text_document&& d) {
      ++labels[d.label];
      EXPECT_EQ(d.id.substr(0, d.label.size() + 1), d.label + "/");
      EXPECT_TRUE(ids.empty() || *ids.rbegin() < d.id);
      ids.insert(d.id);
    });
    EXPECT_EQ(static_cast<int>(ids.size()), size);
    EXPECT_EQ(labels.size(), 20U);
  }
}

}  // namespace
}  // namespace rulerank::datasets::documents_test
