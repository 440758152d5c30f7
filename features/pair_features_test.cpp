#include "features/pair_features.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "features/pair_features_reference.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/weighting.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace rulerank::inline v0::features::pair_features_test {
namespace {

using counts_of_row = std::map<std::uint32_t, double>;

context on_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

knn::sparse_matrix rows_of(std::vector<counts_of_row> const& rows) {
  knn::sparse_matrix matrix;
  for (counts_of_row const& row : rows) {
    std::vector<std::uint32_t> terms;
    std::vector<double> counts;
    for (auto const& [term, count] : row) {
      terms.push_back(term);
      counts.push_back(count);
    }
    matrix.push_row(terms, counts);
  }
  return matrix;
}

/// Features of one query with every document, by name.
std::vector<std::map<std::string, double>> by_name(pair_features const& features,
                                                   counts_of_row const& query) {
  std::vector<std::uint32_t> documents(features.documents());
  std::iota(documents.begin(), documents.end(), 0U);
  std::vector<double> out(documents.size() * features.size());
  knn::sparse_matrix const row = rows_of({query});
  features.of({}, knn::sparse_rows(row)[0], documents, out);
  std::vector<std::string> const names = features.names();
  std::vector<std::map<std::string, double>> all(documents.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    all[i / names.size()][names[i % names.size()]] = out[i];
  return all;
}

void expect_all(std::map<std::string, double> const& found,
                std::map<std::string, double> const& expected) {
  EXPECT_EQ(found.size(), expected.size());
  for (auto const& [name, value] : expected) {
    ASSERT_TRUE(found.count(name)) << name;
    EXPECT_NEAR(found.at(name), value, 1e-12) << name;
  }
}

// Titles: "a b", nothing, "a". Titles and texts together: "a b a b b c", "c c", "a a d". The query
// is "a b b z": z is in no document, and b counts twice where the formula has qf. Long because it
// is the table of all features.
TEST(pair_features_by_hand, three_documents) {
  enum : std::uint32_t { a, b, c, d, z = 9 };
  std::vector<knn::field_counts> fields;
  fields.push_back({"title", rows_of({{{a, 1}, {b, 1}}, {}, {{a, 1}}})});
  fields.push_back({"document", rows_of({{{a, 2}, {b, 3}, {c, 1}}, {{c, 2}}, {{a, 2}, {d, 1}}})});
  pair_features const features({}, fields);
  ASSERT_EQ(features.size(), 2U * 19 + 2);
  auto const found = by_name(features, {{a, 1}, {b, 2}, {z, 1}});
  using std::log;
  using std::sqrt;

  // Title: N = 3; a: df 2, cf 2; b: df 1, cf 1; 3 counts in all, mean length 1.
  // Document: a: df 2, cf 4; b: df 1, cf 3; 11 counts in all, mean length 11/3.
  double const idf_a = log(3.0 / 2), idf_b = log(3.0);
  double const bm25_idf_a = log(1 + 1.5 / 2.5), bm25_idf_b = log(1 + 2.5 / 1.5);
  double const query_norm = sqrt(idf_a * idf_a + 4 * idf_b * idf_b);
  double const title_bm25_0 = bm25_idf_a * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2)) +
                              2 * bm25_idf_b * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2));
  double const k_0 = 1.2 * (0.25 + 0.75 * 6 / (11.0 / 3));
  double const bm25_0 = bm25_idf_a * 2 * 2.2 / (2 + k_0) + 2 * bm25_idf_b * 3 * 2.2 / (3 + k_0);
  double const title_norm_0 = sqrt(idf_a * idf_a + idf_b * idf_b);
  double const norm_0 = sqrt(4 * idf_a * idf_a + 9 * idf_b * idf_b + idf_a * idf_a);
  expect_all(
      found[0],
      {
          {"sum of tf of title", 2},
          {"sum of log(tf + 1) of title", 2 * log(2.0)},
          {"sum of tf/length of title", 1},
          {"sum of log(tf/length + 1) of title", 2 * log(1.5)},
          {"sum of idf of title", idf_a + idf_b},
          {"sum of log(idf + 1) of title", log(idf_a + 1) + log(idf_b + 1)},
          {"sum of log(N/cf) of title", log(1.5) + log(3.0)},
          {"sum of log(tf/length idf + 1) of title", log(idf_a / 2 + 1) + log(idf_b / 2 + 1)},
          {"sum of tf idf of title", idf_a + idf_b},
          {"sum of log(tf/length N/cf + 1) of title", log(0.75 + 1) + log(1.5 + 1)},
          {"BM25 of title", title_bm25_0},
          {"log(BM25 + 1) of title", log(title_bm25_0 + 1)},
          {"LMIR.DIR of title",
           log((1 + 2000 * 2.0 / 3) / 2002) + 2 * log((1 + 2000 * 1.0 / 3) / 2002)},
          {"LMIR.JM of title", log(0.9 * 0.5 + 0.1 * 2 / 3) + 2 * log(0.9 * 0.5 + 0.1 * 1 / 3)},
          {"LMIR.ABS of title",
           log(0.3 / 2 + 0.7 * 2 / 2 * 2 / 3) + 2 * log(0.3 / 2 + 0.7 * 2 / 2 * 1 / 3)},
          {"tf-idf cosine of title",
           (idf_a * idf_a + 2 * idf_b * idf_b) / (query_norm * title_norm_0)},
          {"covered query terms of title", 2},
          {"covered query term ratio of title", 2.0 / 3},
          {"length of title", 2},
          {"sum of tf of document", 5},
          {"sum of log(tf + 1) of document", log(3.0) + log(4.0)},
          {"sum of tf/length of document", 5.0 / 6},
          {"sum of log(tf/length + 1) of document", log(8.0 / 6) + log(9.0 / 6)},
          {"sum of idf of document", idf_a + idf_b},
          {"sum of log(idf + 1) of document", log(idf_a + 1) + log(idf_b + 1)},
          {"sum of log(N/cf) of document", log(3.0 / 4) + log(3.0 / 3)},
          {"sum of log(tf/length idf + 1) of document", log(idf_a / 3 + 1) + log(idf_b / 2 + 1)},
          {"sum of tf idf of document", 2 * idf_a + 3 * idf_b},
          {"sum of log(tf/length N/cf + 1) of document", log(0.25 + 1) + log(0.5 + 1)},
          {"BM25 of document", bm25_0},
          {"log(BM25 + 1) of document", log(bm25_0 + 1)},
          {"LMIR.DIR of document",
           log((2 + 2000 * 4.0 / 11) / 2006) + 2 * log((3 + 2000 * 3.0 / 11) / 2006)},
          {"LMIR.JM of document",
           log(0.9 * 2 / 6 + 0.1 * 4 / 11) + 2 * log(0.9 * 3 / 6 + 0.1 * 3 / 11)},
          {"LMIR.ABS of document",
           log(1.3 / 6 + 0.7 * 3 / 6 * 4 / 11) + 2 * log(2.3 / 6 + 0.7 * 3 / 6 * 3 / 11)},
          {"tf-idf cosine of document",
           (idf_a * 2 * idf_a + 2 * idf_b * 3 * idf_b) / (query_norm * norm_0)},
          {"covered query terms of document", 2},
          {"covered query term ratio of document", 2.0 / 3},
          {"length of document", 6},
          {"query length", 4},
          {"distinct query terms", 3},
      });

  // An empty title, and a text without a term of the query.
  auto const& second = found[1];
  for (auto const& [name, value] : second) {
    if (name.starts_with("LMIR") || name.starts_with("length")) continue;
    if (name == "query length" || name == "distinct query terms") continue;
    EXPECT_EQ(value, 0) << name;
  }
  EXPECT_EQ(second.at("length of title"), 0);
  EXPECT_EQ(second.at("length of document"), 2);
  EXPECT_NEAR(second.at("LMIR.DIR of title"), log(2.0 / 3) + 2 * log(1.0 / 3), 1e-12);
  EXPECT_NEAR(second.at("LMIR.JM of title"), log(0.1 * 2 / 3) + 2 * log(0.1 / 3), 1e-12);
  EXPECT_NEAR(second.at("LMIR.ABS of title"), log(0.7 * 2 / 3) + 2 * log(0.7 / 3), 1e-12);
  EXPECT_NEAR(second.at("LMIR.DIR of document"),
              log(2000.0 / 2002 * 4 / 11) + 2 * log(2000.0 / 2002 * 3 / 11), 1e-12);
  EXPECT_NEAR(second.at("LMIR.JM of document"), log(0.1 * 4 / 11) + 2 * log(0.1 * 3 / 11), 1e-12);
  EXPECT_NEAR(second.at("LMIR.ABS of document"),
              log(0.7 * 1 / 2 * 4 / 11) + 2 * log(0.7 * 1 / 2 * 3 / 11), 1e-12);

  // One term of the two.
  auto const& third = found[2];
  EXPECT_NEAR(third.at("sum of tf of document"), 2, 1e-12);
  EXPECT_NEAR(third.at("sum of log(N/cf) of document"), log(3.0 / 4), 1e-12);
  EXPECT_NEAR(third.at("tf-idf cosine of title"), idf_a * idf_a / (query_norm * idf_a), 1e-12);
  EXPECT_NEAR(third.at("LMIR.JM of document"),
              log(0.9 * 2 / 3 + 0.1 * 4 / 11) + 2 * log(0.1 * 3 / 11), 1e-12);
  EXPECT_NEAR(third.at("covered query term ratio of document"), 1.0 / 3, 1e-12);
}

