#include "l2r/scorecard/one_page.hpp"

#include "core/error.hpp"
#include "l2r/explain/inspection.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/scorecard/pair_system.hpp"
#include "l2r/testing.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::one_page_test {
namespace {

using testing_tools::random_set;

struct cut_set {
  datasets::discretizer cuts;
  datasets::binned_dataset items;
};

cut_set cut(datasets::dataset const& data, datasets::missing_values missing = {}) {
  context const ctx;
  datasets::discretizer_options how{datasets::binning::capped, 8};
  how.missing = missing;
  datasets::discretizer cuts = datasets::fit_discretizer(ctx, data, how);
  datasets::binned_dataset items = datasets::apply_discretizer(ctx, data, cuts);
  return {std::move(cuts), std::move(items)};
}

scorecard_options page_options(std::size_t features = 3, int points = 100,
                               card_loss loss = card_loss::pair) {
  scorecard_options options{loss, 1e-3, .1};
  options.page = {features, points};
  return options;
}

scorecard_recipe page_recipe(std::size_t features, bool cross_fit) {
  scorecard_recipe how;
  how.discretizer = {datasets::binning::capped, 8};
  how.options = page_options(features);
  how.options.cross_fit = cross_fit;
  return how;
}

context on_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

/// A and b of pair_system, summed over documents or pairs of documents.
struct full_system {
  std::size_t n;
  std::vector<double> a, b;

  full_system(datasets::dataset const& data, datasets::binned_dataset const& items, card_loss loss)
      : n(items.items()), a(n * n), b(n), items_(items) {
    if (loss == card_loss::point)
      add_documents(data.labels);
    else
      for (auto const& q : data.queries) add_pairs(data, q);
  }

 private:
  std::vector<double> row_of(std::size_t d) const {
    std::vector<double> row(n);
    for (std::size_t f = 0; f < items_.feature_count(); ++f)
      if (items_.code(f, d) != datasets::no_item) row[items_.item_begin[f] + items_.code(f, d)] = 1;
    return row;
  }
  void add(std::vector<double> const& row, double weight, double target) {
    for (std::size_t i = 0; i < n; ++i) {
      b[i] += weight * target * row[i];
      for (std::size_t j = 0; j < n; ++j) a[i * n + j] += weight * row[i] * row[j];
    }
  }
  void add_documents(std::vector<std::int32_t> const& y) {
    auto const all = static_cast<double>(y.size());
    double mean = 0, variance = 0;
    for (auto const one : y) mean += one / all;
    for (auto const one : y) variance += (one - mean) * (one - mean) / all;
    for (std::size_t d = 0; d < y.size(); ++d) add(row_of(d), 1 / (all * variance), y[d] - mean);
  }
  void add_pairs(datasets::dataset const& data, datasets::query_group const& q) {
    auto const& y = data.labels;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    double sum = 0;
    for (std::size_t i = q.begin; i < q.end; ++i)
      for (std::size_t j = q.begin; j < q.end; ++j)
        if (y[i] > y[j]) {
          pairs.emplace_back(i, j);
          sum += std::exp2(y[i]) - std::exp2(y[j]);
        }
    for (auto const& [i, j] : pairs) {
      std::vector<double> row = row_of(i), other = row_of(j);
      for (std::size_t x = 0; x < n; ++x) row[x] -= other[x];
      add(row, (std::exp2(y[i]) - std::exp2(y[j])) / sum / static_cast<double>(data.queries.size()),
          1);
    }
  }

