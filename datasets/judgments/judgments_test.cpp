#include "datasets/judgments/judgments.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/testing.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::judgments_test {
namespace {

using rulerank::testing_tools::complaint_of;
using rulerank::testing_tools::expect_messages;
using rulerank::testing_tools::input_and_message;

/// Quotes a text; returns an id unchanged.
std::string key_shown(query_key const& key) {
  return key.is_text ? "'" + key.name + "'" : key.name;
}

class judgment_files : public ::testing::Test {
 protected:
  std::string file(std::string_view text, std::string const& name = "f.json") {
    std::string const path = folder_ / name;
    write_file(path, text);
    return path;
  }
  judgments_read read(std::string_view text, std::optional<judgment_form> form = {}) {
    judgments_read result;
    warnings_.clear();
    form_ =
        read_judgments(context{}, file(text), form, "id", result, [&](std::string const& message) {
          warnings_ += message.substr(message.find(": ") + 2) + "\n";
        });
    return result;
  }
  /// Shows `query document grade` per line; query texts in quotes.
  static std::string shown(judgment_list const& list) {
    std::string text;
    for (graded_query const& query : list.queries())
      for (graded_document const& document : query.documents)
        text += key_shown(query.key) + " " + document.id + " " +
                std::to_string(document.grade).substr(0, 3) + "\n";
    return text;
  }
  std::string written(judgment_list const& list, judgment_form form) {
    std::string const path = folder_ / "out";
    output_file out(path);
    write_judgments(list, form, {}, out);
    out.commit();
    return read_file(path, "an output");
  }
  /// Compares the messages about invalid inputs.
  void expect_complaints(std::vector<input_and_message> const& rows,
                         std::optional<judgment_form> form = {}) {
    expect_messages(rows, [&](std::string const& input) {
      std::string const path = file(input);
      judgments_read result;
      return complaint_of(path, [&] { read_judgments(context{}, path, form, "id", result); });
    });
  }
  testing_tools::temporary_folder folder_;
  std::string warnings_;
  judgment_form form_ = judgment_form::letor;
};

TEST_F(judgment_files, labels_may_be_words) {
  std::vector<std::string> const names{"Irrelevant", "Partial", "Exact"};
  auto const with_names = [&](std::string const& path) {
    judgments_read result;
    read_judgments(context{}, path, {}, "id", result, {}, names);
    return shown(result.judgments);
  };
  EXPECT_EQ(with_names(file("id\tquery_id\tproduct_id\tlabel\n0\t0\t7\tExact\n1\t0\t8\tIrrelevant\n"
                            "2\t4\t8\tPartial\n")),
            "0 7 2.0\n0 8 0.0\n4 8 1.0\n");
  EXPECT_EQ(with_names(file("1 0 a Partial\n")), "1 a 1.0\n");
  std::string const path = file("1 0 a Partial\n1 0 b 2\n");
  EXPECT_EQ(complaint_of(path, [&] { with_names(path); }),
            ":2:7: found '2', expected one of the label names Irrelevant, Partial, Exact");
}

TEST_F(judgment_files, every_form_is_recognized) {
  EXPECT_EQ(shown(read("1 0 b 3\n1 0 a 0.5\n").judgments), "1 b 3.0\n1 a 0.5\n");
  EXPECT_EQ(form_, judgment_form::qrels);
  EXPECT_EQ(shown(read("query;docid;rating\n\"a;\"\"b\";1;2\n").judgments), "'a;\"b' 1 2.0\n");
  EXPECT_EQ(shown(read("query-id\tcorpus-id\tscore\nq 1\td 2\t1\n").judgments), "q 1 d 2 1.0\n");
  EXPECT_EQ(form_, judgment_form::csv);
  EXPECT_EQ(
      shown(read("\xef\xbb\xbf {\"judgmentRatings\": [{\"query\": \"red \\u00e9\", \"ratings\": "
                 "[{\"docId\": \"B0\", \"rating\": \"0.500\"}, {\"docId\": 7, \"rating\": 1}]}]}")
                .judgments),
      "'red \xc3\xa9' B0 0.5\n'red \xc3\xa9' 7 1.0\n");
  EXPECT_EQ(form_, judgment_form::srw);
  EXPECT_EQ(
      shown(read("{\"hits\": {\"hits\": [{\"_source\": {\"id\": 1, \"judgmentRatings\": "
                 "[{\"query\": \"q\", \"ratings\": [{\"docId\": \"a\", \"rating\": 1}]}]}}]}}")
                .judgments),
      "'q' a 1.0\n");
  EXPECT_EQ(warnings_, "left out id\n");
}

TEST_F(judgment_files, rre_has_levels_that_may_be_missing) {
  auto const all = read(
      R"({"index": "i", "topics": [{"description": "t", "query_groups": [{"name": "g", "queries": [
        {"template": "t", "placeholders": {"$query": "a", "$lang": "en"}},
        {"template": "u", "placeholders": {"$query": "a"}}, {"placeholders": {"$query": "b"}}],
        "relevant_documents": {"1": {"gain": 3}, "2": {"gain": 0.5}}}]}]})");
  EXPECT_EQ(form_, judgment_form::rre);
  EXPECT_EQ(shown(all.judgments), "'a' 1 3.0\n'a' 2 0.5\n'b' 1 3.0\n'b' 2 0.5\n");
  EXPECT_EQ(warnings_, "left out description, index, name, template, the placeholder $lang\n");
  auto const quepid = read(
      R"({"query_placeholder": "q", "queries": [{"placeholders": {"q": "b"}, "relevant_documents": {}}, {"placeholders": {"q": "a"},
          "relevant_documents": {"": ["x"], "0": ["1"], "3": ["2", "3"]}}]})");
  EXPECT_EQ(shown(quepid.judgments), "'a' 1 0.0\n'a' 2 3.0\n'a' 3 3.0\n");
  EXPECT_EQ(warnings_, "left out 1 entry without a grade\nleft out 1 query without judgments\n");
}

