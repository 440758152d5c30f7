#include "al/labelling.hpp"

#include "al/sampler_reference.hpp"
#include "al/testing.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace rulerank::inline v0::al::labelling_test {
namespace {

datasets::binned_dataset drawn_pool(std::uint64_t seed, std::size_t documents, std::size_t features,
                                    std::int32_t max_label = 2) {
  return random_data(seed, documents, features, 4, max_label);
}

sampler_options options_of(std::size_t partitions, rules::thresholds t = {}) {
  sampler_options options;
  options.rule_size = 3;  // as `rules_over` counts
  options.partitions = partitions;
  options.thresholds = t;
  return options;
}

/// One partition of all features by the definition, with excluded documents, which count only in
/// doc_occurs.
sample reference_without(datasets::binned_dataset const& data, std::set<std::size_t> const& out) {
  std::vector<std::size_t> features(data.feature_count());
  std::iota(features.begin(), features.end(), std::size_t{0});
  auto const documents = reference::documents_of(data, features);
  std::vector<std::uint64_t> item_occurs(data.items()), doc_occurs(data.documents);
  reference::count_items(documents, item_occurs);
  for (std::size_t d = 0; d < data.documents; ++d)
    for (auto x : documents[d].items) doc_occurs[d] += item_occurs[x];
  sample result;
  std::vector<rules::reference::document> chosen;
  std::set<std::size_t> in_sample;
  for (;;) {
    std::tuple<std::uint64_t, std::uint64_t, std::size_t> best{~0ULL, ~0ULL, 0};
    std::size_t at = data.documents;
    for (std::size_t d = 0; d < data.documents; ++d) {
      if (documents[d].items.empty() || out.contains(d)) continue;
      std::uint64_t rules = 0;
      rules::reference::for_each_itemset(documents[d].items, 2, [&](auto const& x) {
        for (auto c : rules::reference::supports(chosen, x, data.max_label)) rules += c > 0;
      });
      std::tuple const key{rules, chosen.empty() ? ~doc_occurs[d] : doc_occurs[d],
                           data.documents - d};
      if (key < best) {
        best = key;
        at = d;
      }
    }
    if (at == data.documents || in_sample.contains(at)) break;
    result.choices.push_back(
        {at, 0, result.choices.size(), std::get<0>(best), reason::rules, options_of(1).rule_size});
    chosen.push_back(documents[at]);
    in_sample.insert(at);
  }
  result.documents.assign(in_sample.begin(), in_sample.end());
  return result;
}

TEST(labelling, chooses_what_reduce_chooses_whoever_answers_first) {
  context ctx;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ctx.threads = 1;  // more threads do not pay for so few documents
    auto const data = drawn_pool(seed, 120, 9);
    auto const pool = without_labels(data);
    for (rules::thresholds const t : {rules::thresholds{}, {1, 0.3}, {2, 0.01}})
      for (std::size_t const budget : {0, 1, 2, 3, 10, 31}) {
        auto options = options_of(1 + seed % 4, t);
        options.max_documents = budget;
        auto const expected = reduce(ctx, data, options);
        for (engine const which : {engine::delta, engine::ssarp}) {
          options.engine = which;
          labelling work(ctx, pool, options);
          random_engine draw(seed);
          std::set<std::size_t> asked;
          while (!work.finished()) {
            auto const& wanted = work.wanted();
            std::size_t const one = wanted[uniform_below(draw, wanted.size())].document;
            EXPECT_TRUE(asked.insert(one).second) << "asked twice";
            work.answer(one, data.labels[one]);
          }
          expect_same(work.take(), expected);
          EXPECT_EQ(std::vector(asked.begin(), asked.end()), expected.documents)
              << "no label is asked for that the sample does not keep";
        }
      }
  }
}