  datasets::binned_dataset const& items_;
};

TEST(pair_system, is_the_sum_over_pairs) {
  auto const data = random_set(60, 3);
  cut_set const set = cut(data);
  auto const& begin = set.items.item_begin;
  for (card_loss const loss : {card_loss::pair, card_loss::point}) {
    pair_system const system(data.queries, set.items, loss);
    full_system const full(data, set.items, loss);
    for (std::size_t f = 0; f < set.items.feature_count(); ++f) {
      auto const right = system.right_side(f);
      for (std::size_t x = 0; x < right.size(); ++x)
        EXPECT_NEAR(right[x], full.b[begin[f] + x], 1e-12);
      for (std::size_t g = 0; g < set.items.feature_count(); ++g) {
        auto const block = system.block(f, g);
        for (std::size_t x = 0; x < set.items.bins(f); ++x)
          for (std::size_t z = 0; z < set.items.bins(g); ++z)
            EXPECT_NEAR(block[x * set.items.bins(g) + z],
                        full.a[(begin[f] + x) * full.n + begin[g] + z], 1e-12)
                << f << " " << g;
      }
    }
  }
}

/// Checks the invariants of a card on one page.
void expect_page(page_card const& page, std::size_t features, int points) {
  scorecard const& card = page.card;
  ASSERT_LE(card.features.size(), features);
  ASSERT_EQ(card.features, page.items.features);
  ASSERT_EQ(card.item_begin, page.items.item_begin);
  std::int64_t largest = 0;
  for (std::size_t f = 0; f < card.features.size(); ++f) {
    std::vector<std::int64_t> own;
    for (std::uint32_t x = card.item_begin[f]; x < card.item_begin[f + 1]; ++x) {
      EXPECT_EQ(card.points[x] % (std::int64_t{1} << card_bits), 0);
      own.push_back(card.points[x] >> card_bits);
    }
    EXPECT_GE(*std::ranges::min_element(own), 0);
    largest = std::max(largest, *std::ranges::max_element(own));
    if (page.items.has_missing_item[f]) own.pop_back();
    EXPECT_TRUE(std::ranges::is_sorted(own) || std::ranges::is_sorted(own, std::greater<>()))
        << "feature " << card.features[f];
    // Neighbouring bins with equal points are merged, unless only two bins are left.
    bool const one_cut = own.size() == 2;
    EXPECT_TRUE(one_cut || std::ranges::adjacent_find(own) == own.end());
    auto const& cuts =
        *std::ranges::find(page.cuts.features, card.features[f], &datasets::feature_cuts::feature);
    EXPECT_EQ(cuts.cuts.size() + 1, own.size());
  }
  EXPECT_LE(largest, points);
}

TEST(one_page, has_few_monotone_features_of_whole_points) {
  context const ctx;
  auto const data = random_set(400, 5);
  for (auto const missing : {datasets::missing_values::item, datasets::missing_values::none}) {
    cut_set const set = cut(data, missing);
    for (card_loss const loss : {card_loss::pair, card_loss::list, card_loss::point})
      for (std::size_t const features : {1, 2, 6, 50})
        for (int const points : {1, 10, 100}) {
          page_card const page = fit_page(ctx, data.queries, set.items, set.cuts,
                                          page_options(features, points, loss));
          SCOPED_TRACE(fmt::format("{} {} {}", name_of(loss), features, points));
          expect_page(page, features, points);
        }
  }
}

TEST(one_page, chooses_what_the_labels_follow) {
  auto const data = random_set(400, 6);
  cut_set const set = cut(data);
  for (card_loss const loss : {card_loss::pair, card_loss::point}) {
    page_card const page =
        fit_page(context{}, data.queries, set.items, set.cuts, page_options(2, 100, loss));
    EXPECT_EQ(page.card.features, (std::vector<std::uint32_t>{1, 2})) << name_of(loss);
    // More of the first feature is better, more of the second worse.
    auto const first = page.card.points.begin();
    EXPECT_LT(*first, *(first + page.card.item_begin[1] - 2));
    EXPECT_GT(*(first + page.card.item_begin[1]), *(first + page.card.item_begin[2] - 2));
  }
}

TEST(one_page, is_the_same_on_any_number_of_threads) {
  auto const data = random_set(300, 7);
  cut_set const set = cut(data);
  for (card_loss const loss : {card_loss::pair, card_loss::point}) {
    page_card const one =
        fit_page(on_threads(1), data.queries, set.items, set.cuts, page_options(5, 100, loss));
    for (int const threads : {2, 3, 7}) {
      page_card const other = fit_page(on_threads(threads), data.queries, set.items, set.cuts,
                                       page_options(5, 100, loss));
      EXPECT_EQ(other.card.points, one.card.points);
      EXPECT_EQ(other.card.features, one.card.features);
    }
  }
}

TEST(one_page, learns_nothing_from_equal_labels) {
  auto data = random_set(40, 8);
  std::ranges::fill(data.labels, 1);
  cut_set const set = cut(data);
  page_card const page = fit_page(context{}, data.queries, set.items, set.cuts, page_options());
  EXPECT_FALSE(page.card.points.empty());
  EXPECT_TRUE(std::ranges::all_of(page.card.points, [](auto p) { return p == 0; }));
}

TEST(one_page, has_a_feature_whatever_it_learns) {
  // The label is high in the middle of the only feature: it has no direction.
  std::string text;
  for (int d = 0; d < 90; ++d)
    text += fmt::format("{} qid:{} 1:{}\n", d % 3 == 1 ? 1 : 0, d / 9, d % 3);
  auto const data = datasets::parse_svmlight(context{}, text, "peak");
  cut_set const set = cut(data);
  page_card const page = fit_page(context{}, data.queries, set.items, set.cuts, page_options());
  EXPECT_EQ(page.card.features, (std::vector<std::uint32_t>{1}));
  expect_page(page, 1, 100);
}

/// The labels follow two of the six features.
TEST(choose_page, takes_the_smallest_card_that_is_not_behind) {
  auto const data = random_set(1200, 11);
  cut_set const set = cut(data);
  for (card_loss const loss : {card_loss::pair, card_loss::point}) {
    scorecard_options asked = page_options(8, 100, loss);
    asked.cross_fit = true;
    page_choice const chosen = choose_page(context{}, data.queries, set.items, set.cuts, asked);
    EXPECT_FALSE(chosen.options.cross_fit);
    EXPECT_EQ(chosen.options.loss, loss);
    ASSERT_EQ(chosen.frontier.size(), 3U);
    card_trial const& largest = chosen.frontier.back();
    EXPECT_EQ(largest.behind, 0);
    EXPECT_EQ(largest.error, 0);
    std::size_t smallest = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      card_trial const& one = chosen.frontier[i];
      EXPECT_EQ(one.features, (std::vector<std::size_t>{3, 5, 6})[i]);
      EXPECT_NEAR(one.behind, largest.quality - one.quality, 1e-12);
      bool const is_proven = one.behind + 2 * one.error <= 0.005 * std::abs(largest.quality);
      if (smallest == 0 && is_proven) smallest = one.features;
    }
    EXPECT_EQ(chosen.options.page->max_features, smallest);
    EXPECT_LT(smallest, 6U);  // two features determine the label
    EXPECT_EQ(chosen.options.smoothness,
              std::ranges::find(chosen.frontier, smallest, &card_trial::features)->smoothness);
    for (int const threads : {1, 3}) {
      page_choice const again =
          choose_page(on_threads(threads), data.queries, set.items, set.cuts, asked);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(again.frontier[i].quality, chosen.frontier[i].quality);
    }
  }
}