TEST(pair_features_by_hand, names_are_different_and_in_order) {
  std::vector<knn::field_counts> fields;
  fields.push_back({"title", rows_of({{{0, 1}}})});
  fields.push_back({"document", rows_of({{{0, 1}}})});
  pair_features const features({}, fields);
  std::vector<std::string> const names = features.names();
  ASSERT_EQ(names.size(), features.size());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names.front(), "sum of tf of title");
  EXPECT_EQ(names[19], "sum of tf of document");
  EXPECT_EQ(names.back(), "distinct query terms");
}

// The only term occurs in every document: its idf is 0, and no feature is infinite.
TEST(pair_features_by_hand, one_document) {
  pair_features const features({}, {{"document", rows_of({{{4, 3}}})}});
  auto const found = by_name(features, {{4, 1}});
  for (auto const& [name, value] : found[0]) EXPECT_TRUE(std::isfinite(value)) << name;
  EXPECT_EQ(found[0].at("sum of idf of document"), 0);
  EXPECT_EQ(found[0].at("sum of log(idf + 1) of document"), 0);
  EXPECT_EQ(found[0].at("tf-idf cosine of document"), 0);
  EXPECT_NEAR(found[0].at("LMIR.DIR of document"), 0, 1e-12);
  EXPECT_NEAR(found[0].at("sum of log(N/cf) of document"), std::log(1.0 / 3), 1e-12);
}

