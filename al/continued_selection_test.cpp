#include "al/labelling.hpp"
#include "al/published/engines.hpp"
#include "al/sampler.hpp"
#include "al/testing.hpp"
#include "core/error.hpp"
#include "core/process_group_testing.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "rules/itemset.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::al::continued_selection_test {
namespace {

[[maybe_unused]] bool const published_engines_are_listed = (add_published_engines(), true);

/// Count features: most values are 0, few are 1, fewer are larger. Rules run out soon.
datasets::binned_dataset counts(std::size_t documents, std::size_t features = 12,
                                std::uint64_t seed = 1) {
  random_engine engine(seed);
  datasets::binned_dataset data = drawn_items(engine, documents, features, 1, documents * features);
  for (std::size_t f = 0; f < features; ++f) {
    data.item_begin[f + 1] = static_cast<rules::item>(4 * (f + 1));
    for (std::size_t d = 0; d < documents; ++d) {
      std::uint64_t const draw = uniform_below(engine, 1000);
      data.codes[f * data.stride + d] = draw < 3 ? 3 : draw < 8 ? 2 : draw < 20 ? 1 : 0;
    }
  }
  data.max_label = 2;
  for (std::size_t d = 0; d < documents; ++d)
    data.labels.push_back(static_cast<std::int32_t>(uniform_below(engine, 3)));
  return data;
}

sampler_options filling(std::size_t budget, engine which = engine::delta) {
  sampler_options options;
  options.rule_size = 3;
  options.max_documents = budget;
  options.fill_budget = true;
  options.engine = which;
  return options;
}

TEST(filled_budget, is_met_by_each_reason_in_turn) {
  auto const data = counts(600);
  sampler_options plain = filling(0);
  sample const dry = reduce({}, data, plain);
  ASSERT_LT(dry.documents.size(), 100U) << "rules are to run dry";
  EXPECT_TRUE(dry.ran_dry);
  for (std::size_t budget = 1; budget <= 600; budget += budget < 20 ? 1 : 29) {
    std::set<std::size_t> asked;
    sample const found = reduce({}, data, filling(budget), [&](std::size_t d) {
      asked.insert(d);
      return data.labels[d];
    });
    EXPECT_EQ(found.documents.size(), budget);
    EXPECT_TRUE(std::ranges::equal(asked, found.documents)) << "a label was asked for in vain";
    EXPECT_TRUE(std::ranges::is_sorted(found.choices, {}, &choice::why));
    EXPECT_EQ(found.ran_dry, budget >= dry.documents.size());
    for (std::size_t i = 0; i < std::min(dry.choices.size(), found.choices.size()); ++i)
      EXPECT_EQ(found.choices[i].document, dry.choices[i].document);
    for (choice const& c : found.choices)
      EXPECT_EQ(c.rule_size == 0, c.why == reason::new_items || c.why == reason::random);
  }
  plain.max_documents = 600;
  plain.fill_budget = false;
  expect_same(reduce({}, data, plain), dry);
}

TEST(filled_budget, takes_new_items_and_then_a_random_order) {
  auto const data = counts(600);
  sample const found = reduce({}, data, filling(600));
  std::set<std::size_t> chosen;
  std::set<rules::item> covered;
  std::vector<std::size_t> at_random;
  auto const news = [&](std::size_t d) {
    std::size_t count = 0;
    for (std::size_t f = 0; f < data.feature_count(); ++f)
      count += !covered.contains(data.item_begin[f] + data.code(f, d));
    return count;
  };
  for (choice const& c : found.choices) {
    std::size_t most = 0;
    for (std::size_t d = 0; d < data.documents; ++d)
      if (!chosen.contains(d)) most = std::max(most, news(d));
    if (c.why == reason::new_items) {
      EXPECT_GT(most, 0U);
      EXPECT_EQ(news(c.document), most);
    }
    if (c.why == reason::random) {
      EXPECT_EQ(most, 0U);
      at_random.push_back(c.document);
    }
    chosen.insert(c.document);
    for (std::size_t f = 0; f < data.feature_count(); ++f)
      covered.insert(data.item_begin[f] + data.code(f, c.document));
  }
  ASSERT_GT(at_random.size(), 50U);
  EXPECT_FALSE(std::ranges::is_sorted(at_random));
  std::ranges::reverse(at_random);
  EXPECT_FALSE(std::ranges::is_sorted(at_random));
  context other;
  other.seed = 2;
  EXPECT_NE(reduce(other, data, filling(500)).documents, reduce({}, data, filling(500)).documents);
}

TEST(filled_budget, covers_items_that_rules_do_not_see) {
  // Rules with two labels each stop at once, and larger ones are not used.
  auto data = counts(300);
  auto options = filling(300);
  options.rule_size = 6;
  options.thresholds = {50, 0.0};
  sample const found = reduce({}, data, options);
  EXPECT_EQ(found.documents.size(), 300U);
  EXPECT_GT(std::ranges::count(found.choices, reason::new_items, &choice::why), 5);
  EXPECT_EQ(std::ranges::count(found.choices, reason::larger_rules, &choice::why), 0);
}

TEST(filled_budget, does_not_depend_on_engine_threads_or_devices) {
  auto const data = counts(400, 24);
  auto options = filling(350);
  options.tie_keys.assign(400, 7);
  std::iota(options.tie_keys.begin(), options.tie_keys.begin() + 200, std::uint64_t{0});
  sample const expected = reduce({}, data, options);
  EXPECT_NE(expected.documents, reduce({}, data, filling(350)).documents) << "ties are to matter";
  for (engine const which : {engine::ssarp, engine::pssarp, engine::delta})
    for (int const threads : {1, 3}) {
      options.engine = which;
      context ctx;
      ctx.threads = threads;
      expect_same(reduce(ctx, data, options), expected);
    }
  if (testing_tools::gpus().empty()) return;
  for (engine const which : {engine::prss, engine::delta}) {
    options.engine = which;
    context ctx;
    ctx.devices = testing_tools::gpus();
    expect_same(reduce(ctx, data, options), expected);
  }
}

TEST(filled_budget, does_not_depend_on_processes) {
  auto const data = counts(400, 24);
  auto const expected = reduce({}, data, filling(350));
  testing_tools::run_processes(3, [&](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    expect_same(reduce(ctx, data, filling(350)), expected);
  });
}

TEST(filled_budget, is_filled_with_labels_one_by_one) {
  auto const data = counts(300);
  auto const unknown = without_labels(data);
  sample const expected = reduce({}, data, filling(250));
  labelling work({}, unknown, filling(250));
  std::size_t most_wanted = 0;
  while (!work.finished()) {
    most_wanted = std::max(most_wanted, work.wanted().size());
    std::size_t const document = work.wanted().front().document;
    work.answer(document, data.labels[document]);
  }
  expect_same(work.take(), expected);
  EXPECT_GT(most_wanted, 20U) << "documents in a random order can be labelled at once";
}

TEST(filled_budget, goes_on_without_documents_that_are_left_out) {
  auto const data = counts(300);
  auto const unknown = without_labels(data);
  labelling work({}, unknown, filling(150));
  while (!work.finished()) {
    std::size_t const document = work.wanted().back().document;
    work.answer(document, document % 3 == 0 ? std::nullopt : std::optional(data.labels[document]));
  }
  sample const found = work.take();
  EXPECT_EQ(found.documents.size(), 150U);
  EXPECT_TRUE(std::ranges::none_of(found.documents, [](std::size_t d) { return d % 3 == 0; }));
  EXPECT_TRUE(work.undo());
  EXPECT_FALSE(work.finished());
}

TEST(choices_table, names_reasons) {
  auto const data = counts(300);
  sample const found = reduce({}, data, filling(300));
  std::vector<std::string> docids;
  for (choice const& c : found.choices) docids.push_back(fmt::format("d{}", c.document));
  std::string const table = choices_table(found, docids, true);
  EXPECT_TRUE(table.starts_with("line\tdocid\tpartition\titeration\trules\treason\n"));
  EXPECT_NE(table.find("\t0\t0\t0\trules\n"), std::string::npos);
  EXPECT_NE(table.find("\trules-4\n"), std::string::npos);
  EXPECT_NE(table.find("\t\t\t\trandom\n"), std::string::npos);
  EXPECT_EQ(choices_table(found, docids).find("random"), std::string::npos);
}

// Ties.

/// The documents of `data` permuted: document order[i] is the i-th.
datasets::binned_dataset in_order(datasets::binned_dataset data,
                                  std::vector<std::size_t> const& order) {
  datasets::binned_dataset const before = data;
  for (std::size_t i = 0; i < order.size(); ++i) {
    data.labels[i] = before.labels[order[i]];
    for (std::size_t f = 0; f < data.feature_count(); ++f)
      data.codes[f * data.stride + i] = before.code(f, order[i]);
  }
  return data;
}

std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  random_engine engine(seed);
  shuffle(std::span(order), engine);
  return order;
}