TEST(choose_page, compares_pairs_where_queries_have_documents_to_compare) {
  auto const data = random_set(200, 12);
  cut_set const set = cut(data);
  scorecard_options asked = page_options(3);
  asked.cross_fit = true;
  asked.page->choose_loss = true;
  EXPECT_EQ(choose_page(context{}, data.queries, set.items, set.cuts, asked).options.loss,
            card_loss::pair);
  std::vector<datasets::query_group> fives;
  for (std::size_t d = 0; d < data.size(); d += 5) fives.push_back({"", d, d + 5});
  EXPECT_EQ(choose_page(context{}, fives, set.items, set.cuts, asked).options.loss,
            card_loss::point);
}

TEST(choose_page, chooses_nothing_where_it_is_not_asked_or_cannot) {
  auto const data = random_set(40, 13);
  cut_set const set = cut(data);
  scorecard_options asked = page_options(4);
  asked.smoothness = 0.7;
  EXPECT_TRUE(choose_page(context{}, data.queries, set.items, set.cuts, asked).frontier.empty());
  asked.cross_fit = true;
  std::vector<datasets::query_group> const one{{"", 0, data.size()}};
  page_choice const chosen = choose_page(context{}, one, set.items, set.cuts, asked);
  EXPECT_TRUE(chosen.frontier.empty());
  EXPECT_EQ(chosen.options.smoothness, 0.7);
  EXPECT_EQ(chosen.options.page->max_features, 4U);
}

TEST(one_page, stops_when_it_is_told) {
  auto const data = random_set(100, 9);
  cut_set const set = cut(data);
  std::stop_source stop;
  stop.request_stop();
  context ctx;
  ctx.stop = stop.get_token();
  EXPECT_THROW(fit_page(ctx, data.queries, set.items, set.cuts, page_options()), interrupted);
}