TEST(labelling, what_is_labelled_at_any_time_is_the_sample_of_a_budget) {
  context const ctx;
  auto const data = drawn_pool(7, 150, 10);
  auto const pool = without_labels(data);
  labelling work(ctx, pool, options_of(3));
  while (!work.finished()) {
    std::size_t const next = work.wanted().front().document;
    work.answer(next, data.labels[next]);
    auto options = options_of(3);
    options.max_documents = work.answers().size();
    auto const some = work.take();
    // After the budget's last new document, choices continue while they need no further label.
    EXPECT_EQ(some.documents, reduce(ctx, data, options).documents);
    EXPECT_EQ(some.documents.size(), options.max_documents);
  }
}

TEST(labelling, asks_for_the_labels_that_are_not_there) {
  context const ctx;
  auto const data = drawn_pool(8, 150, 10);
  auto pool = data;
  for (std::size_t d = 0; d < pool.documents; d += 2) pool.labels[d] = datasets::unlabelled;
  labelling work(ctx, pool, options_of(2));
  ask_for_labels(work, [&](question const& q) {
    EXPECT_EQ(q.document % 2, 0U);
    return reply{reply::kind::label, data.labels[q.document]};
  });
  expect_same(work.take(), reduce(ctx, data, options_of(2)));
  labelling all(ctx, data, options_of(2));
  EXPECT_TRUE(all.finished());
  expect_same(all.take(), reduce(ctx, data, options_of(2)));
}

TEST(labelling, goes_on_from_any_prefix_of_the_answers) {
  context const ctx;
  auto const data = drawn_pool(9, 80, 8);
  auto const pool = without_labels(data);
  labelling whole(ctx, pool, options_of(2));
  std::vector<std::vector<std::size_t>> wanted;
  for (std::size_t n = 0; !whole.finished(); ++n) {
    wanted.push_back(documents_of(whole.wanted()));
    std::size_t const next = wanted.back().front();
    // Every fifth document is excluded.
    whole.answer(next, n % 5 == 2 ? std::optional<std::int32_t>{} : data.labels[next]);
  }
  auto const answers = whole.answers();
  ASSERT_GT(answers.size(), 10U);
  for (std::size_t n = 0; n < answers.size(); ++n) {
    labelling again(ctx, pool, options_of(2));
    for (al::answer const& a : answers.first(n)) again.answer(a.document, a.label);
    EXPECT_EQ(documents_of(again.wanted()), wanted[n]) << n;
    for (al::answer const& a : answers.subspan(n)) again.answer(a.document, a.label);
    expect_same(again.take(), whole.take());
  }
}

TEST(labelling, undo_leads_back_to_where_it_was) {
  context const ctx;
  auto const data = drawn_pool(10, 60, 6);
  auto const pool = without_labels(data);
  labelling work(ctx, pool, options_of(2));
  EXPECT_FALSE(work.undo());
  std::vector<std::vector<std::size_t>> wanted;
  while (!work.finished()) {
    wanted.push_back(documents_of(work.wanted()));
    std::size_t const next = wanted.back().front();
    work.answer(next, wanted.size() % 4 == 3 ? std::optional<std::int32_t>{} : data.labels[next]);
  }
  auto const there = work.take();
  std::vector<al::answer> const answers(work.answers().begin(), work.answers().end());
  while (!wanted.empty()) {
    EXPECT_TRUE(work.undo());
    EXPECT_EQ(documents_of(work.wanted()), wanted.back());
    wanted.pop_back();
  }
  EXPECT_FALSE(work.undo());
  EXPECT_TRUE(work.take().documents.empty());
  for (al::answer const& a : answers) work.answer(a.document, a.label);
  expect_same(work.take(), there);
}

TEST(labelling, a_document_left_out_is_as_if_it_were_never_the_smallest) {
  context const ctx;
  for (std::uint64_t seed = 20; seed < 26; ++seed) {
    auto const data = drawn_pool(seed, 70, 6);
    auto const pool = without_labels(data);
    for (engine const which : {engine::delta, engine::ssarp}) {
      auto options = options_of(1);
      options.engine = which;
      std::set<std::size_t> out;
      labelling work(ctx, pool, options);
      std::size_t questions = 0;
      bool const complete = ask_for_labels(work, [&](question const& q) {
        if (questions++ % 3 != 0) return reply{reply::kind::label, data.labels[q.document]};
        out.insert(q.document);  // the first one too
        return reply{reply::kind::leave_out};
      });
      EXPECT_TRUE(complete);
      EXPECT_GE(out.size(), 3U);
      expect_same(work.take(), reference_without(data, out));
    }
  }
}

