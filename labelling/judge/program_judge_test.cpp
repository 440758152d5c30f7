#include "labelling/judge/program_judge.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/testing.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::labelling::program_judge_test {
namespace {

using nlohmann::ordered_json;

class judges : public testing::Test {
 protected:
  std::string record() const { return folder / "record"; }
  judge_options options(std::string command) const {
    judge_options made;
    made.command = std::move(command);
    made.record = record();
    made.seconds = 20;
    made.max_label = 2;
    return made;
  }
  /// A program in sed: the script gets each request as a line.
  static std::string sed(std::string const& script) { return "sed -u -E '" + script + "'"; }
  /// Answers with the last digit of the docid, modulo 2.
  static std::string parity() {
    return sed(
        R"(s/^\{"id":("[0-9]+").*"docid":"D[0-9]*[02468]".*/{"id":\1,"label":0,"cost":0.5}/;)"
        R"(s/^\{"id":("[0-9]+").*"docid":"D[0-9]*[13579]".*/{"id":\1,"label":1,"cost":0.5}/)");
  }
  static std::vector<ordered_json> requests(std::size_t count) {
    std::vector<ordered_json> made;
    for (std::size_t d = 0; d < count; ++d)
      made.push_back({{"qid", "q"}, {"docid", fmt::format("D{}", d)}});
    return made;
  }
  std::vector<ordered_json> recorded() const {
    std::ifstream in(record());
    std::vector<ordered_json> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(ordered_json::parse(line));
    return lines;
  }

