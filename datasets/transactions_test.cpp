#include "datasets/transactions.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/testing.hpp"

#include <gtest/gtest.h>

namespace rulerank::datasets {
namespace {

using rows = std::vector<std::vector<std::string>>;

/// The names of the items of each transaction.
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
    try {
      read_fimi({}, file(bytes));
    } catch (error const& e) {
      return std::string(e.what()).substr((folder_ / "in").size());
    }
    return "";
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
  EXPECT_EQ(message_of(""), ":1:1: no transactions, expected one a line");
  std::string const expected = ", expected an item, an integer from 0 to 4294967295";
  EXPECT_EQ(message_of("1 2\n3 -4 5\n"), ":2:3: found \"-4\"" + expected);
  EXPECT_EQ(message_of("1 2\n3 bread\n"), ":2:3: found \"bread\"" + expected);
  EXPECT_EQ(message_of("1 2.5\n"), ":1:3: found \"2.5\"" + expected);
  EXPECT_EQ(message_of("4294967296\n"), ":1:1: found \"4294967296\"" + expected);
  EXPECT_EQ(message_of("99999999999999999999999\n"),
            ":1:1: found \"99999999999999999999999\"" + expected);
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
}  // namespace rulerank::datasets