TEST(pair_features_by_hand, nothing_to_know) {
  std::vector<knn::field_counts> fields;
  fields.push_back({"anchor", rows_of({{}, {}})});  // a field that no document has
  fields.push_back({"document", rows_of({{{0, 2}}, {}})});
  pair_features const features({}, fields);
  // Terms in no document; no terms at all.
  for (counts_of_row const& query : {counts_of_row{{7, 2}}, counts_of_row{}}) {
    auto const found = by_name(features, query);
    double const query_length = query.empty() ? 0 : 2;
    for (std::size_t d = 0; d < 2; ++d)
      for (auto const& [name, value] : found[d])
        EXPECT_EQ(value, name == "query length"                   ? query_length
                         : name == "distinct query terms"         ? query_length / 2
                         : name == "length of document" && d == 0 ? 2
                                                                  : 0)
            << name;
  }
  auto const known = by_name(features, {{0, 1}});
  for (auto const& [name, value] : known[0]) {
    if (!name.ends_with("of anchor")) continue;
    EXPECT_EQ(value, 0) << name;
  }
  EXPECT_GT(known[0].at("BM25 of document"), 0);

  pair_features const none({}, {{"document", knn::sparse_matrix{}}});
  std::vector<double> out;
  none.of({}, knn::sparse_row{}, {}, out);
  none.of({}, knn::sparse_rows{}, std::vector<std::uint64_t>{0}, {}, out);
  EXPECT_EQ(none.documents(), 0U);
  EXPECT_EQ(none.size(), 21U);
}

struct drawn_pairs {
  std::vector<knn::field_counts> fields;
  knn::sparse_matrix queries;
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> documents;
};

/// Low terms are frequent; some fields, queries and lists of documents are empty; queries contain
/// terms in no document.
drawn_pairs draw_pairs(std::size_t rows, std::size_t queries, std::size_t most_pairs,
                       std::uint64_t seed) {
  random_engine draw(seed);
  auto const bag = [&](std::size_t most, std::uint32_t terms) {
    counts_of_row row;
    for (std::size_t i = uniform_below(draw, most + 1); i > 0; --i) {
      double const u = uniform_unit(draw);
      row[static_cast<std::uint32_t>(u * u * terms)] +=
          static_cast<double>(1 + uniform_below(draw, 3));
    }
    return row;
  };
  std::vector<counts_of_row> titles, texts, wholes;
  for (std::size_t d = 0; d < rows; ++d) {
    titles.push_back(bag(3, 40));
    texts.push_back(bag(30, 90));
    wholes.push_back(texts.back());
    for (auto const& [term, count] : titles.back()) wholes.back()[term] += count;
  }
  drawn_pairs drawn;
  drawn.fields.push_back({"title", rows_of(titles)});
  drawn.fields.push_back({"text", rows_of(texts)});
  drawn.fields.push_back({"document", rows_of(wholes)});
  std::vector<counts_of_row> all;
  for (std::size_t q = 0; q < queries; ++q) {
    all.push_back(bag(6, 100));
    for (std::size_t i = uniform_below(draw, most_pairs + 1); i > 0; --i)
      drawn.documents.push_back(static_cast<std::uint32_t>(uniform_below(draw, rows)));
    drawn.begin.push_back(drawn.documents.size());
  }
  drawn.queries = rows_of(all);
  return drawn;
}

