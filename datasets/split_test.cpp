#include "datasets/split.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "core/sha256.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::split_test {
namespace {

using rulerank::testing_tools::message_of;
using testing_tools::temporary_folder;

std::string content(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string fold_file(std::string const& folder, std::size_t fold, std::string const& name) {
  return content(fmt::format("{}/Fold{}/{}.txt", folder, fold + 1, name));
}

/// String qids, comments with several hashes, unusual whitespace, numbers that do not print back.
std::string odd_text(std::size_t queries) {
  random_engine engine(11);
  std::string text;
  for (std::size_t q = 0; q < queries; ++q) {
    std::size_t const size = 1 + uniform_below(engine, 4);
    for (std::size_t d = 0; d < size; ++d)
      text +=
          fmt::format("{} qid:topic-{}/x  1:0.{:03}00  7:1e-3\t9:+.5 #docid = D{}-{} # inc = 1\n",
                      uniform_below(engine, 3), q, uniform_below(engine, 1000), q, d);
  }
  return text;
}

TEST(letor_rotation, is_that_of_letor) {
  using subsets = std::vector<std::size_t>;
  EXPECT_EQ(letor_rotation(0, 5).train, (subsets{0, 1, 2}));
  EXPECT_EQ(letor_rotation(0, 5).vali, 3U);
  EXPECT_EQ(letor_rotation(0, 5).test, 4U);
  EXPECT_EQ(letor_rotation(3, 5).train, (subsets{3, 4, 0}));
  EXPECT_EQ(letor_rotation(3, 5).vali, 1U);
  EXPECT_EQ(letor_rotation(3, 5).test, 2U);
  EXPECT_EQ(letor_rotation(2, 3).train, (subsets{2}));
  EXPECT_EQ(letor_rotation(2, 3).vali, 0U);
  EXPECT_EQ(letor_rotation(2, 3).test, 1U);
  for (std::size_t const folds : {0, 1, 2}) EXPECT_THROW(letor_rotation(0, folds), usage_error);
}

TEST(letor_rotation, uses_every_part_once_a_fold_and_tests_each_once) {
  for (std::size_t folds = 3; folds <= 12; ++folds) {
    std::set<std::size_t> tested;
    for (std::size_t fold = 0; fold < folds; ++fold) {
      fold_subsets const roles = letor_rotation(fold, folds);
      std::set<std::size_t> used(roles.train.begin(), roles.train.end());
      EXPECT_EQ(roles.train.size(), folds - 2);
      used.insert(roles.vali);
      used.insert(roles.test);
      EXPECT_EQ(used.size(), folds);
      EXPECT_LT(*used.rbegin(), folds);
      tested.insert(roles.test);
    }
    EXPECT_EQ(tested.size(), folds);
  }
}

TEST(letor_rotation, agrees_with_the_folds_of_mq2008) {
  RULERANK_REAL_DATA(folder, "letor/MQ2008");
  for (std::size_t fold = 0; fold < 5; ++fold) {
    fold_subsets const roles = letor_rotation(fold, 5);
    auto const subset = [&](std::size_t p) {
      return content(fmt::format("{}/S{}.txt", folder, p + 1));
    };
    std::string train;
    for (std::size_t const p : roles.train) train += subset(p);
    EXPECT_EQ(lines_of(fold_file(folder, fold, "train")), lines_of(train));
    EXPECT_EQ(lines_of(fold_file(folder, fold, "vali")), lines_of(subset(roles.vali)));
    EXPECT_EQ(lines_of(fold_file(folder, fold, "test")), lines_of(subset(roles.test)));
  }
}

TEST(split_queries, deals_every_query_once_and_evenly) {
  for (std::size_t const queries : {3, 4, 5, 17, 64}) {
    dataset const data = parse_svmlight({}, odd_text(queries), "odd.txt");
    ASSERT_EQ(data.queries.size(), queries);
    for (std::size_t const folds : {std::size_t{3}, std::size_t{5}, queries}) {
      if (folds > queries) continue;
      for (bool const shuffled : {false, true}) {
        auto const subsets = split_queries({}, data, {folds, shuffled});
        ASSERT_EQ(subsets.size(), folds);
        std::vector<std::size_t> all;
        for (auto const& subset : subsets) {
          EXPECT_GE(subset.size(), queries / folds);
          EXPECT_LE(subset.size(), (queries + folds - 1) / folds);
          EXPECT_TRUE(std::is_sorted(subset.begin(), subset.end()));
          all.insert(all.end(), subset.begin(), subset.end());
        }
        EXPECT_TRUE(shuffled || std::is_sorted(all.begin(), all.end()));
        std::sort(all.begin(), all.end());
        std::vector<std::size_t> expected(queries);
        std::iota(expected.begin(), expected.end(), std::size_t{0});
        EXPECT_EQ(all, expected);
      }
    }
  }
}

TEST(split_queries, follows_the_seed) {
  dataset const data = parse_svmlight({}, odd_text(40), "odd.txt");
  context one, other;
  other.seed = 2;
  EXPECT_EQ(split_queries(one, data, {}), split_queries(one, data, {}));
  EXPECT_NE(split_queries(one, data, {}), split_queries(other, data, {}));
  EXPECT_EQ(split_queries(one, data, {5, false}), split_queries(other, data, {5, false}));
}

TEST(split_queries, refuses_what_cannot_be_split) {
  dataset const data = parse_svmlight({}, odd_text(4), "few.txt");
  EXPECT_THROW(split_queries({}, data, {2, true}), usage_error);
  EXPECT_THROW(split_queries({}, data, {0, true}), usage_error);
  EXPECT_EQ(message_of([&] {
              split_queries({}, data, {5, true});
            }),
            "few.txt:1:1: found 4 queries, expected at least 5, one for each fold");
}

TEST(write_split, writes_lines_verbatim_and_each_query_in_one_test_part) {
  temporary_folder const folder;
  std::string const text = odd_text(23);
  dataset const data = parse_svmlight({}, text, "odd.txt");
  for (std::size_t const folds : {3, 5, 23}) {
    std::string const out = folder / fmt::format("deep/er/{}", folds);
    write_split({}, data, {folds, true}, out);
    std::vector<std::string> expected = lines_of(text), tested;
    std::sort(expected.begin(), expected.end());
    std::map<std::string, std::size_t> test_fold;
    for (std::size_t fold = 0; fold < folds; ++fold) {
      std::vector<std::string> whole;
      std::map<std::string, std::string> part_of;
      for (std::string const name : {"train", "vali", "test"}) {
        std::string const written = fold_file(out, fold, name);
        EXPECT_EQ(written.back(), '\n');
        for (std::string const& line : lines_of(written)) {
          whole.push_back(line);
          std::string const qid = line.substr(2, line.find("  ") - 2);
          EXPECT_EQ(part_of.emplace(qid, name).first->second, name) << "query in two subsets";
          if (name == "test") {
            tested.push_back(line);
            EXPECT_EQ(test_fold.emplace(qid, fold).first->second, fold);
          }
        }
        EXPECT_NO_THROW(parse_svmlight({}, written, name));
      }
      std::sort(whole.begin(), whole.end());
      EXPECT_EQ(whole, expected) << "fold " << fold;
    }
    EXPECT_EQ(test_fold.size(), 23U);
    std::sort(tested.begin(), tested.end());
    EXPECT_EQ(tested, expected);
    EXPECT_FALSE(std::filesystem::exists(fmt::format("{}/Fold{}", out, folds + 1)));
  }
}

TEST(write_split, keeps_the_order_of_the_file) {
  temporary_folder const folder;
  std::string const text = odd_text(10);
  dataset const data = parse_svmlight({}, text, "odd.txt");
  write_split({}, data, {5, false}, folder / "out");
  EXPECT_EQ(fold_file(folder / "out", 0, "train") + fold_file(folder / "out", 0, "vali") +
                fold_file(folder / "out", 0, "test"),
            text);
}

TEST(write_folds, says_the_checksums_of_its_files) {
  temporary_folder const folder;
  dataset const data = parse_svmlight({}, odd_text(10), "odd.txt");
  auto const folds = split_folds({}, data, {.folds = 3});
  for (written_fold const& fold : write_folds({}, data, folds, folder / "out", true))
    for (std::size_t subset = 0; char const* const name : {"train", "vali", "test"})
      EXPECT_EQ(fold.sha256[subset++], sha256_of_file(fold.folder + "/" + name + ".txt"));
  EXPECT_EQ(write_folds({}, data, folds, folder / "out")[0].sha256[0], "");
}

TEST(write_split, leaves_the_old_files_when_it_is_stopped) {
  temporary_folder const folder;
  dataset const data = parse_svmlight({}, odd_text(12), "odd.txt");
  write_split({}, data, {3, false}, folder / "out");
  std::string const before = fold_file(folder / "out", 0, "test");
  context ctx;
  ctx.progress = [](std::string_view, std::uint64_t done, std::uint64_t) { return done < 20; };
  EXPECT_THROW(write_split(ctx, data, {3, true}, folder / "out"), interrupted);
  EXPECT_EQ(fold_file(folder / "out", 0, "test"), before);
  for (auto const& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    EXPECT_TRUE(entry.is_directory() || entry.path().extension() == ".txt") << entry.path();
}

TEST(write_split, says_what_it_cannot_write) {
  temporary_folder const folder;
  dataset const data = parse_svmlight({}, odd_text(12), "odd.txt");
  std::ofstream(folder / "file") << "in the way";
  EXPECT_THROW(write_split({}, data, {3, true}, folder / "file"), output_error);
}

}  // namespace
}  // namespace rulerank::datasets::split_test
