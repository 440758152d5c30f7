#include "al/measured_sampling.hpp"
#include "al/testing.hpp"
#include "core/error.hpp"
#include "core/testing.hpp"

#include <gtest/gtest.h>

// Compares the samplers with the loop on GPUs with those on the CPU.
namespace rulerank::inline v0::al::device_test {
namespace {

datasets::binned_dataset drawn(std::uint64_t seed, std::size_t documents, std::size_t features,
                               std::uint32_t bins, std::vector<std::int32_t> const& labels,
                               std::uint64_t absent = 10) {
  random_engine engine(seed);
  datasets::binned_dataset data = drawn_items(engine, documents, features, bins, absent);
  for (std::size_t d = 0; d < documents; ++d) {
    data.labels.push_back(labels[uniform_below(engine, 1 + uniform_below(engine, labels.size()))]);
    data.max_label = std::max(data.max_label, data.labels.back());
  }
  return data;
}

void expect_same(sample const& found, sample const& expected, std::string const& what) {
  ASSERT_EQ(found.documents, expected.documents) << what;
  ASSERT_EQ(found.choices.size(), expected.choices.size()) << what;
  for (std::size_t i = 0; i < found.choices.size(); ++i) {
    choice const& a = found.choices[i];
    choice const& b = expected.choices[i];
    ASSERT_TRUE(a.document == b.document && a.partition == b.partition &&
                a.iteration == b.iteration && a.rules == b.rules)
        << what << ", choice " << i;
  }
  for (std::size_t q = 0; q < found.partitions.size(); ++q) {
    EXPECT_EQ(found.partitions[q].iterations, expected.partitions[q].iterations) << what;
    EXPECT_EQ(found.partitions[q].stopped_after, expected.partitions[q].stopped_after) << what;
    EXPECT_EQ(found.partitions[q].rules_lost, expected.partitions[q].rules_lost) << what;
    if (expected.partitions[q].iterations > 0) {  // otherwise not processed
      EXPECT_EQ(found.partitions[q].documents, expected.partitions[q].documents) << what;
    }
  }
}

/// Each test on 1, 2 and 4 GPUs.
class delta_on_gpus : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { RULERANK_NEEDS_GPUS(GetParam()); }
  static context gpus() { return testing_tools::on_gpus(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(al, delta_on_gpus, testing::ValuesIn(testing_tools::gpu_counts),
                         [](auto const& i) { return std::to_string(i.param); });

struct a_case {
  std::size_t documents, features;
  std::uint32_t bins;
  std::vector<std::int32_t> labels;
  std::size_t partitions;
  std::uint64_t absent = 10;
};

TEST_P(delta_on_gpus, selects_as_on_the_cpu) {
  std::vector<a_case> const cases{
      {1, 3, 2, {0}, 1},
      {5, 4, 3, {0, 1}, 2},
      {255, 9, 4, {0, 1, 2}, 1},
      {256, 9, 4, {0, 1, 2}, 3},
      {257, 12, 5, {2, 7}, 1},
      {4000, 26, 10, {0, 1, 2}, 0},
      {3000, 12, 10, {0, 1, 2, 3, 4}, 1, 2},
      {20000, 13, 10, {0, 1}, 1},
      {1500, 17, 3, {0, 1, 2}, 1},
      {600, 64, 2, {0, 1}, 2, 4},
      {500, 40, 3, {0, 1, 2000000000}, 40},
  };
  context const cpu;
  context const ctx = gpus();
  int seed = 0;
  for (a_case const& c : cases) {
    auto const data = drawn(static_cast<std::uint64_t>(++seed), c.documents, c.features, c.bins,
                            c.labels, c.absent);
    for (rules::rule_size const rule_size : {2U, 3U, 4U, 5U})
      for (rules::thresholds t : {rules::thresholds{1, .001}, {1, .2}, {1, .5}, {2, .01}}) {
        if (rule_size == 5 && c.features > 30 && c.partitions < 3) continue;
        sampler_options options;
        options.rule_size = rule_size;
        options.thresholds = t;
        options.partitions = c.partitions;
        options.engine = engine::delta;
        auto const expected = reduce(cpu, data, options);
        expect_same(reduce(ctx, data, options), expected,
                    "case " + std::to_string(seed) + " size " + std::to_string(rule_size) +
                        " support " + std::to_string(t.min_support) + " confidence " +
                        std::to_string(t.min_confidence));
      }
  }
}

TEST_P(delta_on_gpus, budgets_fixed_iterations_and_oracles) {
  auto const data = drawn(99, 3000, 30, 8, {0, 1, 2});
  context const cpu;
  context const ctx = gpus();
  sampler_options options;
  options.rule_size = 4;
  options.engine = engine::delta;
  for (std::size_t budget :
       {std::size_t{1}, std::size_t{7}, std::size_t{50}, std::size_t{100000}}) {
    options.max_documents = budget;
    std::vector<std::size_t> asked_there;
    auto const expected = reduce(cpu, data, options, [&](std::size_t d) {
      asked_there.push_back(d);
      return data.labels[d];
    });
    std::sort(asked_there.begin(), asked_there.end());
    expect_same(reduce(ctx, data, options), expected, "budget " + std::to_string(budget));
    if (budget > 1000) continue;
    std::vector<std::size_t> asked;
    auto const found = reduce(ctx, data, options, [&](std::size_t d) {
      asked.push_back(d);
      return data.labels[d];
    });
    expect_same(found, expected, "oracle, budget " + std::to_string(budget));
    std::sort(asked.begin(), asked.end());
    EXPECT_EQ(asked, asked_there);
  }
  options.max_documents = 0;
  constexpr std::size_t iterations = 700;  // more than one launch
  auto const expected = reduce_to_iterations(cpu, data, options, iterations);
  expect_same(reduce_to_iterations(ctx, data, options, iterations), expected, "fixed iterations");
}

TEST_P(delta_on_gpus, labels_that_an_oracle_brings_in_late) {
  auto data = drawn(5, 400, 12, 5, {0});
  sampler_options options;
  options.engine = engine::delta;
  auto const label_of = [](std::size_t d) { return static_cast<std::int32_t>(d % 29); };
  auto const expected = reduce_to_iterations({}, data, options, 60, label_of);
  expect_same(reduce_to_iterations(gpus(), data, options, 60, label_of), expected, "29 classes");
}

TEST_P(delta_on_gpus, stops_when_asked) {
  auto const data = drawn(5, 4000, 12, 8, {0, 1, 2});
  context ctx = gpus();
  std::stop_source stop;
  ctx.stop = stop.get_token();
  stop.request_stop();
  sampler_options options;
  options.engine = engine::delta;
  EXPECT_THROW(reduce(ctx, data, options), interrupted);
  context told = gpus();
  told.progress = [](std::string_view, std::uint64_t done, std::uint64_t) { return done < 5; };
  EXPECT_THROW(reduce(told, data, options), interrupted);
}

TEST_P(delta_on_gpus, refuses_what_it_cannot_hold) {
  context const ctx = gpus();
  sampler_options options;
  options.engine = engine::delta;
  options.partitions = 1;
  options.rule_size = 2;
  EXPECT_THROW(reduce(ctx, drawn(1, 50, 65, 2, {0, 1}), options), usage_error);
  context twice = ctx;
  twice.devices = {ctx.devices.front(), ctx.devices.front()};
  EXPECT_THROW(reduce(twice, drawn(1, 50, 6, 2, {0, 1}), options), usage_error);
}

}  // namespace
}  // namespace rulerank::al::device_test
