#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "mpi/agreement.hpp"
#include "mpi/rank_devices.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace rulerank::inline v0::mpi::mpi_test {
namespace {

using rulerank::testing_tools::message_of;
using texts = std::vector<std::string>;

TEST(Agreement, NamesTheLowestRankThatFailed) {
  failure const agreed =
      agreed_failure({"", text_of({3, "bad line"}), text_of({130, "interrupted"})});
  EXPECT_EQ(agreed.code, 3);
  EXPECT_EQ(agreed.message, "rank 1: bad line");
  EXPECT_EQ(agreed_failure({"", text_of({130, "interrupted"})}).code, 130);
}

TEST(Agreement, SaysOnceWhatAllRanksSay) {
  std::string const same = text_of({2, "no such option"});
  EXPECT_EQ(agreed_failure({same, same, same}).message, "no such option");
  EXPECT_EQ(agreed_failure({same}).message, "no such option");
}

TEST(Agreement, BadInputOfTasksIsThatOfTheFirst) {
  texts const failed{text_of({1, "no space"}), text_of({3, "line 9", 5}), "",
                     text_of({2, "an id", 2}), text_of({3, "line 7", 4})};
  failure const agreed = agreed_failure(failed);
  EXPECT_EQ(agreed.code, 2);
  EXPECT_EQ(agreed.message, "an id");
  // A lack of memory or of a device in a task is that rank's own failure.
  EXPECT_EQ(agreed_failure({"", text_of({1, "out of memory", 7})}).message,
            "rank 1: out of memory");
  EXPECT_EQ(
      agreed_failure({text_of({1, "out of memory", 7}), text_of({1, "out of memory", 8})}).message,
      "out of memory");
}

/// The comparison of versions uses it.
TEST(Agreement, HasOneTextInAllVersions) {
  EXPECT_EQ(text_of({2, "version: 2"}), "\2version: 2");
  EXPECT_EQ(agreed_failure({"\2version: 2", "\2version: 2"}).message, "version: 2");
}

TEST(Agreement, RefusesAnotherVersion) {
  expect_same("version", texts{"1", "1", "1"});
  EXPECT_EQ(message_of<usage_error>([] {
              expect_same("version", texts{"1", "1", "2"});
            }),
            "version: found '2' on rank 2 and '1' on rank 0, expected the same on all ranks");
}

TEST(RankDevices, RanksOfAMachineShareThem) {
  EXPECT_EQ(devices_of_rank({0, 1, 2, 3}, 1, 2), (std::vector<int>{2, 3}));
  EXPECT_EQ(devices_of_rank({4, 5, 6}, 0, 2), (std::vector<int>{4, 5}));
  EXPECT_EQ(devices_of_rank({4, 5}, 3, 4), std::vector<int>{5});
  EXPECT_EQ(devices_of_rank({7}, 0, 1), std::vector<int>{7});
  EXPECT_TRUE(devices_of_rank({}, 1, 2).empty());
}

TEST(Communicator, IsAloneWhereNoneLaunchedIt) {
  for (char const* const name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"})
    if (std::getenv(name) != nullptr) GTEST_SKIP() << name << " is set";
  communicator const ranks;
  EXPECT_EQ(ranks.size(), 1);
  EXPECT_TRUE(ranks.is_first());
  EXPECT_EQ(ranks.size_here(), 1);
  EXPECT_EQ(ranks.gather("bytes"), texts{"bytes"});
  EXPECT_TRUE(find_one_file(ranks, "/proc/self/exe"));
  EXPECT_FALSE(find_one_file(ranks, "/proc/self"));
  EXPECT_FALSE(find_one_file(ranks, "/proc/self/absent"));
  EXPECT_EQ(sum(ranks, 7), 7U);
  EXPECT_EQ(ranks.fail({3, "bad line"}).message, "bad line");
}

}  // namespace
}  // namespace rulerank::mpi::mpi_test
