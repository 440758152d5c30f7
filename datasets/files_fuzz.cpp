// Fuzz target (core/fuzzing.cpp): the readers of scores, judgments, runs, group sizes, cuts,
// documents, topics, judgment lists, transactions and names read any bytes or report the position
// of a fault. The first byte selects the reader.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/discretizer/discretizer_json.hpp"
#include "datasets/item_words.hpp"
#include "datasets/judgments/judgments.hpp"
#include "datasets/scores.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/transactions.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;
using namespace rulerank::datasets;

void check_judgments(qrels const& read) {
  require(!read.queries.empty(), "no judgment was read");
  for (judged_query const& query : read.queries) {
    require(!query.qid.empty() && !query.documents.empty(), "a query has nothing");
    for (std::size_t d = 0; d < query.documents.size(); ++d)
      require(query.documents[d].line >= query.line &&
                  (d == 0 || query.documents[d - 1].docno < query.documents[d].docno),
              "judgments are not in order");
  }
}

void check_run(run const& read) {
  require(!read.queries.empty() && !read.tag.empty(), "no run was read");
  for (run_query const& query : read.queries) {
    std::set<std::string> seen;
    require(!query.qid.empty() && !query.documents.empty(), "a query has nothing");
    for (run_entry const& one : query.documents)
      require(std::isfinite(one.score) && seen.insert(one.docno).second,
              "a document has no score or two");
  }
}

void check_documents(std::string const& path, text_format format) {
  std::set<std::string> ids;
  read_documents(context(), path, format, [&](text_document&& document) {
    require(!document.id.empty() && ids.insert(document.id).second, "a document has no own id");
    for (std::size_t i = 0; i < document.vector.size(); ++i)
      require(std::isfinite(document.vector[i].value) && document.vector[i].value != 0 &&
                  (i == 0 || document.vector[i - 1].feature < document.vector[i].feature),
              "a vector is not in order");
  });
  require(!ids.empty(), "no document was read");
}

void check_judgment_list(std::string const& path) {
  judgments_read read;
  read_judgments(context(), path, {}, "id", read);
  require(read.judgments.queries().empty() != read.log.queries().empty(),
          "there are no judgments and no log, or both");
  for (graded_query const& query : read.judgments.queries()) {
    require(!query.key.name.empty() && !query.documents.empty(), "a query has nothing");
    for (graded_document const& one : query.documents)
      require(!one.id.empty() && std::isfinite(one.grade) &&
                  read.judgments.find(query.key, one.id) == &one,
              "a document has no grade or two");
  }
  for (logged_query const& query : read.log.queries())
    for (logged_document const& one : query.documents)
      for (feature_value const& entry : one.features)
        require(entry.feature < read.log.features.size(), "a feature has no name");
}