TEST(labelling, everything_may_be_left_out) {
  context const ctx;
  auto const data = drawn_pool(30, 25, 6);
  auto const pool = without_labels(data);
  for (engine const which : {engine::delta, engine::ssarp}) {
    auto options = options_of(3);
    options.engine = which;
    labelling work(ctx, pool, options);
    ask_for_labels(work, [](question const&) { return reply{reply::kind::leave_out}; });
    EXPECT_TRUE(work.finished());
    EXPECT_TRUE(work.take().documents.empty());
    EXPECT_EQ(work.answers().size(), 25U);
  }
}

TEST(labelling, asks_until_somebody_quits) {
  context const ctx;
  auto const data = drawn_pool(31, 60, 6);
  auto const pool = without_labels(data);
  labelling work(ctx, pool, options_of(2));
  std::size_t asked = 0;
  EXPECT_FALSE(ask_for_labels(work, [&](question const& q) {
    using kind = reply::kind;
    switch (asked++) {
      case 0:
        return reply{kind::undo};  // nothing to take back
      case 1:
        return reply{kind::label, data.labels[q.document]};
      case 2:
        return reply{kind::leave_out};
      case 3:
        return reply{kind::undo};
      case 4:
        return reply{kind::label, data.labels[q.document]};
      default:
        return reply{kind::quit};
    }
  }));
  EXPECT_EQ(asked, 6U);
  EXPECT_EQ(work.answers().size(), 2U);
  EXPECT_FALSE(work.finished());
}

TEST(labelling, nearest_labelled_are_those_with_the_most_items_in_common) {
  context const ctx;
  auto const data = drawn_pool(32, 40, 7);
  auto pool = data;
  for (std::size_t d = 0; d < 40; d += 3) pool.labels[d] = datasets::unlabelled;
  labelling const work(ctx, pool, options_of(2));
  for (std::size_t d = 0; d < 40; ++d) {
    std::vector<std::pair<long, std::size_t>> expected;
    for (std::size_t e = 0; e < 40; ++e) {
      if (e == d || pool.labels[e] == datasets::unlabelled) continue;
      long shared = 0;
      for (std::size_t f = 0; f < 7; ++f)
        shared += data.code(f, d) != datasets::no_item && data.code(f, d) == data.code(f, e);
      expected.emplace_back(-shared, e);
    }
    std::sort(expected.begin(), expected.end());
    for (std::size_t const k : {0, 1, 5, 100}) {
      auto const found = work.nearest_labelled(d, k);
      ASSERT_EQ(found.size(), std::min(k, expected.size()));
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].document, expected[i].second);
        EXPECT_EQ(static_cast<long>(found[i].shared_items), -expected[i].first);
      }
    }
  }
}

/// Valid rules over a sample, straight from their definition.
std::uint64_t rules_over(datasets::binned_dataset const& data, labelling const& work,
                         std::size_t partitions) {
  std::uint64_t rules = 0;
  for (std::size_t q = 0; q < partitions; ++q) {
    std::set<std::vector<std::uint32_t>> distinct;  // itemset and label
    for (choice const& c : work.take().choices) {
      if (c.partition != q) continue;
      std::vector<std::uint32_t> items;
      for (std::size_t f : work.features(q))
        if (data.code(f, c.document) != datasets::no_item)
          items.push_back(data.item_begin[f] + data.code(f, c.document));
      auto const label = static_cast<std::uint32_t>(data.labels[c.document]);
      for (std::size_t i = 0; i < items.size(); ++i) {
        distinct.insert({items[i], label});
        for (std::size_t j = 0; j < i; ++j)
          distinct.insert({std::min(items[i], items[j]), std::max(items[i], items[j]), label});
      }
    }
    rules += distinct.size();
  }
  return rules;
}

