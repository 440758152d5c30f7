#include "knn/search_seconds.hpp"

#include "core/device_rule.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn {
namespace {

constexpr double any_distance = std::numeric_limits<double>::infinity();

bool takes_gpus(search_seconds const& work, int threads) {
  return worth_gpus(work.thread_s, threads, work.gpu_s);
}

TEST(SearchWork, FewWordsStayOnTheCpu) {
  EXPECT_FALSE(takes_gpus(word_search_work(0, 0, any_distance), 1));
  EXPECT_FALSE(takes_gpus(word_search_work(86061, 1, any_distance), 1));
  EXPECT_FALSE(takes_gpus(word_search_work(51589, 1000, 2), 1));
}

TEST(SearchWork, ManyWordsTakeGpus) {
  EXPECT_TRUE(takes_gpus(word_search_work(51589, 40000, any_distance), 1));
  EXPECT_TRUE(takes_gpus(word_search_work(51589, 400000, any_distance), 16));
}

TEST(SearchWork, WordsWithinOneEditTakeGpusLater) {
  EXPECT_TRUE(takes_gpus(word_search_work(51589, 40000, 2), 1));
  EXPECT_FALSE(takes_gpus(word_search_work(51589, 40000, 1), 1));
}

TEST(SearchWork, ThreadsThatAreTogetherAsFastAsAGpuKeepWords) {
  for (double const queries : {1e3, 1e5, 1e7})
    for (double const radius : {1., 2., 3.})
      EXPECT_FALSE(takes_gpus(word_search_work(51589, queries, radius), 16)) << queries;
}

TEST(SearchWork, VectorsTakeGpusByTheirNumbers) {
  for (bool const l2 : {false, true}) {
    EXPECT_FALSE(takes_gpus(metric_search_work(96000, 20, 1000, l2), 1));
    EXPECT_TRUE(takes_gpus(metric_search_work(96000, 20, 24000, l2), 1));
    EXPECT_FALSE(takes_gpus(metric_search_work(96000, 20, 24000, l2), 16));
  }
  EXPECT_TRUE(takes_gpus(metric_search_work(96000, 20, 5000, false), 1));
  EXPECT_FALSE(takes_gpus(metric_search_work(96000, 20, 5000, true), 1));
}

// More work never moves back to the CPU.
TEST(SearchWork, TheChoiceIsMonotonic) {
  for (int threads = 1; threads <= 256; threads *= 2) {
    bool words = false, vectors = false;
    for (double queries = 1; queries < 1e9; queries *= 2) {
      bool const more_words = takes_gpus(word_search_work(51589, queries, 2), threads);
      bool const more_vectors = takes_gpus(metric_search_work(96000, 20, queries, true), threads);
      EXPECT_TRUE(more_words || !words) << threads << " threads, " << queries << " queries";
      EXPECT_TRUE(more_vectors || !vectors) << threads << " threads, " << queries << " queries";
      words = more_words;
      vectors = more_vectors;
    }
  }
}

}  // namespace
}  // namespace rulerank::knn
