#include "l2r/rules/call_queue.hpp"

#include "core/error.hpp"
#include "l2r/testing.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::call_queue_test {
namespace {

using datasets::binned_dataset;
using testing_tools::drawn_set;

/// The engine `project`. Its first call waits until it is released.
class held_engine final : public scoring_engine {
 public:
  explicit held_engine(prepared_training const& training)
      : engine_(registered_engines().maker_of(engine::project).make(context{}, training)) {}

  void score(context const& ctx, known_items const& test, scored& result) override {
    calls.push_back(test.documents());
    if (calls.size() == 1) {
      begun.set_value();
      released.wait();
    } else if (fails) {
      throw device_error("no memory");
    }
    engine_->score(ctx, test, result);
  }

  bool fails = false;              // from the second call on
  std::vector<std::size_t> calls;  // documents of each
  std::promise<void> begun, release;

 private:
  std::future<void> released = release.get_future();
  std::unique_ptr<scoring_engine> engine_;
};

/// Calls of these documents: the first is held until the others wait.
class calls : public ::testing::Test {
 protected:
  std::vector<scored> score_all(std::size_t most_joined) {
    call_queue queue(engine, training, most_joined);
    std::vector<scored> results(tests.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      threads.emplace_back([&, i] {
        known_items const known(training, tests[i]);
        results[i].scores.resize(tests[i].documents);
        try {
          queue.score(context{}, known, results[i]);
        } catch (device_error const&) {
          results[i].scores.clear();
        }
      });
      if (i == 0) engine.begun.get_future().wait();
      while (queue.waiting() < i) std::this_thread::yield();  // they wait in this order
    }
    engine.release.set_value();
    for (std::thread& one : threads) one.join();
    return results;
  }

  binned_dataset const items = drawn_set({400, 12, 6}, 7);
  prepared_training const training{items, {}};
  held_engine engine{training};
  /// The last one lacks features of the training set.
  std::vector<binned_dataset> const tests{drawn_set({5, 12, 6}, 1),  drawn_set({30, 12, 6}, 2),
                                          drawn_set({1, 12, 6}, 3),  drawn_set({70, 12, 6}, 4),
                                          drawn_set({65, 12, 6}, 5), drawn_set({9, 8, 6}, 6)};
};

TEST_F(calls, that_wait_are_scored_together_with_the_bits_of_each_alone) {
  std::vector<scored> const results = score_all(1000);
  EXPECT_EQ(engine.calls, (std::vector<std::size_t>{5, 175}));
  ranker const alone(context{}, items);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    EXPECT_EQ(results[i].scores, alone.score(context{}, tests[i]).scores) << i;
    EXPECT_EQ(results[i].joined_calls, i == 0 ? 1U : 5U) << i;
  }
}

TEST_F(calls, are_joined_in_their_order_up_to_a_number_of_documents) {
  score_all(100);
  EXPECT_EQ(engine.calls, (std::vector<std::size_t>{5, 31, 70, 74}));
}

TEST_F(calls, run_alone_if_none_are_joined) {
  score_all(0);
  EXPECT_EQ(engine.calls, (std::vector<std::size_t>{5, 30, 1, 70, 65, 9}));
}

TEST_F(calls, that_are_joined_throw_the_same) {
  engine.fails = true;
  std::vector<scored> const results = score_all(1000);
  EXPECT_EQ(results[0].scores.size(), tests[0].documents);
  for (std::size_t i = 1; i < tests.size(); ++i) EXPECT_TRUE(results[i].scores.empty()) << i;
}

}  // namespace
}  // namespace rulerank::l2r::call_queue_test