constexpr int readers = 13;
// Long because it is one switch over all readers.
void read(int which, std::string const& path) {
  context const ctx;
  switch (which) {
    case 0: {
      score_list const scores = read_scores(ctx, path);
      require(!scores.values.empty(), "no score was read");
      for (double s : scores.values) require(std::isfinite(s), "a score is not finite");
      break;
    }
    case 1:
      check_judgments(read_qrels(ctx, path));
      break;
    case 12:
      check_judgment_list(path);
      break;
    case 2:
      check_run(read_run(ctx, path));
      break;
    case 3: {
      discretizer const cuts = read_discretizer(path);
      nlohmann::json const json = to_json(cuts);
      require(to_json(discretizer_from_json(json, path)) == json, "cuts do not come back");
      break;
    }
    case 4:
      check_documents(path, text_format::automatic);
      break;
    case 7:
      check_documents(path, text_format::svmlight);
      break;
    case 10:
      check_documents(path, text_format::trec);
      break;
    case 11:
      check_documents(path, text_format::jsonl);
      break;
    case 5:
    case 6: {
      transactions const read =
          which == 5 ? read_fimi(ctx, path) : read_baskets(ctx, path, {.separator = ','});
      require(read.size() > 0, "no transaction was read");
      for (std::uint32_t const x : read.items)
        require(x < read.names.size(), "an item has no name");
      break;
    }
    case 9:
      for (auto const& [feature, name] : read_feature_names(ctx, path))
        require(!name.empty(), "a feature has no name");
      break;
    default: {
      svmlight_options options;
      options.group_file = path;
      parse_svmlight(ctx, "0 1:1\n1 1:2\n0 1:3\n", "text", options);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size == 0) return 0;
  memory_file const file({reinterpret_cast<char const*>(bytes) + 1, size - 1});
  try {
    read(bytes[0] % readers, file.path());
  } catch (error const& e) {
    require(!e.where().file.empty(), "an error names no file");
    require(e.where().line > 0, "an error names no line");
  }
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  std::string const discretizer =
      R"({"format":"rulerank-discretizer","version":1,"method":"tube","bins":10,"missing_values":"item",)"
      R"("unlisted":"zero","norm":"none","features":[{"feature":1,"cuts":[0.5,1.5]},{"feature":2,"cuts":[]}]})";
  std::string const topics =
      "<top>\n<num> Number: 051\n<title> Topic: a &amp; b\n<desc> Description:\nc\n</top>\n"
      "<top>\n<num>52</num><title></title>\n<desc>d &#233; <!-- x --> &x;</desc>\n</TOP>\n";
  std::string const documents =
      "<DOC>\n<DOCNO> A-1 </DOCNO>\n<HEADLINE>h</HEADLINE>\n<TEXT>a < b <p x=1> c</TEXT>\n"
      "</DOC>\n<doc><docno>2</docno><SCRIPT>no</SCRIPT> all\r\n</doc>\n";
  std::string const json_lines = R"({"_id":"a","text":"\u00e9","metadata":{}})"
                                 "\n\n"
                                 R"({"id":-2,"text":"","label":3})"
                                 "\n";
  std::string const judgments = "\14";
  std::vector<std::string> seeds{
      std::string("\0", 1) + "0.5\n-1e-3\n",
      std::string("\0", 1) + "q1\t0\t0.5\nq1\t1\t0.25\n",
      "\1q1 0 d1 1\nq1 0 d2 -1\n",
      "\2q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.25 tag\n",
      "\3" + discretizer,
      "\0102\n1\n",  // \010, 2; an escape has three octal digits
      "\0051 2 2\n\n4294967295 0\r\n",
      "\6green tea, milk\n\nmilk",
      "\0041\tone\n2\ttwo\r\n",
      "\4{\"id\":1,\"label\":\"l\",\"text\":\"one\"}\n{\"id\":\"b\",\"title\":\"\"}\n",
      "\4.I 1\n.T\na title\n.W\ntext\n.I 2\n.W\n",
      "\7-1 3:0.5 0:-2 # one\n+1.5 qid:2 7:1e-3\n",
      "\11# names\n1\tBM25 of title\n 7  inlinks\r\n",
      "\1query-id\tcorpus-id\tscore\nq1\td1\t1\n# x\nq2\t#1\t+2\n",
      "\12" + topics,
      "\12" + documents,
      "\13" + json_lines,
      judgments + "query;docid;rating\n\"a \"\"b\";1;0.5\nc;2;\n",
      judgments +
          R"({"judgmentRatings":[{"query":"a","ratings":[{"docId":"x\u00e9","rating":"0.5"},{"docId":2,"rating":1}]}]})",
      judgments +
          R"({"topics":[{"query_groups":[{"queries":[{"placeholders":{"$query":"a"}}],"relevant_documents":)"
          R"({"1":{"gain":3}}}]}],"id_field":"id"})",
      judgments +
          R"({"queries":[{"placeholders":{"$query":"a"},"relevant_documents":{"":["x"],"3":["1",2]}}]})",
      judgments +
          R"({"qid":1,"hits":{"hits":[{"_id":"a","fields":{"_ltrlog":[{"log":[{"name":"t","value":1.5},{"name":"b"}]}]}}]}})"
          "\n"
          R"({"query":"q","hits":{"hits":[]}})",
      judgments +
          R"({"responseHeader":{"params":{"q":"a"}},"response":{"docs":[{"id":"1","[features]":"t=1,b=NaN"}]}})",
  };
  return seeds;
}