TEST(one_page, options_are_checked) {
  auto options = page_options(0);
  EXPECT_THROW(check(options), usage_error);
  options.page = {10, 0};
  EXPECT_THROW(check(options), usage_error);
  options.page = {1000, 10000};
  EXPECT_NO_THROW(check(options));
  options.page = {10, 10001};
  EXPECT_THROW(check(options), usage_error);
}

TEST(one_page, is_kept_in_a_model_file_and_scores_each_document_alone) {
  context const ctx;
  auto const data = random_set(200, 10);
  recipe const recipes[] = {page_recipe(3, false)};
  model const fitted = fit(ctx, data, recipes);
  model const read = model_from_bytes(to_bytes(fitted), "kept");
  EXPECT_EQ(kind_of(read.members.front()), "card");
  EXPECT_NE(to_bytes(fitted).find("\"kind\":\"scorecard\""), std::string::npos);
  auto const& member = std::get<scorecard_member>(read.members.front());
  ASSERT_TRUE(member.options.page);
  EXPECT_EQ(member.options.page->max_features, 3U);
  EXPECT_TRUE(member.frontier.empty());
  EXPECT_EQ(member.card.points, std::get<scorecard_member>(fitted.members.front()).card.points);
  scorer const by(ctx, read);
  auto const all = by.score(ctx, data).scores;
  for (std::size_t const d : {0, 57, 199}) {
    std::size_t const one[] = {d};
    EXPECT_EQ(by.score(ctx, datasets::subset(data, one)).scores.front(), all[d]);
    EXPECT_EQ(all[d], std::floor(all[d]));
  }
}

TEST(one_page, keeps_its_frontier_in_a_model_file) {
  context const ctx;
  auto const data = random_set(200, 14);
  recipe const recipes[] = {page_recipe(5, true)};
  model const fitted = fit(ctx, data, recipes);
  auto const& before = std::get<scorecard_member>(fitted.members.front()).frontier;
  model const read = model_from_bytes(to_bytes(fitted), "kept");
  auto const& after = std::get<scorecard_member>(read.members.front()).frontier;
  ASSERT_EQ(before.size(), 2U);
  ASSERT_EQ(after.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after[i].features, before[i].features);
    EXPECT_EQ(after[i].quality, before[i].quality);
    EXPECT_EQ(after[i].behind, before[i].behind);
    EXPECT_EQ(after[i].error, before[i].error);
    EXPECT_EQ(after[i].smoothness, before[i].smoothness);
  }
  EXPECT_EQ(to_bytes(read), to_bytes(fitted));
}

TEST(one_page, says_what_totals_mean) {
  context const ctx;
  auto const data = random_set(300, 15);
  recipe const recipes[] = {page_recipe(3, false)};
  model const fitted = model_from_bytes(to_bytes(fit(ctx, data, recipes)), "kept");
  auto const& totals = std::get<scorecard_member>(fitted.members.front()).totals;
  auto const scores = scorer(ctx, fitted).score(ctx, data).scores;
  ASSERT_GE(totals.size(), 5U);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    std::uint32_t documents = 0;
    double labels = 0;
    for (std::size_t d = 0; d < data.size(); ++d) {
      bool const reaches_next =
          i + 1 < totals.size() && scores[d] >= static_cast<double>(totals[i + 1].from);
      if (scores[d] < static_cast<double>(totals[i].from) || reaches_next) continue;
      ++documents;
      labels += data.labels[d];
    }
    EXPECT_EQ(totals[i].documents, documents);
    EXPECT_DOUBLE_EQ(totals[i].mean_label, labels / documents);
  }
}