TEST(labelling, an_outlook_with_the_right_guesses_is_what_comes) {
  context const ctx;
  auto data = drawn_pool(33, 90, 8, 0);  // a guess is right where there is one label
  auto const pool = without_labels(data);
  for (engine const which : {engine::delta, engine::ssarp}) {
    auto options = options_of(2);
    options.engine = which;
    labelling work(ctx, pool, options);
    outlook const first = work.look_ahead(10);
    EXPECT_EQ(first.rules, 0U);
    EXPECT_EQ(first.next, 10U);
    for (std::size_t n = 0; !work.finished(); ++n) {
      outlook const now = work.look_ahead(1);
      EXPECT_EQ(now.rules, rules_over(data, work, 2));
      EXPECT_EQ(now.documents, first.documents - n);
      EXPECT_EQ(static_cast<std::int64_t>(now.rules) + now.documents_rules, first.documents_rules);
      if (n == 10) {
        EXPECT_EQ(static_cast<std::int64_t>(now.rules), first.next_rules);
      }
      EXPECT_EQ(now.next, 1U);
      std::size_t const next = work.wanted().front().document;
      work.answer(next, 0);
      EXPECT_EQ(static_cast<std::int64_t>(work.look_ahead(0).rules),
                static_cast<std::int64_t>(now.rules) + now.next_rules);
    }
    outlook const end = work.look_ahead(10);
    EXPECT_EQ(end.documents, 0U);
    EXPECT_EQ(end.next, 0U);
    EXPECT_EQ(end.documents_rules, 0);
  }
}

TEST(labelling, answers_given_in_advance_wait_and_change_nothing) {
  context const ctx;
  for (std::uint64_t seed = 50; seed < 54; ++seed) {
    auto const data = drawn_pool(seed, 90, 8);
    auto const pool = without_labels(data);
    random_engine draw(seed);
    std::set<std::size_t> out, given;
    for (std::size_t d = 0; d < data.documents; d += 6) out.insert(d);
    auto const said = [&](std::size_t d) {
      return out.contains(d) ? std::nullopt : std::optional(data.labels[d]);
    };
    labelling plain(ctx, pool, options_of(2)), work(ctx, pool, options_of(2));
    while (!plain.finished()) {
      std::size_t const d = plain.wanted().front().document;
      plain.answer(d, said(d));
    }
    while (!work.finished()) {
      // Eventually a document that is not wanted yet, or never.
      std::size_t d = uniform_below(draw, data.documents);
      if (uniform_below(draw, 4) != 0 || given.contains(d)) d = work.wanted().front().document;
      EXPECT_TRUE(given.insert(d).second);
      work.answer(d, said(d));
    }
    expect_same(work.take(), plain.take());
    EXPECT_GT(given.size(), plain.answers().size());
    std::size_t const count = work.answers().size();
    for (std::size_t n = 0; n < count; ++n) EXPECT_TRUE(work.undo());
    EXPECT_TRUE(work.take().documents.empty());
  }
}

TEST(labelling, a_batch_with_the_right_guesses_is_what_is_asked_about_next) {
  context const ctx;
  auto const data = drawn_pool(55, 90, 8, 0);  // a guess is right where there is one label
  auto const pool = without_labels(data);
  labelling work(ctx, pool, options_of(3));
  std::vector<std::size_t> const all = documents_of(work.batch(1000));
  ASSERT_GT(all.size(), 10U);
  for (std::size_t n = 0; !work.finished(); ++n) {
    EXPECT_EQ(work.wanted().front().document, all[n]);
    for (std::size_t const count : {0, 1, 2, 5, 1000}) {
      std::size_t const end = std::min(all.size(), n + count);
      EXPECT_EQ(documents_of(work.batch(count)),
                std::vector(all.begin() + static_cast<std::ptrdiff_t>(n),
                            all.begin() + static_cast<std::ptrdiff_t>(end)));
    }
    work.answer(all[n], 0);
  }
}