TEST_F(judgment_files, judgments_that_come_again) {
  EXPECT_EQ(shown(read("1 0 a 2\n2 0 a 1\n1 0 a 2.0\n").judgments), "1 a 2.0\n2 a 1.0\n");
  expect_complaints(
      {{"1 0 a 2\n2 0 a 1\n1 0 a 1\n",
        ":3:5: found document \"a\" of query \"1\" with grade 1, expected 2 as in ..."}});
  expect_complaints(
      {{R"({"queries": [{"placeholders": {"$query": "q"}, "relevant_documents":
{"a": {"gain": 1},
 "a": {"gain": 2}}}]})",
        ":3:7: found document \"a\" of query \"q\" with grade 2, expected 1 as in ..."}});
}

TEST_F(judgment_files, records_without_a_grade) {
  EXPECT_EQ(shown(read("query,docid,rating,note\na,,,\nb,1,2,x\nb,2,,\n").judgments),
            "'b' 1 2.0\n");
  EXPECT_EQ(warnings_, "left out the column note\nleft out 2 entries without a grade\n");
}

TEST_F(judgment_files, a_separator_line_of_a_spreadsheet) {
  for (std::string const mark : {"", "\xef\xbb\xbf"})
    for (std::string const end : {"\n", "\r\n"})
      EXPECT_EQ(
          shown(
              read(mark + "sep=;" + end + "query;docid;rating" + end + "a,b;1;2" + end).judgments),
          "'a,b' 1 2.0\n");
  EXPECT_EQ(form_, judgment_form::csv);
  expect_complaints(
      {{"sep=;\nquery;docid;rating\na;1;2\na;1\n",
        ":4:4: found 2 cells, expected 3 as in the header"},
       {"sep=;\nquery;docid;rating\na;1;x\n", ":3:5: found 'x', expected a number..."},
       {"sep=;\n", ":1:1: found 1 column, expected 4 (qid, ..."}});
}

TEST_F(judgment_files, bytes_that_are_not_utf8_are_said) {
  EXPECT_EQ(shown(read("query,docid,rating\ncaf\xe9,a,1\n").judgments), "'caf\xe9' a 1.0\n");
  EXPECT_TRUE(warnings_.starts_with("found the byte E9, expected UTF-8")) << warnings_;
}

