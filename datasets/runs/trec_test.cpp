#include "datasets/trec.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::trec_test {
namespace {

using rulerank::testing_tools::complaint_of;
using rulerank::testing_tools::input_and_message;

class trec_files : public ::testing::Test {
 protected:
  std::string file(std::string_view text) {
    std::string const path = folder_ / "f.txt";
    write_file(path, text);
    return path;
  }
  /// Returns the message about a file, without its path.
  template <class Read>
  std::string complaint(std::string_view text, Read&& read) {
    std::string const path = file(text);
    return complaint_of(path, [&] { read(context{}, path); });
  }
  std::string written(dataset const& data, std::vector<double> const& scores,
                      run_form const& form = {}) {
    std::string const path = folder_ / "run.txt";
    output_file out(path);
    write_run(data, scores, "mine", out, form);
    out.commit();
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  testing_tools::temporary_folder folder_;
};

TEST_F(trec_files, qrels_are_read) {
  qrels const q = read_qrels(context{}, file("# judged\n2 0 b 1\n1\t0\ta\t-1\r\n\n2 0 a 3"));
  ASSERT_EQ(q.queries.size(), 2U);
  EXPECT_EQ(q.queries[0].qid, "2");
  ASSERT_EQ(q.queries[0].documents.size(), 2U);
  EXPECT_EQ(q.queries[0].documents[0].docno, "a");
  EXPECT_EQ(q.queries[0].documents[0].label, 3);
  EXPECT_EQ(q.queries[1].documents[0].label, -1);
}

TEST_F(trec_files, qrels_with_headers) {
  for (std::string const header : {"qid iter docid rel", "topic iteration document relevancy",
                                   "query_id 0 product_id label"}) {
    qrels const q = read_qrels(context{}, file(header + "\n7 0 a 2\n"));
    ASSERT_EQ(q.queries.size(), 1U) << header;
    EXPECT_EQ(q.queries[0].documents.at(0).label, 2) << header;
  }
  for (std::string const header : {"query,document,grade,x", "query_id,product_id,rel,id",
                                   "qid,doc_id,relevancy,notes", "Topic,id,judgment,y"}) {
    qrels const q = read_qrels(context{}, file(header + "\n7,a,2,b\n"));
    ASSERT_EQ(q.queries.size(), 1U) << header;
    EXPECT_EQ(q.queries[0].documents.at(0).docno, "a") << header;
  }
  auto const read = [](context const& ctx, std::string const& path) { read_qrels(ctx, path); };
  input_and_message const rows[] = {
      {"qid,docid,rating,relevance\n1,a,2,0\n",
       ":1:18: found the columns rating and relevance, expected one column of labels"},
      {"query,docid,Judge 1,Judge 2\n1,a,1,2\n",
       ":2:1: found 1 column, expected 3 as on the first line (qid, docno, label), or the header "
       "of a table "
       "with a query, a document and a rating"},
      {"qid,docid,label\n1,a,Exact\n",
       ":2:5: found 'Exact', expected a whole number as label; `rulerank judgments --label-names` "
       "makes numbers of words"},
      {"1 0 a 99999999999\n",
       ":1:7: found '99999999999', expected a label of -2147483648 to 2147483647"},
      {"\"qid\" \"iter\" \"docno\" \"rel\"\n\"1\" 0 \"a\" 1\n",
       ":1:1: found a header with \"qid\", expected no header and no quotes (in R: quote = FALSE, "
       "row.names = FALSE, col.names = FALSE)"},
      {"who 0 what grade\n1 0 a 1\n",
       ":1:12: found 'grade', expected a whole number as label; a header names columns such as "
       "qid, docid and rating"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text, read); });
}

TEST_F(trec_files, a_byte_order_mark_is_no_part_of_the_first_qid) {
  EXPECT_EQ(read_qrels(context{}, file("\xef\xbb\xbf"
                                       "2 0 b 1\n2 0 a 3\n"))
                .queries.size(),
            1U);
  run const r = read_run(context{}, file("\xef\xbb\xbf"
                                         "2 Q0 a 1 2 t\n2 Q0 b 2 1 t\n"));
  ASSERT_EQ(r.queries.size(), 1U);
  EXPECT_EQ(r.queries[0].qid, "2");
}

TEST_F(trec_files, a_comment_begins_with_a_hash_and_a_blank) {
  qrels const q =
      read_qrels(context{}, file("#\n # 1 0 a\n#\tb\n#1 0 a 1\n##\t0 # 2\n1 0 #b 3\n#\r\n"));
  ASSERT_EQ(q.queries.size(), 3U);
  EXPECT_EQ(q.queries[0].qid, "#1");
  EXPECT_EQ(q.queries[0].line, 4U);
  EXPECT_EQ(q.queries[1].qid, "##");
  EXPECT_EQ(q.queries[1].documents[0].docno, "#");
  EXPECT_EQ(q.queries[2].documents[0].docno, "#b");
  run const r = read_run(context{}, file("# Q0 a 1 2 t\n#1 Q0 #a 1 2 t\n"));
  ASSERT_EQ(r.queries.size(), 1U);
  EXPECT_EQ(r.queries[0].qid, "#1");
  EXPECT_EQ(r.queries[0].documents[0].docno, "#a");
}

TEST_F(trec_files, what_is_written_is_read) {
  for (std::string const word : {"#1", "##", "a#", "1"}) {
    ASSERT_TRUE(is_run_column(word));
    run const r = read_run(context{}, file(run_line(word, word, 1, 0.5, word)));
    EXPECT_EQ(r.queries.at(0).qid, word);
    EXPECT_EQ(r.queries.at(0).documents.at(0).docno, word);
    EXPECT_EQ(r.tag, word);
  }
  for (char const* const word : {"", "#", " ", "a b", "#\t", "a\n"})
    EXPECT_FALSE(is_run_column(word));
}

TEST_F(trec_files, qrels_of_three_columns_are_read) {
  qrels const q = read_qrels(context{}, file("1 184 2 \r\n1 29 -1\r\n\n2 7 4"));
  ASSERT_EQ(q.queries.size(), 2U);
  ASSERT_EQ(q.queries[0].documents.size(), 2U);
  EXPECT_EQ(q.queries[0].documents[0].docno, "184");
  EXPECT_EQ(q.queries[0].documents[0].label, 2);
  EXPECT_EQ(q.queries[0].documents[1].label, -1);
  EXPECT_EQ(q.queries[0].documents[1].line, 2U);
  EXPECT_EQ(q.queries[1].line, 4U);
}

TEST_F(trec_files, qrels_with_the_header_of_beir) {
  qrels const q = read_qrels(
      context{}, file("query-id\tcorpus-id\tscore\nPLAIN-2\tMED-2427\t2\nPLAIN-2\tMED-10\t1\n"));
  ASSERT_EQ(q.queries.size(), 1U);
  EXPECT_EQ(q.queries[0].qid, "PLAIN-2");
  ASSERT_EQ(q.queries[0].documents.size(), 2U);
  EXPECT_EQ(q.queries[0].documents[1].docno, "MED-2427");
  EXPECT_EQ(q.queries[0].documents[1].label, 2);
  EXPECT_EQ(q.queries[0].documents[1].line, 2U);
  auto const read = [](context const& ctx, std::string const& path) { read_qrels(ctx, path); };
  std::string const header = "query-id corpus-id score\n";
  input_and_message const rows[] = {
      {header, ":1:1: found no judgments, expected a line for each judgment"},
      {header + header,
       ":2:20: found 'score', expected a whole number as label, the third of 3 columns or the "
       "fourth of 4"},
      {header + "1 0 a 1\n",
       ":2:7: found 4 columns, expected 3 as on the first line (qid, docno, label)"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text, read); });
}

