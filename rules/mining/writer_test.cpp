#include "rules/mining/writer.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/testing.hpp"
#include "rules/mining/association_rules.hpp"

#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::rules::writer_test {
namespace {

using rulerank::testing_tools::complaint_of;
using rulerank::testing_tools::input_and_message;

std::vector<std::string> const names{"a", "green tea", "\xffq"};

class mining_output : public ::testing::Test {
 protected:
  /// An itemset and two rules as they are written.
  std::string written(writer_options how) const {
    output_file out(folder_ / "out");
    mining_writer writer(out, names, 8, std::move(how));
    std::vector<item> const x{1, 0};
    writer.write(x, 3);
    std::vector<item> const left{0, 1}, right{2};
    rule_list rules;
    rules.add(left, right, {8, 4, 5, 3});
    rules.add(right, left, {8, 3, 4, 3});
    writer.write(rules[0], 0.125);
    writer.write(rules[1], 1);
    out.commit();
    std::ifstream in(folder_ / "out");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  testing_tools::temporary_folder folder_;
};

TEST_F(mining_output, borgelt) {
  EXPECT_EQ(written({}),
            "a green tea (3)\n\xffq <- a green tea (4, 75)\na green tea <- \xffq (3, 100)\n");
  EXPECT_EQ(written({.percent = true, .measures = {"lift", "p_holm"}}),
            "a green tea (37.5)\n\xffq <- a green tea (50, 75, 1.2, 0.125)\n"
            "a green tea <- \xffq (37.5, 100, 2, 1)\n");
}

TEST_F(mining_output, spmf) {
  EXPECT_EQ(written({.format = mining_format::spmf, .measures = {"conviction"}}),
            "a green tea #SUP: 3\na green tea ==> \xffq #SUP: 3 #CONF: 0.75 #CONVICTION: 1.5\n"
            "\xffq ==> a green tea #SUP: 3 #CONF: 1 #CONVICTION: inf\n");
}

TEST_F(mining_output, json) {
  std::istringstream lines(written({.format = mining_format::json}));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"items": ["a", "green tea"], "support": 3, "share": 0.375})");
  std::getline(lines, line);
  auto const rule = nlohmann::json::parse(line);
  EXPECT_EQ(rule["antecedent"], (nlohmann::json{"a", "green tea"}));
  EXPECT_EQ(rule["consequent"], nlohmann::json::array({"\xef\xbf\xbdq"}))
      << "bytes that are no UTF-8";
  EXPECT_EQ(rule["with_both"], 3);
  EXPECT_EQ(rule["p_holm"], 0.125);
  for (rule_measure const& m : rule_measures())
    EXPECT_EQ(rule[std::string(m.name)], m.of({8, 4, 5, 3})) << m.name;
  std::getline(lines, line);
  EXPECT_TRUE(nlohmann::json::parse(line)["conviction"].is_null()) << "infinite";
}

TEST_F(mining_output, wrong_usage) {
  EXPECT_THROW(check_measures(std::vector<std::string>{"lift", "cosine"}), usage_error);
  EXPECT_THROW(mining_format_from("xml"), usage_error);
  for (char const* name : {"borgelt", "spmf", "json"})
    EXPECT_EQ(name_of(mining_format_from(name)), name);
}

class appearance_files : public ::testing::Test {
 protected:
  std::vector<appearance> read(std::string_view bytes) const {
    write_file(folder_ / "in", bytes);
    return read_appearances({}, folder_ / "in", names);
  }
  std::string message_of(std::string_view bytes) const {
    return complaint_of(folder_ / "in", [&] { read(bytes); });
  }
  testing_tools::temporary_folder folder_;
};

TEST_F(appearance_files, are_read) {
  using enum appearance;
  EXPECT_EQ(read("antecedent\n"), (std::vector{antecedent, antecedent, antecedent}));
  EXPECT_EQ(read("  in \r\n\ngreen tea head\r\na -"),
            (std::vector{neither, consequent, antecedent}));
  EXPECT_EQ(read("none\na\tboth\n"), (std::vector{both, neither, neither}));
}

TEST_F(appearance_files, faults) {
  input_and_message const rows[] = {
      {"\n",
       ":1:1: found an empty file, expected a line with antecedent, consequent, both or neither"},
      {"anywhere\n", ":1:1: found \"anywhere\", expected antecedent, consequent, both or neither"},
      {"a both\n",
       ":1:1: found item \"a\", expected first a line for all other items: antecedent, consequent, "
       "both or neither"},
      {"both\n  milk in\n",
       ":2:3: found \"milk\", expected an item of the transactions and antecedent, consequent, "
       "both or neither"},
      {"both\na in\na out\n",
       ":3:1: found item \"a\" again (first on line 2), expected each item once"},
      {"both\na sideways\n",
       ":2:3: found \"sideways\", expected antecedent, consequent, both or neither"},
  };
  expect_messages(rows, [&](std::string const& text) { return message_of(text); });
}

}  // namespace
}  // namespace rulerank::rules::writer_test