TEST(bootstrap, intervals_have_the_points_where_labels_follow_the_features) {
  auto const data = random_set(300, 15);
  recipe const recipes[] = {page_recipe(3, false)};
  model const fitted = fit({}, data, recipes);
  auto const& member = std::get<scorecard_member>(fitted.members.front());
  auto const found = bootstrap({}, member, data, 60);
  ASSERT_EQ(found.size(), member.card.points.size());
  std::size_t within = 0;
  for (std::size_t x = 0; x < found.size(); ++x) {
    double const points = value_of_points(member.card.points[x]);
    EXPECT_LE(found[x].low, found[x].high);
    within += points >= found[x].low && points <= found[x].high ? 1 : 0;
  }
  EXPECT_GE(within * 10, found.size() * 8);
  auto const again = bootstrap(on_threads(3), member, data, 60);
  for (std::size_t x = 0; x < found.size(); ++x) {
    EXPECT_EQ(again[x].low, found[x].low);
    EXPECT_EQ(again[x].high, found[x].high);
  }
}

TEST(bootstrap, refuses_other_documents_and_other_members) {
  auto const data = random_set(300, 15);
  recipe const recipes[] = {page_recipe(3, false)};
  model const fitted = fit({}, data, recipes);
  auto const& member = std::get<scorecard_member>(fitted.members.front());
  EXPECT_THROW(bootstrap({}, member, data, 0), usage_error);
  EXPECT_THROW(bootstrap({}, member, random_set(300, 16), 5), usage_error);
  EXPECT_THROW(bootstrap({}, member, random_set(290, 15), 5), usage_error);
  scorecard_member other = member;
  other.options.page.reset();
  EXPECT_THROW(bootstrap({}, other, data, 5), usage_error);
}

/// A pool of which the first document of each query has a label.
datasets::dataset pool_with_few_labels(std::uint64_t seed) {
  auto pool = random_set(600, seed);
  for (datasets::query_group const& q : pool.queries)
    for (std::size_t d = q.begin + 1; d < q.end; ++d) pool.labels[d] = datasets::unlabelled;
  return pool;
}

model fit_one(datasets::dataset const& data, scorecard_recipe const& how, int threads = 1) {
  recipe const recipes[] = {how};
  return fit(on_threads(threads), data, recipes);
}

TEST(card_target, is_the_members_where_labels_are_few) {
  auto const pool = pool_with_few_labels(21);
  scorecard_recipe const few = card_recipe();
  model const fitted = model_from_bytes(to_bytes(fit_one(pool, few)), "kept");
  auto const& member = std::get<scorecard_member>(fitted.members.front());
  EXPECT_EQ(member.options.page->target, card_target::members);
  EXPECT_EQ(member.options.loss, card_loss::pair);
  EXPECT_TRUE(member.frontier.empty());
  EXPECT_EQ(member.training_documents, pool.size());
  std::uint32_t labelled = 0;
  for (card_total const& one : member.totals) labelled += one.documents;
  EXPECT_EQ(labelled, pool.queries.size());
  EXPECT_EQ(to_bytes(fit_one(pool, few, 3)), to_bytes(fitted));

  scorecard_recipe many = few;
  many.options.page->target = card_target::labels;
  model const by_labels = fit_one(pool, many);
  EXPECT_EQ(std::get<scorecard_member>(by_labels.members.front()).training_documents,
            pool.queries.size());
  EXPECT_NE(to_bytes(by_labels), to_bytes(fitted));
}

TEST(bootstrap, has_intervals_for_grades) {
  auto const pool = pool_with_few_labels(21);
  model const fitted = fit_one(pool, card_recipe());
  auto const& member = std::get<scorecard_member>(fitted.members.front());
  ASSERT_EQ(member.options.page->target, card_target::members);
  auto const found = bootstrap({}, member, pool, 12);
  ASSERT_EQ(found.size(), member.card.points.size());
  std::size_t within = 0, uncertain = 0;
  for (std::size_t x = 0; x < found.size(); ++x) {
    double const points = value_of_points(member.card.points[x]);
    within += points >= found[x].low && points <= found[x].high ? 1 : 0;
    uncertain += found[x].low < found[x].high ? 1 : 0;
  }
  EXPECT_GE(within * 10, found.size() * 6);
  EXPECT_GE(uncertain * 2, found.size());
  auto const again = bootstrap(on_threads(3), member, pool, 12);
  for (std::size_t x = 0; x < found.size(); ++x) {
    EXPECT_EQ(again[x].low, found[x].low);
    EXPECT_EQ(again[x].high, found[x].high);
  }
  auto const labelled = datasets::labelled_documents(pool, "test");
  EXPECT_THROW(bootstrap({}, member, datasets::subset(pool, labelled), 5), usage_error);
}