TEST(labelling, batches_of_any_size_lead_to_the_same_sample) {
  context const ctx;
  for (std::uint64_t seed = 60; seed < 63; ++seed) {
    auto const data = drawn_pool(seed, 120, 9);
    auto const pool = without_labels(data);
    for (std::size_t const budget : {0, 17})
      for (std::size_t const size : {1, 2, 7, 40}) {
        auto options = options_of(3);
        options.max_documents = budget;
        labelling work(ctx, pool, options);
        while (!work.finished()) {
          auto const batch = work.batch(size);
          ASSERT_FALSE(batch.empty());
          ASSERT_LE(batch.size(), size);
          // Wanted documents come first.
          auto const wanted = documents_of(work.wanted());
          auto const first = documents_of(batch);
          for (std::size_t i = 0; i < std::min(wanted.size(), first.size()); ++i)
            EXPECT_EQ(first[i], wanted[i]);
          // Answers in another order, as from a team.
          for (auto q = batch.rbegin(); q != batch.rend(); ++q)
            work.answer(q->document, data.labels[q->document]);
        }
        expect_same(work.take(), reduce(ctx, data, options));
      }
  }
}

TEST(labelling, looks_ahead_from_given_answers_while_others_come) {
  context const ctx;
  auto const data = drawn_pool(70, 80, 8);
  auto const pool = without_labels(data);
  labelling work(ctx, pool, options_of(3));
  auto const answer = [&] {
    std::size_t const next = work.wanted().front().document;
    work.answer(next, data.labels[next]);
  };
  for (int n = 0; n < 4; ++n) answer();
  std::vector<al::answer> const answers(work.answers().begin(), work.answers().end());
  outlook const now = work.look_ahead(5);
  ASSERT_GT(now.documents, 0U);
  std::jthread const reader([&] {
    for (int i = 0; i < 5; ++i) {
      outlook const then = work.look_ahead(5, answers);
      EXPECT_EQ(then.rules, now.rules);
      EXPECT_EQ(then.next_rules, now.next_rules);
      EXPECT_EQ(then.documents, now.documents);
      EXPECT_EQ(then.documents_low, now.documents_low);
      EXPECT_EQ(then.documents_high, now.documents_high);
    }
  });
  while (!work.finished()) {
    answer();
    work.undo();
    answer();
  }
}

TEST(labelling, is_read_by_several_threads_at_once) {
  context const ctx;
  auto const data = drawn_pool(70, 80, 8);
  auto const pool = without_labels(data);
  labelling first(ctx, pool, options_of(3));
  for (int n = 0; n < 5; ++n) {
    std::size_t const next = first.wanted().front().document;
    first.answer(next, data.labels[next]);
  }
  labelling const work = std::move(first);
  auto const batch = documents_of(work.batch(20));
  auto const documents = work.look_ahead(5).documents;
  std::vector<std::jthread> readers;
  for (int t = 0; t < 4; ++t)
    readers.emplace_back([&] {
      EXPECT_EQ(documents_of(work.batch(20)), batch);
      EXPECT_EQ(work.look_ahead(5).documents, documents);
      EXPECT_EQ(work.take().documents.size(), 5U);
      EXPECT_EQ(work.nearest_labelled(work.wanted().front().document, 3).size(), 3U);
    });
}

TEST(labelling, identity_is_of_all_that_questions_depend_on) {
  context const ctx;
  auto const data = drawn_pool(34, 50, 6);
  std::string const here = labelling(ctx, data, options_of(2)).identity();
  EXPECT_EQ(here.size(), 64U);
  auto same = options_of(2);
  same.engine = engine::ssarp;
  same.max_documents = 5;
  EXPECT_EQ(labelling(ctx, data, same).identity(), here);
  std::set<std::string> all{here};
  auto const add = [&](datasets::binned_dataset const& d, sampler_options const& o) {
    EXPECT_TRUE(all.insert(labelling(ctx, d, o).identity()).second);
  };
  add(data, options_of(3));
  add(data, options_of(2, {2, 0.001}));
  add(data, options_of(2, {1, 0.002}));
  auto other = options_of(2);
  other.rule_size = 4;
  add(data, other);
  other = options_of(2);
  other.feature_order = {1, 0, 2, 3, 4, 5};
  add(data, other);
  auto changed = data;
  changed.labels[3] = datasets::unlabelled;
  add(changed, options_of(2));
  changed = data;
  changed.codes[0] = changed.codes[0] == 0 ? 1 : 0;
  add(changed, options_of(2));
}