TEST_F(judgment_files, a_wrong_list_is_refused_with_its_place) {
  expect_complaints({
      {"", ":1:1: found no judgments..."},
      {"1 0 a x\n", ":1:7: found 'x', expected a number as grade"},
      {"1 a 2,5\n", ":1:5: found '2,5', expected a number as grade, the third of 3 columns..."},
      {"1 0 a inf\n", ":1:7: found 'inf', expected a number as grade"},
      {"1 0 a b 1\n", ":1:9: found 5 columns, expected 4 (qid, iteration, docno, label), ..."},
      {"query,docid,rating\n\"a\nb\",1,2\n\"a\nb\",2,x\n",
       ":5:6: found 'x', expected a number as grade; --label-names makes numbers of words"},
      {"query,docid,rating\na,1\n", ":2:4: found 2 cells, expected 3 as in the header"},
      {"query,docid,rating\na,,1\n", ":2:3: found an empty cell, expected an id"},
      {"query,docid,rating\n", ":1:1: found no judgments..."},
      {"[1]", ":1:1: found an array, expected an object with judgmentRatings (srw), topics..."},
      {"{\"a\": 1}", ":1:1: found an object, expected an object with judgmentRatings (srw), ..."},
      {"{\"judgmentRatings\": [",
       ":1:22: found malformed JSON, expected judgments or a feature log..."},
      {"{\"judgmentRatings\": []}", ":1:1: found no judgments..."},
      {"{\"judgmentRatings\": []}\n{}", ":2:1: found an object, expected the end of the file..."},
      {"{\"judgmentRatings\": []} {}",
       ":1:25: found text after a JSON value, expected a new line first"},
      {"{\"judgmentRatings\": {}}", ":1:21: found an object, expected an array of queries"},
      {"{\"judgmentRatings\": [\n  {\"query\": \"\", \"ratings\": []}]}",
       ":2:13: found \"\", expected the text of a query"},
      {"{\"judgmentRatings\": [\n  {\"query\": 7, \"ratings\": []}]}",
       ":2:13: found \"7\", expected the text of a query"},
      {"{\"judgmentRatings\": [\n  {\"query\": \"a\"}]}",
       ":2:3: found an object, expected an object with the member \"ratings\""},
      {"{\"judgmentRatings\": [{\"query\": \"a\", \"ratings\": [\n{\"docId\": 1.5, \"rating\": "
       "1}]}]}",
       ":2:11: found \"1.5\", expected an id: a string that is not empty, or an integer"},
      {"{\"judgmentRatings\": [{\"query\": \"a\", \"ratings\": [\n{\"docId\": 1, \"rating\": "
       "\"x\"}]}]}",
       ":2:24: found \"x\", expected a number as grade"},
      {"{\"queries\": [],\n\"queries\": []}",
       ":2:12: found the member \"queries\" again, expected it once"},
      {"{\"topics\": [{}]}",
       ":1:13: found an object, expected an object with the member \"placeholders\""},
      {"{\"queries\": [{\"placeholders\": {\"q\": \"a\"}}]}",
       ":1:31: found an object, expected an object with the member \"$query\""},
      {"{\"queries\": [{\"placeholders\": {\"$query\": \"a\"}}]}",
       ":1:14: found an object, expected relevant_documents here or in its group"},
      {"{\"relevant_documents\": {\"good\": [\"a\"]}, \"queries\": [{\"placeholders\": "
       "{\"$query\": \"a\"}}]}",
       ":1:33: found an array, expected a number as the name of an array of documents"},
      {"{\"relevant_documents\": {\"a\": 3}, \"queries\": [{\"placeholders\": {\"$query\": "
       "\"a\"}}]}",
       ":1:30: found \"3\", expected an object with the member \"gain\""},
  });
  expect_complaints({{"1 0 a 1\n", ":1:1: found no header, expected columns for..."}},
                    judgment_form::csv);
  expect_complaints(
      {{"1 0 a 1\n", ":1:1: found no JSON, expected judgments or a feature log that begins with {"},
       {"{\"topics\": []}", ":1:1: found an object, expected an object with the member \"jud..."}},
      judgment_form::srw);
  expect_complaints({{"query,docid,rating\n", ":1:1: found 1 column, expected 4 (qid, ..."}},
                    judgment_form::qrels);
}

/// Shows the documents of a log, `query document feature:value ...` per line.
std::string shown_log(feature_log const& log) {
  std::string text;
  for (logged_query const& query : log.queries())
    for (logged_document const& document : query.documents) {
      text += key_shown(query.key) + " " + document.id;
      for (feature_value const& entry : document.features)
        text += " " + log.features[entry.feature].first + ":" +
                std::to_string(entry.value).substr(0, 3);
      text += "\n";
    }
  return text;
}

TEST_F(judgment_files, feature_logs) {
  std::string const hit =
      R"({"_id": "7", "fields": {"_ltrlog": [{"log": [{"name": "t", "value": 1.5}, {"name": "b"}]}]}})";
  EXPECT_EQ(shown_log(read("{\"hits\": {\"hits\": [" + hit + "]}}").log), "f 7 t:1.5 b:0.0\n");
  EXPECT_EQ(form_, judgment_form::ltr_log);
  EXPECT_EQ(shown_log(read("{\"qid\": 3, \"hits\": {\"hits\": [" + hit +
                           "]}}\n\n{\"query\": \"x y\", \"hits\": {\"hits\": [" + hit + "]}}\n")
                          .log),
            "3 7 t:1.5 b:0.0\n'x y' 7 t:1.5 b:0.0\n");
  EXPECT_EQ(shown_log(read("{\"responses\": [{\"qid\": \"a\", \"hits\": {\"hits\": [{\"_id\": 1, "
                           "\"fields\": {\"_ltrlog\": [{\"log\": {\"b\": 2}}]}}]}}]}")
                          .log),
            "a 1 b:2.0\n");
  EXPECT_EQ(
      shown_log(read(R"({"responseHeader": {"params": {"q": "red dress"}}, "response": {"docs": [
      {"id": "a", "[features]": "t=1.5,with:sign=2"}, {"id": "b", "[features]": ""}]}})")
                    .log),
      "'red dress' a t:1.5 with:sign:2.0\n'red dress' b\n");
  EXPECT_EQ(form_, judgment_form::solr_log);
}