TEST(pair_features_drawn, are_what_the_definitions_say) {
  for (pair_features_options const& options :
       {pair_features_options{}, pair_features_options{0, 0, 1, 1, 1},
        pair_features_options{2, 1, 50, 0.7, 0.2}}) {
    drawn_pairs const drawn = draw_pairs(50, 30, 10, 1);
    pair_features const features(on_threads(2), drawn.fields, options);
    std::vector<double> out(drawn.documents.size() * features.size(), -1);
    features.of(on_threads(2), drawn.queries, drawn.begin, drawn.documents, out);
    std::vector<std::string> const names = features.names();
    for (std::size_t q = 0; q < drawn.queries.size(); ++q)
      for (std::size_t i = drawn.begin[q]; i < drawn.begin[q + 1]; ++i) {
        std::vector<double> const expected = pair_features_reference(
            drawn.fields, knn::sparse_rows(drawn.queries)[q], drawn.documents[i], options);
        ASSERT_EQ(expected.size(), features.size());
        for (std::size_t f = 0; f < expected.size(); ++f) {
          double const found = out[i * features.size() + f];
          EXPECT_NEAR(found, expected[f], 1e-12 * (1 + std::abs(expected[f]))) << names[f];
          EXPECT_TRUE(std::isfinite(found)) << names[f];
        }
      }
  }
}

// Lists longer and shorter than a thread processes at a time, and empty ones; also query by query.
TEST(pair_features_drawn, the_same_bits_on_any_number_of_threads) {
  for (std::size_t const most_pairs : {std::size_t{3}, std::size_t{300}}) {
    drawn_pairs const drawn = draw_pairs(400, 60, most_pairs, 2);
    std::vector<std::vector<std::uint64_t>> found;
    auto const keep = [&](std::vector<double> const& out) {
      auto& bits = found.emplace_back();
      for (double const v : out) bits.push_back(std::bit_cast<std::uint64_t>(v));
    };
    for (int const threads : {1, 4}) {
      pair_features const features(on_threads(threads), drawn.fields);
      std::vector<double> out(drawn.documents.size() * features.size());
      features.of(on_threads(threads), drawn.queries, drawn.begin, drawn.documents, out);
      keep(out);
      std::fill(out.begin(), out.end(), -1);
      for (std::size_t q = 0; q < drawn.queries.size(); ++q) {
        std::size_t const begin = drawn.begin[q], n = drawn.begin[q + 1] - begin;
        features.of(on_threads(threads), knn::sparse_rows(drawn.queries)[q],
                    std::span(drawn.documents).subspan(begin, n),
                    std::span(out).subspan(begin * features.size(), n * features.size()));
      }
      keep(out);
    }
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_EQ(found[i], found[0]);
  }
}

// The features that order candidates equal the similarities of the search.
TEST(pair_features_drawn, agree_with_the_search_bit_for_bit) {
  drawn_pairs const drawn = draw_pairs(200, 20, 1, 3);
  pair_features const features({}, drawn.fields);
  std::vector<std::string> const names = features.names();
  knn::sparse_matrix const& counts = drawn.fields.back().counts;
  knn::term_statistics const statistics = knn::statistics_of(counts);
  struct way {
    knn::weighting_options weights;
    knn::similarity metric;
    std::string name;
  };
  for (way const& w :
       {way{{.how = knn::weighting::bm25}, knn::similarity::inner_product, "BM25 of document"},
        way{{.tf = knn::term_frequency::raw},
            knn::similarity::cosine,
            "tf-idf cosine of document"}}) {
    auto const feature =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), w.name) - names.begin());
    ASSERT_LT(feature, names.size());
    knn::sparse_index const index({}, weigh_documents(counts, statistics, w.weights));
    knn::sparse_searcher const searcher({}, index, {w.metric});
    knn::neighbours const found =
        searcher.search({}, weigh_queries(drawn.queries, statistics, w.weights), 50, {.pad = true});
    std::vector<std::uint64_t> begin;
    for (std::size_t q = 0; q <= drawn.queries.size(); ++q) begin.push_back(q * found.k);
    std::vector<double> out(found.id.size() * features.size());
    features.of({}, drawn.queries, begin, found.id, out);
    for (std::size_t i = 0; i < found.id.size(); ++i)
      EXPECT_EQ(std::bit_cast<std::uint64_t>(out[i * features.size() + feature]),
                std::bit_cast<std::uint64_t>(found.value[i]))
          << w.name;
  }
}