TEST(labelling, refuses_what_makes_no_sense) {
  context const ctx;
  auto const data = drawn_pool(35, 50, 6);
  auto const pool = without_labels(data);
  auto options = options_of(2);
  options.engine = engine::prss;
  EXPECT_THROW(labelling(ctx, pool, options), usage_error);
  EXPECT_THROW(labelling(ctx, pool, options_of(7)), usage_error);
  labelling work(ctx, pool, options_of(2));
  std::size_t const next = work.wanted().front().document;
  EXPECT_THROW(work.answer(next, -2), usage_error);
  work.answer(next, 1);
  EXPECT_THROW(work.answer(next, 1), usage_error);
  EXPECT_THROW(work.answer(data.documents + 5, 1), usage_error);
  EXPECT_EQ(work.answers().size(), 1U);
}

/// After withdrawing an answer, the sampling is as if it had never been given.
TEST(labelling, answers_are_taken_back_in_any_order) {
  context const ctx;
  auto const data = drawn_pool(11, 60, 6);
  auto pool = data;
  std::ranges::fill(pool.labels, datasets::unlabelled);
  for (std::size_t back = 0; back < 8; ++back) {
    labelling work(ctx, pool, options_of(2));
    std::vector<std::size_t> asked;
    for (int i = 0; i < 8; ++i) {
      asked.push_back(work.wanted().front().document);
      work.answer(asked.back(), data.labels[asked.back()]);
    }
    EXPECT_TRUE(work.take_back(asked[back]));
    EXPECT_FALSE(work.take_back(asked[back]));
    labelling other(ctx, pool, options_of(2));
    for (std::size_t const d : asked)
      if (d != asked[back]) other.answer(d, data.labels[d]);
    ASSERT_EQ(work.wanted().size(), other.wanted().size());
    for (std::size_t i = 0; i < work.wanted().size(); ++i)
      EXPECT_EQ(work.wanted()[i].document, other.wanted()[i].document);
    work.answer(asked[back], data.labels[asked[back]]);
    while (!work.finished())
      work.answer(work.wanted().front().document, data.labels[work.wanted().front().document]);
    expect_same(work.take(), reduce(ctx, data, options_of(2)));
  }
}

/// A document's rules before its label is known are those of itemsets that are not new.
TEST(labelling, a_document_brings_the_itemsets_that_its_sample_has_not) {
  context const ctx;
  auto const data = drawn_pool(12, 50, 5, 0);  // one label: an itemset is a rule
  auto pool = data;
  std::ranges::fill(pool.labels, datasets::unlabelled);
  labelling work(ctx, pool, options_of(1));
  std::size_t questions = 0;
  for (; !work.finished(); ++questions) {
    question const now = work.wanted().front();
    brought_rules const all = work.brings(now, 1000);
    EXPECT_EQ(all.items, 2U);
    EXPECT_EQ(all.itemsets - all.unseen, now.rules);
    if (questions == 0) {
      EXPECT_EQ(all.unseen, all.itemsets);
    }
    for (auto const& x : all.shortest)
      for (auto const& y : all.shortest)
        EXPECT_TRUE(&x == &y || !std::ranges::includes(x, y)) << "one within another";
    EXPECT_LE(work.brings(now, 2).shortest.size(), 2U);
    work.answer(now.document, 0);
  }
  EXPECT_GT(questions, 3U);
}

