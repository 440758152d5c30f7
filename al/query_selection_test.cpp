#include "al/labelling.hpp"
#include "al/measured_sampling.hpp"
#include "al/partition.hpp"
#include "al/sampler_reference.hpp"
#include "al/testing.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

// Whole queries, with existing and with requested labels.
namespace rulerank::inline v0::al::query_selection_test {
namespace {

struct drawn_queries {
  datasets::binned_dataset data;
  std::vector<std::size_t> begin;
};

/// Queries of 0 to `largest` documents; in one of them no document has an item.
drawn_queries draw(std::uint64_t seed, std::size_t documents, std::size_t features,
                   std::size_t largest, std::int32_t max_label = 2) {
  random_engine engine(seed);
  drawn_queries drawn{drawn_items(engine, documents, features, 4, 6), {0}};
  drawn.data.max_label = max_label;
  for (std::size_t d = 0; d < documents; ++d)
    drawn.data.labels.push_back(static_cast<std::int32_t>(
        uniform_below(engine, static_cast<std::uint64_t>(max_label) + 1)));
  while (drawn.begin.back() < documents)
    drawn.begin.push_back(
        std::min(documents, drawn.begin.back() + uniform_below(engine, largest + 1)));
  std::size_t const bare = uniform_below(engine, drawn.begin.size() - 1);
  for (std::size_t f = 0; f < features; ++f)
    for (std::size_t d = drawn.begin[bare]; d < drawn.begin[bare + 1]; ++d)
      drawn.data.codes[f * drawn.data.stride + d] = datasets::no_item;
  return drawn;
}

std::vector<std::size_t> one_by_one(std::size_t documents) {
  std::vector<std::size_t> begin(documents + 1);
  std::iota(begin.begin(), begin.end(), std::size_t{0});
  return begin;
}

sampler_options options_of(std::vector<std::size_t> begin, std::size_t partitions,
                           rules::thresholds t = {}, rules::rule_size rule_size = 3) {
  sampler_options options;
  options.query_begin = std::move(begin);
  options.partitions = partitions;
  options.thresholds = t;
  options.rule_size = rule_size;
  return options;
}

void expect_choices(std::vector<choice> const& found, std::vector<choice> const& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].document, expected[i].document) << i;
    ASSERT_EQ(found[i].partition, expected[i].partition) << i;
    ASSERT_EQ(found[i].iteration, expected[i].iteration) << i;
    ASSERT_EQ(found[i].rules, expected[i].rules) << i;
    ASSERT_EQ(found[i].why, expected[i].why) << i;
  }
}

TEST(whole_queries, a_case_worked_by_hand) {
  // Query 0: documents 0 and 1; query 1: document 2; query 2: documents 3, 4 and 5. doc_occurs 8 6,
  // 8, 4 6 8: query 1 has the largest mean. With single items its sample gives the queries 1.5, 2
  // and 1 rules a document, so query 2 comes next; then it is 3.5, 4 and 11 / 3, so query 0; then
  // every document has 4 rules, and query 2, whose mean doc_occurs is the smallest, is there.
  datasets::binned_dataset data;
  data.documents = 6;
  data.stride = 64;
  data.features = {1, 2};
  data.item_begin = {0, 2, 4};
  data.has_missing_item = {false, false};
  data.codes.assign(128, datasets::no_item);
  std::uint8_t const codes[2][6] = {{0, 0, 0, 1, 1, 0}, {0, 1, 0, 1, 0, 0}};
  for (std::size_t f = 0; f < 2; ++f)
    for (std::size_t d = 0; d < 6; ++d) data.codes[f * 64 + d] = codes[f][d];
  data.labels = {0, 1, 1, 0, 1, 0};
  data.max_label = 1;
  context const ctx;
  auto const found = reduce(ctx, data, options_of({0, 2, 3, 6}, 1, {}, 2));
  expect_choices(
      found.choices,
      {{2, 0, 0, 0}, {3, 0, 1, 0}, {4, 0, 1, 1}, {5, 0, 1, 2}, {0, 0, 2, 4}, {1, 0, 2, 3}});
  EXPECT_EQ(found.documents, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(found.partitions.size(), 1U);
  EXPECT_EQ(found.partitions[0].iterations, 3U);
  EXPECT_EQ(found.partitions[0].stopped_after, 3U);
  EXPECT_EQ(found.partitions[0].features, 2U);
  EXPECT_EQ(found.partitions[0].documents, 6U);
}

TEST(whole_queries, of_one_document_each_are_chosen_as_documents_are) {
  context const ctx;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    auto const data = draw(seed, 90, 8, 4).data;
    for (rules::thresholds const t : {rules::thresholds{}, {1, 0.3}, {2, 0.01}})
      for (int const size : {2, 3, 4})
        for (std::size_t const budget : {0, 1, 7}) {
          auto options = options_of({}, 1, t, size);
          options.max_documents = budget;
          auto const expected = reduce(ctx, data, options);
          options.query_begin = one_by_one(data.documents);
          auto const found = reduce(ctx, data, options);
          expect_choices(found.choices, expected.choices);
          EXPECT_EQ(found.documents, expected.documents);
        }
  }
}