TEST(seeded_ties, do_not_depend_on_the_order_of_documents) {
  auto const data = counts(500);
  std::vector<std::uint64_t> keys(500);
  random_engine engine(3);
  for (auto& key : keys) key = engine();
  auto options = filling(200);
  options.tie_keys = keys;
  std::set<std::vector<std::size_t>> by_key, by_index;
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    auto const order = shuffled(500, seed);
    auto const moved = in_order(data, order);
    for (std::size_t i = 0; i < order.size(); ++i) options.tie_keys[i] = keys[order[i]];
    auto const back = [&](sample const& found) {
      std::vector<std::size_t> documents;
      for (choice const& c : found.choices) documents.push_back(order[c.document]);
      return documents;
    };
    by_key.insert(back(reduce({}, moved, options)));
    by_index.insert(back(reduce({}, moved, filling(200))));
  }
  EXPECT_EQ(by_key.size(), 1U);
  EXPECT_GT(by_index.size(), 1U) << "ties are to matter";
}

TEST(seeded_ties, of_whole_queries_do_not_depend_on_their_order) {
  auto data = counts(200);
  std::vector<std::uint64_t> keys(200);
  random_engine engine(3);
  for (auto& key : keys) key = engine();
  sampler_options options;
  options.max_documents = 60;
  std::set<std::vector<std::size_t>> by_key, by_index;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    auto const queries = shuffled(100, seed);  // of two documents each
    std::vector<std::size_t> order;
    options.query_begin = {0};
    for (std::size_t const q : queries) {
      order.insert(order.end(), {2 * q, 2 * q + 1});
      options.query_begin.push_back(order.size());
    }
    auto const moved = in_order(data, order);
    auto const back = [&](sample const& found) {
      std::vector<std::size_t> documents;
      for (choice const& c : found.choices) documents.push_back(order[c.document]);
      return documents;
    };
    options.tie_keys.clear();
    by_index.insert(back(reduce({}, moved, options)));
    for (std::size_t const d : order) options.tie_keys.push_back(keys[d]);
    by_key.insert(back(reduce({}, moved, options)));
  }
  EXPECT_EQ(by_key.size(), 1U);
  EXPECT_GT(by_index.size(), 1U) << "ties are to matter";
}

