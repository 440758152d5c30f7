#include "labelling/label_sources.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "labelling/judge/program_judge.hpp"
#include "labelling/testing.hpp"

#include <map>

namespace rulerank::inline v0::labelling::label_sources_test {
namespace {

class sources_of_labels : public pool_test {
 protected:
  /// source qid docid -> label
  static std::map<std::string, std::int32_t> all(label_sources const& read) {
    eval::ratings const given = read.ratings();
    std::map<std::string, std::int32_t> labels;
    for (eval::rating const& r : given.all) {
      auto const& [qid, docid] = read.units()[r.unit];
      EXPECT_EQ(given.qids[given.query_of[r.unit]], qid);
      labels[fmt::format("{} {} {}", given.sources[r.source], qid, docid)] = r.label;
    }
    return labels;
  }
  using expected = std::map<std::string, std::int32_t>;
};

TEST_F(sources_of_labels, are_judgments_tables_journals_and_records) {
  {
    al::answer_journal journal(folder + "/journal", "x", pool, al::labellers::several);
    journal.add(3, 1, "An");
    journal.add(3, 2, "Bo");
    journal.add(3, 0, "An");
    journal.add(4, std::nullopt, "An");
    al::answer_journal alone(folder + "/alone", "y", pool);
    alone.add(3, 2);
  }
  write("qrels", "q0 0 D3 1\nq1 0 D12 2\nq1 0 D13 -1\n");
  write("table.csv",
        "docid,label,qid,labeller\nD3,2,q0,Cy\n'007,1,q0,Cy\nD9,skip,q0,Cy\nD9,,q0,Cy\n");
  write("record", std::string(judge_record_mark) +
                      "\n{\"qid\":\"q0\",\"docid\":\"D3\",\"label\":0,\"source\":\"model\"}\n"
                      "{\"qid\":\"q0\",\"docid\":\"D4\",\"failed\":\"it ended\"}\n"
                      "{\"qid\":\"q0\",\"docid\":\"D5\",\"label\":null,\"source\":\"model\"}\n");
  label_sources read(&pool);
  for (char const* const name : {"qrels", "table.csv", "journal", "alone", "record"})
    read.read(ctx, folder + "/" + name, name, false);
  EXPECT_EQ(all(read), (expected{{"qrels q0 D3", 1},
                                 {"qrels q1 D12", 2},
                                 {"Cy q0 D3", 2},
                                 {"Cy q0 007", 1},
                                 {"An q0 D3", 0},
                                 {"Bo q0 D3", 2},
                                 {"alone q0 D3", 2},
                                 {"model q0 D3", 0}}));
  label_sources renamed;
  renamed.read(ctx, folder + "/record", "judge", true);
  EXPECT_EQ(all(renamed), (expected{{"judge q0 D3", 0}}));
}

TEST_F(sources_of_labels, are_refused_with_line_and_column) {
  auto const complaint = [&](std::string const& text) {
    std::string const path = write("in", text);
    return testing_tools::complaint_of(path, [&] {
      label_sources read;
      read.read(ctx, path, "in", false);
    });
  };
  EXPECT_EQ(complaint("qid\tdocid\tlabel\tlabeller\nq\td\thigh\tAn\n"),
            ":2:5: found 'high', expected a label, which is an integer, or skip");
  EXPECT_EQ(complaint("qid\tlabel\tlabeller\nq\t1\tAn\n"),
            ":1:1: found the column labeller and no column docid, expected qid, docid, label and "
            "labeller");
  EXPECT_EQ(complaint("qid\tdocid\tlabel\tlabeller\nq\td\t1\n"),
            ":2:1: found 3 fields, expected 4 or more");
  EXPECT_TRUE(testing_tools::says(complaint(std::string(judge_record_mark) + "\n{\"label\":1}\n"),
                                  ":2:1: not an answer of a program..."));
  write("journal", "# rulerank answers 1 x\nline\tdocid\tanswer\n");
  label_sources without_pool;
  EXPECT_THROW(without_pool.read(ctx, folder + "/journal", "j", false), usage_error);
}

}  // namespace
}  // namespace rulerank::labelling::label_sources_test