TEST_F(trec_files, a_byte_order_mark_is_no_part_of_the_first_id) {
  EXPECT_EQ(read_qrels(context{}, file("\xef\xbb\xbf"
                                       "1 0 a 1\n1 0 b 0\n"))
                .queries.at(0)
                .qid,
            "1");
  EXPECT_EQ(read_run(context{}, file("\xef\xbb\xbf"
                                     "1 Q0 a 1 2 t\n"))
                .queries.at(0)
                .qid,
            "1");
}

TEST_F(trec_files, qrels_are_refused_where_they_are_wrong) {
  auto const read = [](context const& ctx, std::string const& path) { read_qrels(ctx, path); };
  input_and_message const rows[] = {
      {"", ":1:1: found no judgments, expected a line for each judgment"},
      {"# none\n", ":1:1: found no judgments, expected a line for each judgment"},
      {"#none\n", ":1:1: found 1 column, expected 4 (qid, iteration, docno, label), ..."},
      {"1 0 a 1\n#judged by me\n",
       ":2:12: found 3 columns, expected 4 (qid, iteration, docno, label); a comment begins with # "
       "and a blank"},
      {"#qid 0 docno label\n1 0 a 1\n",
       ":1:14: found 'label', expected a whole number as label; a comment begins with # and a "
       "blank"},
      {"#judgments of round 2\n1 0 a 1\n",
       ":1:12: found the iteration 'of' of query '#judgments', expected a number or Q0; a comment "
       "begins with # and a blank"},
      {"1 0 a\n",
       ":1:5: found 'a', expected a whole number as label, the third of 3 columns or the fourth "
       "of 4"},
      {"1 0\n", ":1:3: found 2 columns, expected 4 (qid, iteration, docno, label), ..."},
      {"1 0 a 1\n1 0 2\n", ":2:5: found 3 columns, expected 4 (qid, iteration, docno, label)"},
      {"1 a 1\n1 0 b 1\n",
       ":2:7: found 4 columns, expected 3 as on the first line (qid, docno, label)"},
      {"1 0 a 1\n1 0 b 1 x\n", ":2:9: found 5 columns, expected 4 (qid, iteration, docno, label)"},
      {"\"1\" 0 a 1\n",
       ":1:1: found the id \"1\" in quotes, expected it without quotes (in R: quote = FALSE)"},
      {"NA 0 a 1\n",
       ":1:1: found the id NA, which stands for a missing value, expected another id"},
      {"1 0 a 1.5\n",
       ":1:7: found '1.5', expected a whole number as label; `rulerank evaluate --test` reads "
       "fractional "
       "labels"},
      {"1 0 a 9999999999\n",
       ":1:7: found '9999999999', expected a label of -2147483648 to 2147483647"},
      {"1 0 a 1\n2 0 a 1\n1 0 a 1\n",
       ":3:5: found document 'a' of query '1' again, expected it once"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text, read); });
}