TEST(seeded_ties, need_a_key_for_each_document) {
  auto const data = counts(30);
  sampler_options options;
  options.tie_keys.assign(29, 0);
  EXPECT_THROW(reduce({}, data, options), usage_error);
}

TEST(seeded_ties, are_part_of_a_labelling) {
  auto const data = without_labels(counts(30));
  sampler_options options;
  std::string const by_index = labelling({}, data, options).identity();
  options.tie_keys.assign(30, 0);
  EXPECT_NE(labelling({}, data, options).identity(), by_index);
}

TEST(tie_keys, follow_the_query_and_the_id_or_the_values) {
  auto const keys = [](std::string const& text, std::uint64_t seed = 1) {
    return tie_keys(datasets::parse_svmlight({}, text, "by hand"), seed);
  };
  std::string const a = "1 qid:1 1:5 # docid = A\n", b = "0 qid:1 1:5 # docid = B\n";
  EXPECT_EQ(keys(a + b)[0], keys(b + a)[1]);
  EXPECT_EQ(keys(a + b)[1], keys(b + a)[0]);
  EXPECT_NE(keys(a + b)[0], keys(a + b)[1]);
  EXPECT_NE(keys(a + b)[0], keys(a + b, 2)[0]);
  EXPECT_NE(keys("1 qid:2 1:5 # docid = A\n")[0], keys(a)[0]);
  EXPECT_EQ(keys("0 qid:1 1:7 # docid = A\n")[0], keys(a)[0])
      << "its label and values do not count";
  EXPECT_EQ(keys("0 qid:1 1:5\n")[0], keys("1 qid:1 1:5\n")[0]);
  EXPECT_NE(keys("0 qid:1 1:5\n")[0], keys("0 qid:1 2:5\n")[0]);
  EXPECT_NE(keys("0 qid:1 1:5\n")[0], keys("0 qid:1 1:6\n")[0]);
}

}  // namespace
}  // namespace rulerank::al::continued_selection_test