TEST_F(judgment_files, a_wrong_log_is_refused_with_its_place) {
  expect_complaints({
      {"{\"hits\": {\"hits\": []}}", ":1:1: found no judgments..."},
      {"{\"qid\": 1, \"hits\": {}}",
       ":1:20: found an object, expected an object with the member \"hits\""},
      {"{\"responses\": [{\"error\": {}, \"qid\": 1}]}",
       ":1:16: found an object, expected an object with the member \"hits\""},
      {"{\"hits\": {\"hits\": []}}\n{\"hits\": {\"hits\": []}}",
       ":1:1: found an object, expected a member qid or query in each response"},
      {"{\"hits\": {\"hits\": [\n{\"_id\": \"1\"}]}}",
       ":2:1: found an object, expected an object with the member \"fields\""},
      {"{\"hits\": {\"hits\": [{\"_id\": \"1\", \"fields\": {\"_ltrlog\": [\n{\"log\": [{\"name\": "
       "\"a\", "
       "\"value\": \"x\"}]}]}}]}}",
       ":2:33: found \"x\", expected a number as the feature's value"},
      {"{\"hits\": {\"hits\": [{\"_id\": \"1\", \"fields\": {\"_ltrlog\": [\n{\"log\": {\"a\": 1}, "
       "\"other\": {\"a\": 1}}]}}]}}",
       ":1:20: found an object, expected the feature \"a\" once"},
      {"{\"hits\": {\"hits\": [{\"_id\": \"1\", \"fields\": {\"_ltrlog\": [{\"log\": {\"a\": "
       "1}}]}},\n"
       "{\"_id\": \"1\", \"fields\": {\"_ltrlog\": [{\"log\": {\"a\": 2}}]}}]}}",
       ":2:9: found document \"1\" of query \"f\" with other features than in ..."},
      {"{\"response\": {\"docs\": [{\"id\": \"a\"}]}}",
       ":1:24: found an object, expected an object with the member \"[features]\""},
      {"{\"response\": {\"docs\": [{\"id\": \"a\", \"[features]\": \"t=1,b\"}]}}",
       ":1:50: found \"t=1,b\", expected features as name=value,..."},
      {"{\"response\": {\"docs\": [{\"id\": \"a\", \"[features]\": \"t=inf\"}]}}",
       ":1:50: found \"t=inf\", expected features as name=value,..."},
      {"{\"response\": {\"docs\": [{\"id\": \"a\", \"[features]\": \"a=0.5;b=3\"}]}}",
       ":1:50: found \"a=0.5;b=3\", expected features as name=value,..."},
      {"{\"response\": {\"docs\": [{\"id\": \"a\", \"[features]\": \"t=1,a;b=3\"}]}}",
       ":1:50: found \"t=1,a;b=3\", expected features as name=value,..."},
      {"{\"response\": {\"docs\": [{\"id\": \"a\", \"[features]\": \"a=b=3\"}]}}",
       ":1:50: found \"a=b=3\", expected features as name=value,..."},
  });
}

TEST_F(judgment_files, what_a_form_cannot_hold) {
  struct row {
    std::string input;
    judgment_form form;
    std::string message;
  };
  for (row const& one :
       std::vector<row>{{"1 0 a 0.5\n", judgment_form::qrels,
                         ":1:5: found grade 0.5 of document \"a\", expected a whole number for "
                         "qrels; --to csv, rre and srw can hold fractions"},
                        {"qid,docid,rating\n1,a b,1\n", judgment_form::qrels,
                         ":2:3: found document \"a b\", expected one word other than # for qrels"},
                        {"qid,docid,rating\n1 2,a,1\n", judgment_form::qrels,
                         ":2:5: found query \"1 2\", expected one word other than # for qrels"},
                        {"query,docid,rating\na,b\xff,1\n", judgment_form::rre,
                         ":2:3: found \"b\\xff\", expected UTF-8 for JSON"},
                        {"query,docid,rating\na\xff,b,1\n", judgment_form::srw,
                         ":2:4: found \"a\\xff\", expected UTF-8 for JSON"}}) {
    judgments_read const given = read(one.input);
    EXPECT_EQ(complaint_of(file(one.input), [&] { written(given.judgments, one.form); }),
              one.message);
  }
}