TEST_F(trec_files, runs_are_read) {
  run const r = read_run(
      context{}, file("2 Q0 b 7 1.5 t1\n1\tQ0\ta\t1\t  -2e1\tt2 and more\n2 Q0 a 1 3 t3\n"));
  EXPECT_EQ(r.tag, "t3");
  ASSERT_EQ(r.queries.size(), 2U);
  EXPECT_EQ(r.queries[0].qid, "2");
  ASSERT_EQ(r.queries[0].documents.size(), 2U);
  EXPECT_EQ(r.queries[0].documents[1].docno, "a");
  EXPECT_EQ(r.queries[1].documents[0].score, -20);
}

TEST_F(trec_files, runs_are_refused_where_they_are_wrong) {
  auto const read = [](context const& ctx, std::string const& path) { read_run(ctx, path); };
  input_and_message const rows[] = {
      {"\n", ":1:1: found no documents, expected a line for each document"},
      {"1 Q0 a 1 2\n", ":1:10: found 5 columns, expected 6 (qid, Q0, docno, rank, score, tag)"},
      {"1 Q0 a 9.5 1 t\n",
       ":1:8: found '9.5' as rank, expected a whole number; the columns are qid, "
       "Q0, docno, rank, score, tag"},
      {"qid,docno,score\n1,a,2\n",
       ":1:1: found a table, expected lines of a run: 6 words between blanks (qid, Q0, docno, "
       "rank, score, tag) and no header"},
      {"qid Q0 docno rank score tag\n1 Q0 a 1 2 t\n",
       ":1:1: found a header, expected lines of a run: 6 words between blanks (qid, Q0, docno, "
       "rank, score, tag) and no header"},
      {"query_id\tdoc_id\tscore\n1\ta\t2\n",
       ":1:1: found a header, expected lines of a run: 6 words between blanks (qid, Q0, docno, "
       "rank, score, tag) and no header"},
      {"1 \"Q0\" \"a\" 1 2 \"t\"\n",
       ":1:8: found the id \"a\" in quotes, expected it without quotes (in R: quote = FALSE)"},
      {"nan Q0 a 1 2 t\n",
       ":1:1: found the id nan, which stands for a missing value, expected another id"},
      {"topic_no Q0 docno rank score tag\n1 Q0 a 1 2 t\n",
       ":1:1: found a header, expected lines of a run: 6 words between blanks (qid, Q0, docno, "
       "rank, score, tag) and no header"},
      {"1 Q0 a 1 x t\n", ":1:10: found 'x', expected a finite number as score"},
      {"1 Q0 a 1 nan t\n", ":1:10: found 'nan', expected a finite number as score"},
      {"1 Q0 a 1 2 t\n1 Q0 b 1 2 t\n1 Q0 a 1 2 t\n",
       ":3:6: found document 'a' of query '1' again, expected it once"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text, read); });
}