TEST(whole_queries, are_those_of_the_definition_for_any_engine_and_threads) {
  std::size_t ended_early = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto const [data, begin] = draw(seed, 20 + 9 * seed, 7, 1 + seed % 6);
    for (rules::thresholds const t : {rules::thresholds{}, {1, 0.3}, {2, 0.01}})
      for (std::size_t const partitions : {1, 3}) {
        int const size = 2 + static_cast<int>(seed % 3);
        std::vector<std::size_t> const order{0, 1, 2, 3, 4, 5, 6};
        auto const expected =
            reference::reduce_queries(data, deal_features(order, partitions), begin, size, t);
        ended_early += expected.size() + 3 < data.documents;
        for (engine const which : {engine::automatic, engine::ssarp, engine::pssarp})
          for (int const threads : {1, 3}) {
            if (which != engine::automatic && (threads == 3) != (which == engine::pssarp)) continue;
            context ctx;
            ctx.threads = threads;
            auto options = options_of(begin, partitions, t, size);
            options.engine = which;
            auto const found = reduce(ctx, data, options);
            expect_choices(found.choices, expected);
            EXPECT_EQ(found.engine, which == engine::automatic ? engine::delta : which);
          }
      }
  }
  EXPECT_GT(ended_early, 5U) << "the stop rule leaves queries out";
}

TEST(whole_queries, are_asked_about_one_after_the_other) {
  context const ctx;
  for (std::uint64_t seed = 20; seed < 24; ++seed) {
    auto const drawn = draw(seed, 70, 7, 5);
    auto const& data = drawn.data;
    auto const& begin = drawn.begin;
    auto pool = without_labels(data);
    for (std::size_t d = 0; d < pool.documents; d += 5) pool.labels[d] = data.labels[d];
    auto const options = options_of(begin, 2);
    auto const expected = reduce(ctx, data, options);
    labelling work(ctx, pool, options);
    random_engine draw_one(seed);
    while (!work.finished()) {
      auto const& wanted = work.wanted();
      // All of one query, in its order.
      auto const query = std::upper_bound(begin.begin(), begin.end(), wanted.front().document);
      EXPECT_LT(wanted.back().document, *query);
      EXPECT_TRUE(std::is_sorted(
          wanted.begin(), wanted.end(),
          [](question const& a, question const& b) { return a.document < b.document; }));
      for (question const& q : wanted) EXPECT_NE(q.document % 5, 0U);
      std::size_t const one = wanted[uniform_below(draw_one, wanted.size())].document;
      work.answer(one, data.labels[one]);
    }
    expect_choices(work.take().choices, expected.choices);
    EXPECT_EQ(work.take().documents, expected.documents);
    // Likewise by a callback of `reduce`.
    auto const by_oracle = reduce(ctx, pool, options, [&](std::size_t d) {
      EXPECT_NE(d % 5, 0U);
      return data.labels[d];
    });
    expect_choices(by_oracle.choices, expected.choices);
    EXPECT_THROW(reduce(ctx, pool, options), usage_error);
  }
}