/// Every second document is excluded and all guesses are right, so every earlier expectation is
/// met.
TEST(labelling, an_outlook_counts_documents_that_are_left_out) {
  context const ctx;
  auto const pool = without_labels(drawn_pool(33, 90, 8, 0));
  for (std::size_t const budget : {std::size_t{0}, std::size_t{20}}) {
    auto options = options_of(2);
    options.max_documents = budget;
    labelling work(ctx, pool, options);
    std::vector<outlook> expected;  // after 2, 4, ... answers
    std::size_t answers = 0;
    for (; !work.finished(); ++answers) {
      if (answers > 0 && answers % 2 == 0) expected.push_back(work.look_ahead(3));
      std::size_t const next = work.wanted().front().document;
      work.answer(next, answers % 2 == 0 ? std::optional(0) : std::nullopt);
    }
    ASSERT_GT(expected.size(), 5U);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      std::size_t const left = answers - 2 * (i + 1);
      EXPECT_EQ(expected[i].minority_labels, 0U) << "all labels are 0";
      EXPECT_EQ(expected[i].documents, left);
      EXPECT_EQ(expected[i].left_out, left / 2);
      EXPECT_LE(expected[i].documents_low, left);
      EXPECT_GE(expected[i].documents_high, left) << "beyond the budget, which counts labels";
    }
  }
}

TEST(labelling, an_outlook_comes_to_an_end_where_everything_is_left_out) {
  context const ctx;
  auto const pool = without_labels(drawn_pool(33, 90, 8));
  labelling work(ctx, pool, options_of(2));
  std::size_t const none_left_out = work.look_ahead(3).documents;
  for (std::size_t answers = 0; answers < pool.documents; ++answers) {
    outlook const ahead = work.look_ahead(3);
    EXPECT_LE(ahead.documents, pool.documents - answers);
    EXPECT_LE(ahead.documents, ahead.documents_high);
    EXPECT_GE(ahead.documents, std::min(none_left_out, pool.documents - answers));
    work.answer(work.wanted().front().document, {});
  }
  EXPECT_TRUE(work.finished());
  EXPECT_EQ(work.look_ahead(3).documents, 0U);
}

TEST(labelling, an_outlook_has_bounds) {
  context const ctx;
  auto const data = drawn_pool(13, 80, 6);
  auto pool = data;
  std::ranges::fill(pool.labels, datasets::unlabelled);
  labelling work(ctx, pool, options_of(2));
  while (!work.finished()) {
    outlook const ahead = work.look_ahead(3);
    EXPECT_GE(ahead.documents_low, 1U);
    EXPECT_LE(ahead.documents_low, ahead.documents);
    EXPECT_LE(ahead.documents, ahead.documents_high);
    work.answer(work.wanted().front().document, data.labels[work.wanted().front().document]);
  }
  EXPECT_EQ(work.look_ahead(3).documents_high, 0U);
}

/// Counts labels of the data set and of answers, except the most common label, whichever it is.
TEST(labelling, an_outlook_has_wider_bounds_where_few_labels_differ) {
  context const ctx;
  auto pool = without_labels(drawn_pool(13, 400, 12, 1));
  std::fill_n(pool.labels.begin(), 40, 1);
  auto options = options_of(1);
  options.rule_size = 4;
  labelling work(ctx, pool, options);
  std::size_t zeros = 0;
  for (; zeros < 25; ++zeros) {
    ASSERT_FALSE(work.finished());
    outlook const ahead = work.look_ahead(3);
    EXPECT_EQ(ahead.minority_labels, zeros);
    auto const most =
        static_cast<std::size_t>(std::ranges::count(pool.labels, datasets::unlabelled)) - zeros;
    EXPECT_EQ(work.minority_labels(), zeros);
    double const few = std::exp(3 / std::sqrt(std::max(1.0, static_cast<double>(zeros))));
    auto const high = static_cast<std::size_t>(
        std::ceil(std::max(1.5, few) * static_cast<double>(ahead.documents) + 10));
    EXPECT_EQ(ahead.documents_high, std::min(high, most)) << zeros;
    work.answer(work.wanted().front().document, 0);
  }
  for (std::size_t d = 40; zeros < 45; ++d)
    if (work.label_of(d) == datasets::unlabelled) {
      work.answer(d, 0);
      ++zeros;
    }
  EXPECT_EQ(work.look_ahead(3).minority_labels, 40U);
}

}  // namespace
}  // namespace rulerank::al::labelling_test