TEST_F(trec_files, runs_of_three_columns_have_ranks) {
  run const r = read_run(context{}, file("q1\td3\t2\nq1\td1\t1\nq2\td5\t1\n"));
  ASSERT_EQ(r.queries.size(), 2U);
  EXPECT_EQ(r.queries[0].documents[0].score, -2);
  auto const read = [](context const& ctx, std::string const& path) { read_run(ctx, path); };
  input_and_message const rows[] = {
      {"q d 12.5\n",
       ":1:5: found '12.5', expected a rank of 1 or more as the third of 3 columns (qid, docno, "
       "rank)"},
      {"q d 2\nq e 3\n",
       ":1:1: found as first rank 2 in query 'q', expected the ranks 1, 2, ... as the third of 3 "
       "columns (qid, docno, rank)"},
      {"q d 1\nq e 1\n",
       ":1:1: found twice the rank 1 in query 'q', expected the ranks 1, 2, ... as the third of 3 "
       "columns (qid, docno, rank)"},
      {"q d 1\nq Q0 e 2 1 t\n",
       ":2:12: found 6 columns, expected 3 as on the first line (qid, docno, rank)"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text, read); });
}

TEST_F(trec_files, an_id_with_a_blank_is_found) {
  auto const read = [](context const& ctx, std::string const& path) { read_run(ctx, path); };
  std::string const expected =
      ", expected 6 words (qid, Q0, docno, rank, score, tag) without blanks in ids";
  input_and_message const rows[] = {
      {"q Q0 a 1 2 t\nq Q0 New York 1 12.5 t\n",
       ":2:10: found 'York' as rank in a line of 7 words" + expected},
      {"q Q0 Catch 22 1 12.5 t\n", ":1:12: found '22' as rank in a line of 7 words" + expected},
      {"q Q0 New York 1 12.5\n",
       ":1:10: found 'York' as rank, expected a whole number; the columns are qid, Q0, docno, "
       "rank, score, tag, without blanks in ids"},
      {"1 Q0 a NA 3 t\n",
       ":1:8: found 'NA' as rank, expected a whole number; the columns are qid, Q0, docno, rank, "
       "score, tag, without blanks in ids"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text, read); });
}

TEST_F(trec_files, judgments_in_tables) {
  qrels const q = read_qrels(context{}, file("\xef\xbb\xbfQuery Text,Doc ID,Rating\r\nstar "
                                             "wars,\"a \"\"b\"\"\",3.0\r\nstar wars,c,\r\n"
                                             "rambo,7,1\r\n"));
  ASSERT_EQ(q.queries.size(), 2U);
  EXPECT_EQ(q.queries[0].qid, "star%20wars");
  ASSERT_EQ(q.queries[0].documents.size(), 1U);
  EXPECT_EQ(q.queries[0].documents[0].docno, "a \"b\"");
  EXPECT_EQ(q.queries[0].documents[0].label, 3);
  EXPECT_EQ(read_qrels(context{}, file("docid\tgrade\tqid\tquery\nd\t2\t1\ta b\n")).queries[0].qid,
            "1");
  EXPECT_EQ(read_qrels(context{}, file("qid,docid,grade\n1,\"\"\"d\"\"\",2\n"))
                .queries[0]
                .documents[0]
                .docno,
            "\"d\"");
  auto const read = [](context const& ctx, std::string const& path) { read_qrels(ctx, path); };
  input_and_message const rows[] = {
      {"query,docid,rating\na,b\n", ":2:4: found 2 cells, expected 3 as in the header"},
      {"query,docid,rating\na,,1\n", ":2:3: found an empty cell, expected an id"},
      {"qid,docid,rating\n\"NaN\",a,1\n",
       ":2:2: found the id NaN, which stands for a missing value, expected another id"},
      {"query,docid,rating\na,b,1.5\n",
       ":2:5: found '1.5', expected a whole number as label; `rulerank evaluate --test` reads "
       "fractional "
       "labels"},
      {"query,docid,rating\na,b,1\na,b,1\n",
       ":3:3: found document 'b' of query 'a' again, expected it once"},
  };
  expect_messages(rows, [&](std::string const& text) { return complaint(text, read); });
}