TEST(whole_queries, documents_left_out_count_in_no_mean) {
  context const ctx;
  for (std::uint64_t seed = 30; seed < 38; ++seed) {
    auto const [data, begin] = draw(seed, 60, 6, 4);
    auto const pool = without_labels(data);
    std::set<std::size_t> out;
    random_engine engine(seed);
    for (std::size_t d = 0; d < data.documents; ++d)
      if (uniform_below(engine, 3) == 0) out.insert(d);
    for (std::size_t q = 0; q + 1 < begin.size(); q += 4)  // also whole queries
      for (std::size_t d = begin[q]; d < begin[q + 1]; ++d) out.insert(d);
    auto const options = options_of(begin, 2);
    labelling work(ctx, pool, options);
    while (!work.finished()) {
      std::size_t const d = work.wanted().front().document;
      work.answer(d, out.contains(d) ? std::nullopt : std::optional(data.labels[d]));
    }
    auto const expected =
        reference::reduce_queries(data, deal_features({{0, 1, 2, 3, 4, 5}}, 2), begin, 3, {}, out);
    expect_choices(work.take().choices, expected);
    // Any prefix of the answers leads to the same state, and so does undoing them.
    std::vector<al::answer> const answers(work.answers().begin(), work.answers().end());
    labelling again(ctx, pool, options);
    for (std::size_t n = 0; n < answers.size(); ++n) {
      labelling part(ctx, pool, options);
      for (std::size_t i = 0; i < n; ++i) part.answer(answers[i].document, answers[i].label);
      EXPECT_EQ(documents_of(part.wanted()), documents_of(again.wanted()));
      again.answer(answers[n].document, answers[n].label);
      EXPECT_TRUE(again.undo());
      EXPECT_EQ(documents_of(part.wanted()), documents_of(again.wanted()));
      again.answer(answers[n].document, answers[n].label);
    }
    expect_choices(again.take().choices, expected);
  }
}

TEST(whole_queries, a_budget_keeps_the_first_that_fit) {
  context const ctx;
  auto const [data, begin] = draw(40, 80, 7, 6);
  auto options = options_of(begin, 2);
  auto const all = reduce(ctx, data, options);
  std::size_t const first = static_cast<std::size_t>(
      std::ranges::count_if(all.choices, [](choice const& c) { return c.iteration == 0; }));
  for (options.max_documents = 1; options.max_documents <= 90; ++options.max_documents) {
    if (options.max_documents < first) {
      EXPECT_THROW(reduce(ctx, data, options), usage_error);
      continue;
    }
    auto const some = reduce(ctx, data, options);
    ASSERT_LE(some.choices.size(), options.max_documents);
    expect_choices(some.choices,
                   {all.choices.begin(),
                    all.choices.begin() + static_cast<std::ptrdiff_t>(some.choices.size())});
    // The next query would have exceeded the budget.
    std::size_t next = 0;
    for (choice const& c : all.choices)
      next += some.choices.empty() || c.iteration == some.choices.back().iteration + 1;
    EXPECT_TRUE(next == 0 || some.choices.size() + next > options.max_documents);
  }
}

TEST(whole_queries, a_filled_budget_goes_on_with_the_remaining_queries) {
  context const ctx;
  std::vector<std::size_t> const features{0, 1, 2, 3, 4, 5, 6};
  std::size_t filled = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    auto const [data, begin] = draw(seed, 20 + 9 * seed, 7, 1 + seed % 6);
    auto options = options_of(begin, 2, {2, 0.01});
    auto const dry = reduce(ctx, data, options);
    options.fill_budget = true;
    options.max_documents = data.documents;
    auto const all = reduce(ctx, data, options);
    expect_choices(all.choices, reference::reduce_queries(data, deal_features(features, 2), begin,
                                                          3, {2, 0.01}, {}, true));
    EXPECT_EQ(all.documents.size(), data.documents);
    EXPECT_TRUE(all.ran_dry);
    EXPECT_EQ(all.partitions[0].stopped_after, dry.partitions[0].stopped_after);
    auto const first_of_rest = dry.choices.size();
    filled += first_of_rest < all.choices.size();
    for (std::size_t i = 0; i < all.choices.size(); ++i)
      EXPECT_EQ(describe_reason(all.choices[i]), i < first_of_rest ? "rules" : "remaining");
    // A smaller budget takes the first queries of a larger one.
    for (options.max_documents = 6; options.max_documents < data.documents;
         options.max_documents += 5) {
      auto const some = reduce(ctx, data, options);
      EXPECT_EQ(some.ran_dry, some.choices.size() >= first_of_rest);
      expect_choices(some.choices,
                     {all.choices.begin(),
                      all.choices.begin() + static_cast<std::ptrdiff_t>(some.choices.size())});
    }
  }
  EXPECT_EQ(filled, 6U) << "rules are to run dry";
}