TEST(pair_features_arguments, refused_where_they_make_no_sense) {
  auto const field = [](std::string name, std::vector<counts_of_row> const& rows) {
    return knn::field_counts{std::move(name), rows_of(rows)};
  };
  knn::field_counts const whole = field("document", {{{0, 1}, {2, 1}}, {{1, 1}}});
  auto const make = [](std::vector<knn::field_counts> fields, pair_features_options options = {}) {
    return pair_features({}, std::move(fields), options);
  };
  EXPECT_THROW(make({}), usage_error);
  EXPECT_THROW(make({field("text", {{}, {}})}), usage_error);
  EXPECT_THROW(make({whole, field("text", {{}, {}})}), usage_error);
  EXPECT_THROW(make({whole, whole}), usage_error);
  EXPECT_THROW(make({field("", {{}, {}}), whole}), usage_error);
  EXPECT_THROW(make({field("text", {{}}), whole}), usage_error);
  for (double const count :
       {0.0, -1.0, 1.5, 0x1p33, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(make({field("text", {{{0, count}}, {}}), whole}), usage_error) << count;
  EXPECT_NO_THROW(make({field("text", {{{0, 0x1p32}}, {}}), whole}));
  double const nan = std::nan("");
  for (pair_features_options const& options :
       {pair_features_options{.k1 = -1}, pair_features_options{.k1 = nan},
        pair_features_options{.b = 1.1}, pair_features_options{.mu = 0},
        pair_features_options{.lambda = 0}, pair_features_options{.lambda = 1.1},
        pair_features_options{.delta = 0}, pair_features_options{.delta = 1.1}})
    EXPECT_THROW(make({whole}, options), usage_error);

  pair_features const features = make({whole});
  std::vector<std::uint32_t> const documents{1, 0};
  std::vector<double> out(2 * features.size());
  knn::sparse_matrix const queries = rows_of({{{0, 1}, {1, 2}}});
  knn::sparse_row const query = knn::sparse_rows(queries)[0];
  EXPECT_NO_THROW(features.of({}, query, documents, out));
  EXPECT_THROW(features.of({}, query, documents, std::span(out).first(out.size() - 1)),
               usage_error);
  EXPECT_THROW(features.of({}, query, std::vector<std::uint32_t>{1, 2}, out), usage_error);
  std::vector<std::uint32_t> const descending{1, 0};
  EXPECT_THROW(features.of({}, knn::sparse_row{descending, query.weight}, documents, out),
               usage_error);
  std::vector<double> const halves{0.5, 1};
  EXPECT_THROW(features.of({}, knn::sparse_row{query.term, halves}, documents, out), usage_error);
  using offsets = std::vector<std::uint64_t>;
  EXPECT_NO_THROW(features.of({}, queries, offsets{0, 2}, documents, out));
  EXPECT_THROW(features.of({}, queries, offsets{}, documents, out), usage_error);
  EXPECT_THROW(features.of({}, queries, offsets{0, 1}, documents, out), usage_error);
  EXPECT_THROW(features.of({}, queries, offsets{1, 2}, documents, out), usage_error);
  EXPECT_THROW(features.of({}, queries, offsets{0, 1, 2}, documents, out), usage_error);
  knn::sparse_matrix const two = rows_of({{{0, 1}}, {{1, 1}}});
  EXPECT_THROW(features.of({}, two, offsets{0, 3, 2}, documents, out), usage_error);
}

TEST(pair_features_arguments, stop_when_asked) {
  drawn_pairs const drawn = draw_pairs(20, 10, 20, 4);
  pair_features const features({}, drawn.fields);
  std::vector<double> out(drawn.documents.size() * features.size());
  std::stop_source stop;
  context ctx;
  ctx.stop = stop.get_token();
  EXPECT_NO_THROW(features.of(ctx, drawn.queries, drawn.begin, drawn.documents, out));
  stop.request_stop();
  EXPECT_THROW(features.of(ctx, drawn.queries, drawn.begin, drawn.documents, out), interrupted);
  EXPECT_THROW(pair_features(ctx, drawn.fields), interrupted);
}

}  // namespace
}  // namespace rulerank::features::pair_features_test