TEST(card_target, tries_sizes_with_few_labels) {
  auto pool = random_set(900, 25);
  for (datasets::query_group const& q : pool.queries)
    for (std::size_t d = q.begin + 2; d < q.end; ++d) pool.labels[d] = datasets::unlabelled;
  scorecard_recipe how = card_recipe();
  how.options.page->max_features = 5;
  auto const tried = [&](int threads) {
    fit_result result = result_of(fit_one(pool, how, threads));
    EXPECT_TRUE(result.sizes.empty());
    try_sizes(on_threads(threads), pool, result, {.card = how.discretizer});
    return result;
  };
  fit_result const found = tried(1);
  ASSERT_EQ(found.sizes.size(), 1U);
  card_sizes const& sizes = found.sizes.front();
  EXPECT_EQ(sizes.loss, card_loss::point);
  EXPECT_EQ(sizes.chosen, 5U);
  ASSERT_EQ(sizes.tried.size(), 2U);
  EXPECT_EQ(sizes.tried.front().features, 3U);
  EXPECT_EQ(sizes.tried.back().behind, 0);
  for (card_trial const& one : sizes.tried) {
    EXPECT_LT(one.quality, 0);  // minus the squared error
    EXPECT_NEAR(one.behind, sizes.tried.back().quality - one.quality, 1e-12);
  }
  EXPECT_GT(sizes.tried.front().error, 0);
  std::string const bytes = to_bytes(found.model);
  EXPECT_EQ(to_bytes(tried(3).model), bytes);
  model const kept = model_from_bytes(bytes, "kept");
  auto const& member = std::get<scorecard_member>(kept.members.front());
  EXPECT_EQ(member.frontier_loss, card_loss::point);
  EXPECT_EQ(member.options.loss, card_loss::pair);
  EXPECT_EQ(to_bytes(kept), bytes);
}

TEST(card_target, tries_no_sizes_with_fewer_queries_and_for_labels) {
  scorecard_recipe how = card_recipe();
  how.options.page->max_features = 5;
  auto few = pool_with_few_labels(21);
  for (datasets::query_group const& q : few.queries)
    if (&q - few.queries.data() >= 19) few.labels[q.begin] = datasets::unlabelled;
  fit_result result = result_of(fit_one(few, how));
  try_sizes({}, few, result, {.card = how.discretizer});
  EXPECT_TRUE(result.sizes.empty());
  how.options.page->target = card_target::labels;
  result = result_of(fit_one(random_set(600, 26), how));
  std::string const before = to_bytes(result.model);
  try_sizes({}, random_set(600, 26), result, {.card = how.discretizer});
  EXPECT_EQ(to_bytes(result.model), before);
}

TEST(card_target, of_members_ranks_as_they_do) {
  auto const all = random_set(600, 22);
  auto pool = pool_with_few_labels(22);
  context const ctx;
  auto const scores = scorer(ctx, fit_one(pool, card_recipe())).score(ctx, all).scores;
  // A few labels of the pool agree with all of its labels.
  std::size_t agree = 0, pairs = 0;
  for (datasets::query_group const& q : all.queries)
    for (std::size_t a = q.begin; a < q.end; ++a)
      for (std::size_t b = q.begin; b < q.end; ++b)
        if (all.labels[a] > all.labels[b]) {
          ++pairs;
          agree += scores[a] > scores[b] ? 1 : 0;
        }
  EXPECT_GT(static_cast<double>(agree), .75 * static_cast<double>(pairs));
}

TEST(card_target, is_the_labels_where_there_are_enough_or_a_loss_is_given) {
  auto const many = random_set(few_labels_for_card, 23);
  scorecard_recipe how = card_recipe();
  how.options.cross_fit = false;
  auto const target_of = [](model const& of) {
    return std::get<scorecard_member>(of.members.front()).options.page->target;
  };
  EXPECT_EQ(target_of(fit_one(many, how)), card_target::labels);
  auto const few = random_set(few_labels_for_card - 20, 23);
  EXPECT_EQ(target_of(fit_one(few, how)), card_target::members);
  how.options.page->choose_loss = false;
  EXPECT_EQ(target_of(fit_one(few, how)), card_target::labels);
}

}  // namespace
}  // namespace rulerank::l2r::one_page_test