TEST(whole_queries, a_filled_budget_with_documents_left_out) {
  context const ctx;
  auto const [data, begin] = draw(31, 60, 6, 4);
  std::set<std::size_t> out;
  random_engine engine(31);
  for (std::size_t d = 0; d < data.documents; ++d)
    if (uniform_below(engine, 3) == 0) out.insert(d);
  for (std::size_t q = 0; q + 1 < begin.size(); q += 4)  // also whole queries
    for (std::size_t d = begin[q]; d < begin[q + 1]; ++d) out.insert(d);
  auto const pool = without_labels(data);
  auto options = options_of(begin, 2);
  options.fill_budget = true;
  options.max_documents = data.documents;
  labelling work(ctx, pool, options);
  while (!work.finished()) {
    std::size_t const d = work.wanted().front().document;
    work.answer(d, out.contains(d) ? std::nullopt : std::optional(data.labels[d]));
  }
  EXPECT_EQ(work.answers().size(), data.documents);
  expect_choices(work.take().choices,
                 reference::reduce_queries(data, deal_features({{0, 1, 2, 3, 4, 5}}, 2), begin, 3,
                                           {}, out, true));
}

/// An excluded document is not replaced here: the next query follows.
TEST(whole_queries, an_outlook_counts_documents_that_are_left_out) {
  context const ctx;
  auto const [data, begin] = draw(41, 60, 6, 5, 0);
  auto const pool = without_labels(data);
  labelling work(ctx, pool, options_of(begin, 2));
  std::vector<std::pair<std::size_t, outlook>> expected;  // after this many answers
  std::size_t answers = 0;
  while (!work.finished()) {
    if (answers > 0 && answers % 2 == 0) expected.emplace_back(answers, work.look_ahead(1));
    for (std::size_t const d : documents_of(work.wanted()))
      work.answer(d, answers++ % 2 == 0 ? std::optional(0) : std::nullopt);
  }
  ASSERT_GT(expected.size(), 2U);
  for (auto const& [behind, ahead] : expected) {
    EXPECT_EQ(ahead.documents, answers - behind);
    EXPECT_EQ(ahead.left_out, (answers - behind) / 2);
  }
}

TEST(whole_queries, an_outlook_with_the_right_guesses_is_what_comes) {
  context const ctx;
  auto const [data, begin] = draw(41, 60, 6, 5, 0);  // one label: every guess is right
  auto const pool = without_labels(data);
  labelling work(ctx, pool, options_of(begin, 2));
  while (!work.finished()) {
    std::size_t const query = work.wanted().size();
    outlook const now = work.look_ahead(1);
    EXPECT_EQ(now.next, query);
    auto const ahead = work.batch(query + 1);
    EXPECT_EQ(documents_of(work.batch(1)), documents_of(work.wanted()));
    std::vector<std::size_t> next = documents_of(work.wanted());
    for (std::size_t d : next) work.answer(d, 0);
    for (question const& q : work.wanted()) next.push_back(q.document);
    EXPECT_EQ(documents_of(ahead), next);
    EXPECT_EQ(static_cast<std::int64_t>(work.look_ahead(0).rules),
              static_cast<std::int64_t>(now.rules) + now.next_rules);
  }
}

TEST(whole_queries, refuse_what_is_no_list_of_queries) {
  context const ctx;
  auto const data = draw(42, 30, 6, 5).data;
  for (std::vector<std::size_t> const& begin :
       {std::vector<std::size_t>{0}, {1, 30}, {0, 29}, {0, 31}, {0, 20, 10, 30}})
    EXPECT_THROW(reduce(ctx, data, options_of(begin, 2)), usage_error);
  auto options = options_of({0, 30}, 2);
  EXPECT_EQ(reduce(ctx, data, options).choices.size(), 30U);
  options.engine = engine::prss;
  EXPECT_ANY_THROW(reduce(ctx, data, options));
  options = options_of({0, 30}, 2);
  EXPECT_THROW(reduce_to_iterations(ctx, data, options, 2), usage_error);
  EXPECT_NE(labelling(ctx, data, options_of({0, 30}, 2)).identity(),
            labelling(ctx, data, options_of({0, 10, 30}, 2)).identity());
  EXPECT_NE(labelling(ctx, data, options_of({0, 30}, 2)).identity(),
            labelling(ctx, data, options_of({}, 2)).identity());
}

}  // namespace
}  // namespace rulerank::al::query_selection_test