  context const ctx{};
  rulerank::testing_tools::temporary_folder const folder;
};

TEST_F(judges, answer_once_and_are_remembered) {
  auto const asked = requests(10);
  {
    program_judge judge(options(parity()));
    auto const verdicts = judge.judge(ctx, asked);
    for (std::size_t d = 0; d < asked.size(); ++d) {
      ASSERT_TRUE(verdicts[d]);
      EXPECT_EQ(verdicts[d]->label, static_cast<std::int32_t>(d % 2));
      EXPECT_EQ(verdicts[d]->source, "program");
    }
    EXPECT_EQ(judge.calls(), 10U);
    EXPECT_DOUBLE_EQ(judge.cost(), 5);
  }
  EXPECT_EQ(recorded().size(), 11U);
  judge_options no_calls = options(parity());
  no_calls.most_calls = 10;
  program_judge again(no_calls);
  auto const verdicts = again.judge(ctx, asked);
  EXPECT_TRUE(std::ranges::all_of(verdicts, [](auto const& v) { return v.has_value(); }));
  EXPECT_EQ(again.calls(), 10U);
  EXPECT_EQ(again.recalled(), 10U);
  EXPECT_FALSE(again.judge(ctx, requests(11)).back());
  EXPECT_EQ(again.problem(), "the budget of calls is used up");
}

TEST_F(judges, are_asked_again_by_another_command) {
  program_judge(options(parity())).judge(ctx, requests(3));
  program_judge other(options(parity() + " | cat"));
  other.judge(ctx, requests(3));
  EXPECT_EQ(other.recalled(), 0U);
  EXPECT_EQ(other.calls(), 6U);
}

TEST_F(judges, stop_at_a_budget_of_costs) {
  judge_options limited = options(parity());
  limited.most_cost = 1.7;  // three answers of .5
  program_judge judge(limited);
  auto const verdicts = judge.judge(ctx, requests(10));
  EXPECT_EQ(std::ranges::count_if(verdicts, [](auto const& v) { return v.has_value(); }), 3);
  EXPECT_DOUBLE_EQ(judge.cost(), 1.5);
  EXPECT_EQ(judge.problem(), "the budget of costs is used up");
}

TEST_F(judges, count_the_costs_of_failed_answers) {
  judge_options limited =
      options(sed(R"(s/^\{"id":("[0-9]+").*/{"id":\1,"error":"too long","cost":0.5}/)"));
  limited.most_cost = 1.2;  // two answers of .5
  for (int run = 0; run < 2; ++run) {
    program_judge judge(limited);
    EXPECT_EQ(judge.cost(), run == 0 ? 0 : 1);
    EXPECT_FALSE(judge.judge(ctx, requests(1))[0]);
    EXPECT_EQ(judge.cost(), 1);
    EXPECT_EQ(judge.problem(), "the budget of costs is used up");
    ASSERT_EQ(recorded().size(), 3U);
    EXPECT_EQ(recorded()[2]["cost"], 0.5);
  }
  std::filesystem::remove(record());
  limited.command = sed(R"(s/^\{"id":("[0-9]+").*/{"id":\1,"label":9,"cost":0.5}/)");
  program_judge judge(limited);
  EXPECT_FALSE(judge.judge(ctx, requests(1))[0]);
  EXPECT_EQ(judge.cost(), 1);
}

TEST_F(judges, that_crash_on_one_document_answer_the_others) {
  // The program ends when it reads D4, whatever else it was asked.
  program_judge judge(options("sed -u '/\"D4\"/{Q3}' | " + parity()));
  auto const verdicts = judge.judge(ctx, requests(8));
  for (std::size_t d = 0; d < 8; ++d) EXPECT_EQ(verdicts[d].has_value(), d != 4) << d;
  std::size_t failures = 0;
  for (ordered_json const& line : recorded())
    if (line.contains("failed")) {
      ++failures;
      EXPECT_TRUE(line["failed"].get<std::string>().starts_with("the program ended: ")) << line;
    }
  EXPECT_GE(failures, 3U);
}

TEST_F(judges, that_cannot_run_are_given_up) {
  program_judge judge(options("exit 7"));
  auto const verdicts = judge.judge(ctx, requests(50));
  EXPECT_FALSE(verdicts[0] || verdicts[49]);
  EXPECT_EQ(judge.problem(), "the program ended: exit status 7");
  EXPECT_LE(recorded().size(), 1U + 50 + 2);
}

TEST_F(judges, that_are_silent_run_out_of_time) {
  judge_options slow = options("cat > /dev/null");
  slow.seconds = 0.05;
  program_judge judge(slow);
  EXPECT_FALSE(judge.judge(ctx, requests(1))[0]);
  EXPECT_EQ(judge.problem(), "no answer within 0.05 s");
  EXPECT_EQ(recorded().size(), 4U);
}

TEST_F(judges, answers_that_are_no_labels_are_failures) {
  for (
      auto const& [answer, problem] : std::vector<std::pair<std::string, std::string>>{
          {R"({"id":"0","label":3})", "label: found 3, expected an integer from 0 to 2, or skip"},
          {R"({"id":"0","label":"1"})",
           "label: found string, expected an integer from 0 to 2, or skip"},
          {R"({"id":"0"})", "found no label, expected label"},
          {R"({"id":"0","error":"too busy"})", "the program reports: too busy"},
          {R"({"id":"0","label":1,"cost":-1})", "cost: found -1, expected a number of 0 or more"},
          {R"({"id":"0","label":1,"probabilities":[0.5,0.5]})",
           "probabilities: found array, expected a list of 3 numbers of 0 or more whose sum is 1"},
          {R"({"id":"1","label":1})",
           R"(found "{\"id\":\"1\",\"label\":1}", expected a JSON object with the id of a question)"},
          {"yes", R"(found "yes", expected a JSON object with the id of a question)"}}) {
    std::filesystem::remove(record());
    program_judge judge(options(sed("s/.*/" + answer + "/")));
    EXPECT_FALSE(judge.judge(ctx, requests(1))[0]) << answer;
    EXPECT_EQ(judge.problem(), problem);
    EXPECT_EQ(recorded().size(), 4U) << answer;
  }
}

TEST_F(judges, may_skip_and_give_probabilities_and_reasons) {
  program_judge skips(options(sed(R"(s/^\{"id":("[0-9]+").*/{"id":\1,"label":"skip"}/)")));
  EXPECT_EQ(skips.judge(ctx, requests(1))[0]->label, std::nullopt);
  std::filesystem::remove(record());
  program_judge says(options(sed(
      R"(s/^\{"id":("[0-9]+").*/{"id":\1,"label":2,"probabilities":[0,0.25,0.75],"reason":"so","source":"m"}/)")));
  auto const verdict = says.judge(ctx, requests(1))[0];
  EXPECT_EQ(verdict->probabilities, (std::vector<double>{0, 0.25, 0.75}));
  EXPECT_EQ(verdict->reason, "so");
  EXPECT_EQ(verdict->source, "m");
}

TEST_F(judges, get_many_long_requests_at_once) {
  auto asked = requests(300);
  for (ordered_json& request : asked) request["text"] = std::string(5000, 'x');
  program_judge judge(options(parity()));
  auto const verdicts = judge.judge(ctx, asked);
  EXPECT_TRUE(std::ranges::all_of(verdicts, [](auto const& v) { return v.has_value(); }));
}

TEST_F(judges, are_interrupted_and_leave_a_record) {
  std::stop_source stop;
  context interruptible = ctx;
  interruptible.stop = stop.get_token();
  {
    program_judge judge(options("cat > /dev/null"));
    stop.request_stop();
    EXPECT_THROW(judge.judge(interruptible, requests(2)), interrupted);
  }
  ASSERT_EQ(recorded().size(), 3U);
  EXPECT_EQ(recorded()[2]["failed"], "interrupted");
}

TEST_F(judges, records_are_checked) {
  write_file(record(), "line\tdocid\tanswer\n");
  EXPECT_TRUE(testing_tools::says(
      testing_tools::complaint_of(record(), [&] { program_judge judge(options("cat")); }),
      ":1:1: found no record of a program's answers..."));
  std::filesystem::remove(record());
  { program_judge(options(parity())).judge(ctx, requests(2)); }
  std::ofstream(record(), std::ios::app) << R"({"asked":"x","la)";  // a crash
  program_judge judge(options(parity()));
  EXPECT_EQ(judge.calls(), 2U);
  EXPECT_THROW(program_judge other(options(parity())), output_error) << "two writers";
}

}  // namespace
}  // namespace rulerank::labelling::program_judge_test