TEST_F(trec_files, texts_of_queries_in_judgments_are_ids_as_in_feature_tables) {
  std::vector<std::string> warnings;
  auto const path = file("query,docid,rating\nred%20shoes,a,1\n\"blue\nshoes\",a,1\na b,a,1\n");
  qrels const q =
      read_qrels(context{}, path, [&](std::string const& what) { warnings.push_back(what); });
  ASSERT_EQ(q.queries.size(), 3U);
  EXPECT_EQ(q.queries[0].qid, "red%20shoes");
  EXPECT_EQ(q.queries[1].qid, "blue%0Ashoes");
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                path + ": wrote %20 for each blank in ids of queries, such as blue%0Ashoes"}));
}

TEST_F(trec_files, a_ranking_becomes_a_run) {
  dataset const data = parse_svmlight(context{},
                                      "1 qid:a 1:1 # docid = x y\n"
                                      "0 qid:a 1:2 #docid = z\n"
                                      "0 qid:b 1:3\n"
                                      "0 qid:a2 1:3\n"
                                      "0 qid:a2 1:4\n",
                                      "test.txt");
  EXPECT_EQ(written(data, {0.1, 0.3, -1, 2, 2}, {.distinct_scores = true}),
            "a Q0 z 1 2 mine\n"
            "a Q0 x 2 1 mine\n"
            "b Q0 b-3 1 1 mine\n"
            "a2 Q0 a2-4 1 2 mine\n"
            "a2 Q0 a2-5 2 1 mine\n");
  EXPECT_EQ(written(data, {0.1, 0.3, -1, 2, 2}),
            "a Q0 z 1 0.3 mine\n"
            "a Q0 x 2 0.1 mine\n"
            "b Q0 b-3 1 -1 mine\n"
            "a2 Q0 a2-4 1 2 mine\n"
            "a2 Q0 a2-5 2 2 mine\n");
  run const back = read_run(context{}, folder_ / "run.txt");
  EXPECT_EQ(back.tag, "mine");
  EXPECT_EQ(back.queries[0].documents[0].score, 0.3);
}

TEST_F(trec_files, a_docid_twice_in_a_query_gives_way_to_lines) {
  dataset const data = parse_svmlight(context{},
                                      "1 qid:a 1:1 # docid = x\n"
                                      "# a comment\n"
                                      "1 qid:b 1:1 # docid = x\n"
                                      "0 qid:b 1:2 # docid = y\n"
                                      "0 qid:b 1:2 # docid = x\n"
                                      "0 qid:b 1:2 # docid = y\n",
                                      "test.txt");
  std::vector<double> const scores{1, 2, 3, 4, 5};
  EXPECT_THROW(written(data, scores), error);
  EXPECT_THROW(written(data, {1}), usage_error);
  std::vector<std::string> warnings;
  run_ids const ids =
      distinct_ids(data, [&](std::string const& what) { warnings.push_back(what); });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "test.txt:5:1: found docid 'x' of query 'b' again, so the run names documents by query "
            "and line");
  EXPECT_EQ(written(data, scores, {.ids = ids}),
            "a Q0 a-1 1 1 mine\n"
            "b Q0 b-6 1 5 mine\n"
            "b Q0 b-5 2 4 mine\n"
            "b Q0 b-4 3 3 mine\n"
            "b Q0 b-3 4 2 mine\n");
}

TEST_F(trec_files, docids_stay_where_they_are_distinct_in_each_query) {
  auto const ids = [](char const* text) {
    return distinct_ids(parse_svmlight(context{}, text, "test.txt"),
                        [](std::string const& what) { ADD_FAILURE() << what; });
  };
  EXPECT_EQ(ids("1 qid:a 1:1 # docid = x\n1 qid:b 1:1 # docid = x\n0 qid:b 1:1\n"), run_ids::docid);
  // The replacement for an absent docid may be the docid of another document.
  dataset const odd = parse_svmlight(context{}, "1 qid:a 1:1 # docid = a-2\n0 qid:a 1:1\n", "t");
  EXPECT_EQ(distinct_ids(odd, {}), run_ids::line);
}

}  // namespace
}  // namespace rulerank::datasets::trec_test