TEST_F(judgment_files, queries_get_ids_and_texts) {
  judgments_read given = read("query,docid,rating\nb x,1,2\na,2,1\nb x,3,0\n");
  judgments_read const texts = given;
  query_ids ids;
  ids.name_queries(given, false);
  EXPECT_EQ(shown(given.judgments), "1 1 2.0\n1 3 0.0\n2 2 1.0\n");
  ASSERT_TRUE(ids.has_new());
  std::string const path = folder_ / "queries.tsv";
  output_file out(path);
  ids.write(out);
  out.commit();
  EXPECT_EQ(read_file(path, "queries"), "1\tb x\n2\ta\n");
  query_ids known(context{}, path);
  known.name_queries(given, true);
  EXPECT_EQ(shown(given.judgments), shown(texts.judgments));
  EXPECT_FALSE(known.has_new());

  given = read("qid,docid,rating\n7,1,2\n");
  std::string const place = folder_ / "f.json";
  EXPECT_EQ(complaint_of(place, [&] { known.name_queries(given, true); }),
            ":2:3: found query \"7\", expected its text in " + path);
  EXPECT_EQ(complaint_of(place, [&] { query_ids().name_queries(given, true); }),
            ":2:3: found query \"7\", expected its text in the file of --queries");
  EXPECT_EQ(complaint_of(place,
                         [&] {
                           read_judgments(context{}, file("query,docid,rating\nx,1,2\n"), {}, "id",
                                          given);
                           query_ids().name_queries(given, false);
                         }),
            ":2:3: found query \"x\" by its text, but other queries by their "
            "ids; expected --queries FILE, which has ids and texts");
  file("1\ta\n2\ta\n", "queries.tsv");
  EXPECT_EQ(complaint_of(path, [&] { query_ids(context{}, path); }),
            ":2:1: found the text of query \"1\" again, expected each text once");
}

TEST_F(judgment_files, logs_are_labelled) {
  judgments_read given = read("1 0 a 2\n1 0 c 1\n2 0 a 0\n");
  std::string const log =
      "{\"qid\": 2, \"response\": {\"docs\": [{\"id\": \"a\", \"[features]\": \"t=1.5,b=2\"}]}}\n"
      "{\"qid\": 1, \"response\": {\"docs\": [{\"id\": \"x\", \"[features]\": \"t=1\"},\n"
      "{\"id\": \"a\", \"[features]\": \"t=0.1\"}]}}\n";
  read_judgments(context{}, file(log), {}, "id", given);
  labelled_log const labelled = label_log(given.log, given.judgments);
  EXPECT_EQ(labelled.without_label, 1U);
  EXPECT_EQ(labelled.without_features, 1U);
  std::string const path = folder_ / "train.txt";
  output_file out(path);
  write_svmlight(labelled.data, out);
  out.commit();
  EXPECT_EQ(read_file(path, "a data set"),
            "0 qid:2 b:2 t:1.5 #docid = a\n2 qid:1 t:0.1 #docid = a\n");
}

TEST_F(judgment_files, what_letor_cannot_hold) {
  auto const complaint = [&](std::string const& judgments, std::string const& feature) {
    judgments_read given = read(judgments);
    std::string const path =
        file("{\"qid\": \"1\", \"response\": {\"docs\": [{\"id\": \"a\", \"[features]\": \"" +
             feature + "=1\"}]}}");
    read_judgments(context{}, path, {}, "id", given);
    return complaint_of(path, [&] { label_log(given.log, given.judgments); });
  };
  EXPECT_EQ(complaint("1 0 a 1\n", "t"), "OK");
  EXPECT_EQ(complaint("1 0 a 1\n", "12"), "OK");
  EXPECT_EQ(
      complaint("1 0 a 1\n", "a b"),
      ":1:43: found the feature \"a b\", expected a name that begins with a letter and has no "
      "blanks, colons and #, for letor");
  EXPECT_EQ(
      complaint("1 0 a -1\n", "t"),
      ":1:5: found grade -1 of document \"a\", expected a whole number of 0 or more for letor");
  EXPECT_EQ(complaint("1 0 b 1\n", "t"),
            ":1:1: found no document with a judgment, expected at least one");
}

}  // namespace
}  // namespace rulerank::datasets::judgments_test
