#include "core/error.hpp"
#include "core/random.hpp"
#include "rules/combinadic.hpp"
#include "rules/combinadic_math.hpp"
#include "rules/fingerprint.hpp"
#include "rules/growing_index.hpp"
#include "rules/itemset_cache.hpp"
#include "rules/rules_reference.hpp"
#include "rules/thresholds.hpp"
#include "rules/vertical_index.hpp"

#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace rulerank::inline v0::rules::rules_test {
namespace {

TEST(combinadic, gives_every_combination_once_and_back) {
  for (std::uint32_t n = 1; n <= 9; ++n) {
    for (std::uint32_t k = 1; k <= n; ++k) {
      std::set<std::vector<std::uint32_t>> seen;
      std::vector<std::uint32_t> c(k);
      for (std::uint64_t z = 0; z < binomial(n, k); ++z) {
        combination_at(z, n, c);
        EXPECT_LT(c[0], n);
        for (std::size_t i = 1; i < k; ++i) EXPECT_LT(c[i], c[i - 1]);
        EXPECT_TRUE(seen.insert(c).second);
        EXPECT_EQ(combination_index(c), z);
      }
      EXPECT_EQ(seen.size(), binomial(n, k));
    }
  }
}

TEST(combinadic, with_binomials_looked_up_is_the_same) {
  constexpr std::uint32_t most = 9;
  constexpr std::uint32_t stride = most + 1;
  std::vector<std::uint64_t> binomials;
  for (std::uint32_t y = 0; y <= most; ++y)
    for (std::uint32_t k = 0; k < stride; ++k) binomials.push_back(binomial(y, k));
  for (std::uint32_t n = 1; n <= most; ++n) {
    for (std::uint32_t k = 1; k <= n; ++k) {
      std::vector<std::uint32_t> expected(k), c(k), next(k);
      for (std::uint64_t z = 0; z < binomial(n, k); ++z) {
        combination_at(z, n, expected);
        combination_at(z, n, k, binomials.data(), stride, c.data());
        EXPECT_EQ(c, expected);
        if (z == 0) {
          next = c;
          continue;
        }
        std::vector<std::uint32_t> const before = next;
        std::uint32_t const changed = next_combination(next.data(), k);
        EXPECT_EQ(next, c);
        EXPECT_TRUE(std::equal(c.begin(), c.begin() + changed, before.begin()));
        EXPECT_NE(c[changed], before[changed]);
      }
      next_combination(c.data(), k);
      EXPECT_EQ(c[0], n) << "after the last one";
    }
  }
}

TEST(combinadic, emits_item_zero) {
  std::vector<std::uint32_t> c(3);
  combination_at(0, 10, c);
  EXPECT_EQ(c, (std::vector<std::uint32_t>{2, 1, 0}));
  combination_at(binomial(449, 3) - 1, 449, c);
  EXPECT_EQ(c, (std::vector<std::uint32_t>{448, 447, 446}));
}

TEST(combinadic, counts_are_checked) {
  EXPECT_EQ(binomial(449, 3), 14985824U);
  EXPECT_EQ(binomial(64, 32), 1832624140942590534U);
  EXPECT_THROW(binomial(100, 50), usage_error);
  EXPECT_EQ(binomial(3, 4), 0U);
  EXPECT_EQ(itemset_count(59, 3), 59U + 1711U + 32509U);
  EXPECT_EQ(itemset_count(3, 10), 7U);
}

TEST(thresholds, table_is_the_division) {
  for (double theta : {0.0, 0.001, 0.01, 0.2, 1.0 / 3, 0.5, 1.0}) {
    for (std::uint32_t sigma_min : {0U, 1U, 2U, 5U}) {
      thresholds const t{sigma_min, theta};
      validity const v(t, 1500);
      for (std::uint32_t n = 1; n <= 1500; n += n < 100 ? 1 : 37) {
        for (std::uint32_t sigma = 0; sigma <= n; ++sigma)
          ASSERT_EQ(sigma >= v.min_valid(n), reference::valid(sigma, n, t))
              << sigma << " of " << n << ", " << sigma_min << ", " << theta;
      }
    }
  }
}

TEST(thresholds, says_up_to_where_all_is_valid) {
  EXPECT_EQ(validity({1, 0.001}, 5000).all_valid_up_to(), 1000U);
  EXPECT_EQ(validity({1, 0.0}, 5000).all_valid_up_to(), 5000U);
  EXPECT_EQ(validity({2, 0.0}, 5000).all_valid_up_to(), 0U);
  EXPECT_EQ(validity({1, 0.5}, 5000).all_valid_up_to(), 2U);
  EXPECT_THROW(validity({1, 1.5}, 1), usage_error);
  EXPECT_THROW(validity({1, -0.1}, 1), usage_error);
}

TEST(fingerprint, is_the_published_sum) {
  fingerprint const f(10, 3);
  EXPECT_EQ(std::vector<std::uint32_t>(f.primes().begin(), f.primes().end()),
            (std::vector<std::uint32_t>{11, 13, 17}));
  std::vector<item> const x{2, 5, 7};
  EXPECT_DOUBLE_EQ(f(x), 2.0 / 11 + 5.0 / 13 + 7.0 / 17);
}

TEST(itemset_cache, never_gives_a_wrong_count) {
  // Item 0 contributes nothing to a fingerprint, so for example {0, 3} shares slots with other
  // sets.
  itemset_cache cache(40, 3, 2, 1 << 22);
  std::vector<std::vector<item>> all;
  reference::for_each_itemset(
      [] {
        std::vector<item> items(40);
        std::iota(items.begin(), items.end(), 0U);
        return items;
      }(),
      3, [&](std::vector<item> const& x) { all.push_back(x); });
  std::uint32_t value = 0;
  for (auto const& x : all) {
    ASSERT_TRUE(cache.find(x).empty());
    ++value;
    ASSERT_TRUE(cache.insert(x, std::vector<std::uint32_t>{value, 2 * value}));
  }
  value = 0;
  for (auto const& x : all) {
    auto const counts = cache.find(x);
    ++value;
    ASSERT_EQ(counts.size(), 2U);
    ASSERT_EQ(counts[0], value);
    ASSERT_EQ(counts[1], 2 * value);
  }
  EXPECT_EQ(cache.hits(), all.size());
  EXPECT_EQ(cache.misses(), all.size());
}

TEST(itemset_cache, keeps_to_its_memory) {
  std::size_t const limit = 1 << 18;
  itemset_cache cache(1000, 1, 1, limit);
  itemset_cache small(100000, 1, 1, limit);
  std::size_t kept = 0;
  for (item x = 0; x < 100000; ++x) {
    std::vector<item> const set{x};
    kept += small.insert(set, std::vector<std::uint32_t>{x});
  }
  EXPECT_LT(kept, 100000U);
  EXPECT_EQ(kept, small.size());
  EXPECT_LE(small.bytes(), limit);
  std::size_t found = 0;
  for (item x = 0; x < 100000; ++x) {
    std::vector<item> const set{x};
    auto const counts = small.find(set);
    if (counts.empty()) continue;
    ++found;
    EXPECT_EQ(counts[0], x);
  }
  EXPECT_EQ(found, kept);
}

/// Random documents as reference documents and as a binned data set.
struct random_set {
  random_set(std::uint64_t seed, std::size_t n, std::size_t features, std::int32_t max_label) {
    random_engine engine(seed);
    binned.documents = n;
    binned.stride = round_up(n, 64);
    binned.codes.assign(features * binned.stride, datasets::no_item);
    binned.item_begin = {0};
    for (std::size_t f = 0; f < features; ++f) {
      binned.features.push_back(static_cast<std::uint32_t>(f + 1));
      binned.item_begin.push_back(binned.item_begin.back() + 3);
      binned.has_missing_item.push_back(false);
    }
    binned.max_label = max_label;
    documents.resize(n);
    for (std::size_t d = 0; d < n; ++d) {
      documents[d].label = static_cast<std::int32_t>(
          uniform_below(engine, static_cast<std::uint64_t>(max_label) + 1));
      binned.labels.push_back(documents[d].label);
      for (std::size_t f = 0; f < features; ++f) {
        auto const code = uniform_below(engine, 4);
        if (code == 3) continue;  // no item in this feature
        binned.codes[f * binned.stride + d] = static_cast<std::uint8_t>(code);
        documents[d].items.push_back(binned.item_begin[f] + static_cast<item>(code));
      }
    }
  }
  datasets::binned_dataset binned;
  std::vector<reference::document> documents;
};

template <SupportSource Source>
void expect_reference_supports(Source& source, random_set const& set, std::int32_t max_label) {
  std::vector<item> items(set.binned.items());
  std::iota(items.begin(), items.end(), 0U);
  std::vector<std::uint32_t> counts(source.class_count());
  reference::for_each_itemset(items, 3, [&](std::vector<item> const& x) {
    auto const expected = reference::supports(set.documents, x, max_label);
    std::uint32_t const n = source.supports(x, counts);
    ASSERT_EQ(n, std::accumulate(expected.begin(), expected.end(), 0U));
    for (std::size_t k = 0; k < counts.size(); ++k)
      ASSERT_EQ(counts[k], expected[static_cast<std::size_t>(source.class_label(k))]);
  });
}

TEST(support_sources, agree_with_the_reference) {
  for (std::size_t n : {1, 2, 64, 65, 700}) {
    random_set const set(n, n, 5, 3);
    vertical_index const index(set.binned);
    vertical_counter vertical(index);
    expect_reference_supports(vertical, set, 3);
    growing_index growing(set.binned.items());
    for (auto const& d : set.documents) growing.add(d.items, d.label);
    expect_reference_supports(growing, set, 3);
  }
}

TEST(vertical_index, orders_by_label_highest_first) {
  random_set const set(5, 900, 2, 4);
  vertical_index const index(set.binned);
  for (std::size_t k = 1; k < index.class_count(); ++k) {
    EXPECT_GT(index.class_label(k - 1), index.class_label(k));
    EXPECT_EQ(index.ranges()[k].begin % 8, 0U);
  }
  for (std::size_t d = 0; d < 900; ++d) {
    std::uint32_t const word = index.positions()[d] / 64;
    for (std::size_t k = 0; k < index.class_count(); ++k) {
      bool const inside = word >= index.ranges()[k].begin && word < index.ranges()[k].end;
      EXPECT_EQ(inside, index.class_label(k) == set.documents[d].label);
    }
  }
}

TEST(vertical_index, wants_labels) {
  random_set set(5, 3, 2, 1);
  set.binned.labels[1] = datasets::unlabelled;
  EXPECT_THROW(vertical_index{set.binned}, usage_error);
}

TEST(growing_index, walks_every_itemset_once) {
  random_set const set(6, 100, 6, 2);
  growing_index index(set.binned.items());
  for (auto const& d : set.documents) index.add(d.items, d.label);
  growing_index::scratch scratch;
  for (std::size_t max_size : {1, 2, 3, 4}) {
    auto const& items = set.documents[0].items;
    std::vector<std::vector<std::uint32_t>> expected;
    reference::for_each_itemset(items, max_size, [&](std::vector<item> const& x) {
      std::vector<std::uint32_t> counts(index.class_count());
      index.supports(x, counts);
      expected.push_back(counts);
    });
    std::vector<std::vector<std::uint32_t>> found;
    index.walk_itemsets(items, max_size, scratch, [&](std::span<std::uint32_t const> counts) {
      found.emplace_back(counts.begin(), counts.end());
    });
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace rulerank::rules::rules_test
