#include "features/pair_pool.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/text/text_sums.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>

namespace rulerank::inline v0::features::pair_pool_test {
namespace {

using testing_tools::message_of;
using testing_tools::temporary_folder;

context on_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

datasets::text_document text_of(std::string id, std::string text) {
  return {std::move(id), "", {{"", std::move(text)}}};
}

/// Ids that do not ascend: the collection is in the order of the documents, not of the ids.
std::vector<datasets::text_document> pets() {
  return {text_of("d2", "cats chase mice"), text_of("d1", "dogs chase cats"),
          text_of("d3", "mice eat cheese")};
}

std::vector<datasets::text_document> pet_topics() {
  return {text_of("t1", "cats"), text_of("t2", "zebra"), text_of("t3", "cheese mice")};
}

datasets::qrels pet_judgments() {
  return {"pets.qrels",
          {{"t1", {{"d1", 2, 1}, {"d2", -1, 2}}, 1}, {"t3", {{"d3", 5, 3}, {"d9", 1, 4}}, 3}}};
}

pool_collection collection_of(context const& ctx,
                              std::vector<datasets::text_document> const& documents,
                              pool_options const& options = {}) {
  knn::text_index_options index;
  index.weighting = {.how = knn::weighting::bm25};
  return {ctx, "pets.tsv", knn::text_index::build_with_fields(ctx, documents, index), options};
}

pool_options by(candidate_source from, knn::similarity vector_metric = knn::similarity::cosine) {
  pool_options options;
  options.from = from;
  options.metric = knn::similarity::inner_product;
  options.vector_metric = vector_metric;
  return options;
}

datasets::vectors rows_of(std::vector<std::vector<float>> const& rows, std::string name) {
  auto const values = std::make_shared<std::vector<float>>();
  for (auto const& row : rows) values->insert(values->end(), row.begin(), row.end());
  return {datasets::element::float32, values->data(), rows.size(),
          rows.front().size(),        values,         std::move(name)};
}

std::vector<std::uint32_t> documents_of(std::vector<found_document> const& list) {
  std::vector<std::uint32_t> documents;
  for (found_document const& one : list) documents.push_back(one.document);
  return documents;
}

std::vector<std::string> docids_of(datasets::dataset const& data) {
  std::vector<std::string> ids;
  for (std::size_t d = 0; d < data.size(); ++d) ids.emplace_back(data.docid(d));
  return ids;
}

/// The values of a document, [features].
std::vector<double> values_of(datasets::dataset const& data, std::size_t document,
                              std::size_t features) {
  std::vector<double> values(features);
  for (datasets::feature_value const& one : data.document(document))
    values[one.feature - 1] = one.value;
  return values;
}

TEST(pair_pool, pets_by_hand) {
  context const ctx;
  pool_collection const collection = collection_of(ctx, pets(), by(candidate_source::text));
  pool_topics topics = make_topics(pet_topics());
  std::vector<std::int32_t> const not_relevant{5};
  set_judgments(topics, pet_judgments(), not_relevant);
  found_candidates const found = collection.search(ctx, topics, 10);
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs[0].tag, "candidates");
  ASSERT_EQ(found.runs[0].queries.size(), 2U);  // none contains a zebra
  EXPECT_EQ(found.runs[0].queries[1].documents[0].docno, "d3");

  pool_pairs const made = collection.pairs(ctx, topics, found.lists, {.name = "pets"});
  EXPECT_EQ(made.topics_without, std::vector<std::size_t>{1});
  datasets::dataset const& data = made.data;
  EXPECT_EQ(data.name, "pets");
  EXPECT_EQ(docids_of(data), (std::vector<std::string>{"d2", "d1", "d2", "d3"}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{-1, 2, -1, 0}));
  ASSERT_EQ(data.queries.size(), 2U);
  EXPECT_EQ(data.queries[0].qid, "t1");
  EXPECT_EQ(data.queries[1].qid, "t3");
  EXPECT_EQ(data.comment(1),
            "docid = d1 " + datasets::comment_of({datasets::sum_of_text("cats"),
                                                  datasets::sum_of_text("dogs chase cats")}));

  std::vector<std::string> const names = collection.feature_names();
  auto const value = [&](std::size_t pair, std::string const& name) {
    auto const at = std::ranges::find(names, name) - names.begin();
    return values_of(data, pair, names.size()).at(static_cast<std::size_t>(at));
  };
  EXPECT_EQ(value(3, "covered query terms of document"), 2);
  EXPECT_EQ(value(2, "covered query terms of document"), 1);
  EXPECT_EQ(value(0, "length of document"), 3);
  EXPECT_DOUBLE_EQ(value(0, "sum of idf of document"), std::log(1.5));
  EXPECT_EQ(value(3, "query length"), 2);
}

TEST(pair_pool, searches_of_one_collection_have_a_k_each) {
  context const ctx;
  pool_topics const topics = make_topics(pet_topics());
  pool_collection made = collection_of(ctx, pets(), by(candidate_source::text));
  made.search(ctx, topics, 1);
  pool_collection const collection = std::move(made);
  for (std::size_t const k : {1U, 3U, 1U, 2U, 10U}) {
    auto const found = collection.search(ctx, topics, k).lists;
    auto const expected =
        collection_of(ctx, pets(), by(candidate_source::text)).search(ctx, topics, k).lists;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t q = 0; q < found.size(); ++q)
      EXPECT_EQ(documents_of(found[q]), documents_of(expected[q])) << "k " << k;
    EXPECT_EQ(found[0].size(), std::min<std::size_t>(k, 2));
  }
  EXPECT_EQ(message_of<usage_error>([&] { collection.search(ctx, topics, 0); }),
            "k: found 0, expected at least 1");
}

TEST(pair_pool, a_topic_is_no_candidate_of_its_own) {
  context const ctx;
  auto topics_with_ids = pet_topics();
  topics_with_ids[0].id = "d2";
  pool_topics const topics = make_topics(std::move(topics_with_ids));
  pool_options options = by(candidate_source::text);
  auto const all = collection_of(ctx, pets(), options).search(ctx, topics, 10).lists;
  options.leave_out_self = true;
  for (std::size_t const k : {1U, 2U, 10U}) {
    auto const found = collection_of(ctx, pets(), options).search(ctx, topics, k).lists;
    ASSERT_EQ(found.size(), all.size());
    for (std::size_t q = 0; q < all.size(); ++q) {
      std::vector<found_document> expected = all[q];
      if (q == 0) std::erase_if(expected, [](auto const& one) { return one.document == 0; });
      expected.resize(std::min(k, expected.size()));
      EXPECT_EQ(found[q], expected) << "k " << k << ", topic " << q;
    }
  }
  EXPECT_EQ(all[0].size(), 2U) << "d2 was there";
}

TEST(pair_pool, unjudged_pairs_have_the_label_that_is_asked_for) {
  context const ctx;
  pool_collection const collection = collection_of(ctx, pets());
  pool_topics topics = make_topics(pet_topics());
  auto const labels = [&] {
    auto const found = collection.search(ctx, topics, 10);
    return collection.pairs(ctx, topics, found.lists, {.unjudged = 0}).data.labels;
  };
  EXPECT_EQ(labels(), (std::vector<std::int32_t>{0, 0, 0, 0}));
  set_judgments(topics, pet_judgments());
  EXPECT_EQ(labels(), (std::vector<std::int32_t>{0, 2, 0, 5}));
}

TEST(pair_pool, features_can_have_names) {
  context const ctx;
  pool_collection const collection = collection_of(ctx, pets());
  pool_topics const topics = make_topics(pet_topics());
  auto const found = collection.search(ctx, topics, 10);
  datasets::dataset const numbered = collection.pairs(ctx, topics, found.lists).data;
  datasets::dataset const named =
      collection.pairs(ctx, topics, found.lists, {.named_features = true}).data;
  std::vector<std::string> const names = collection.feature_names();
  EXPECT_TRUE(numbered.names.empty());
  ASSERT_EQ(named.names.size(), names.size());
  EXPECT_EQ(named.names.at(1), "BM25_of_document");
  for (std::size_t pair = 0; pair < numbered.size(); ++pair) {
    std::vector<double> const by_number = values_of(numbered, pair, names.size()),
                              by_name = values_of(named, pair, names.size());
    for (auto const& [feature, name] : named.names) {
      std::string spoken = name;
      std::ranges::replace(spoken, '_', ' ');
      auto const at = std::ranges::find(names, spoken) - names.begin();
      EXPECT_EQ(by_name[feature - 1], by_number.at(static_cast<std::size_t>(at))) << name;
    }
  }
}

TEST(pair_pool, the_nearest_documents_become_pairs) {
  context const ctx;
  pool_collection const collection = collection_of(ctx, pets(), by(candidate_source::text));
  pool_topics const topics = make_topics(pet_topics());
  auto const found = collection.search(ctx, topics, 10);
  EXPECT_EQ(documents_of(found.lists[2]), (std::vector<std::uint32_t>{2, 0}));
  pool_pairs const made = collection.pairs(ctx, topics, found.lists, {.most = 1});
  EXPECT_EQ(docids_of(made.data),
            (std::vector<std::string>{documents_of(found.lists[0])[0] == 0 ? "d2" : "d1", "d3"}));
  EXPECT_EQ(collection.search(ctx, topics, 1).lists[2].size(), 1U);
}

TEST(pair_pool, a_run_has_the_candidates_by_its_scores) {
  context const ctx;
  pool_collection const collection = collection_of(ctx, pets());
  pool_topics const topics = make_topics(pet_topics());
  datasets::run run{"my.run", "mine", {}};
  run.queries.push_back({"other", {{"d77", 1}}, 1});
  run.queries.push_back({"t2", {{"d1", 1}, {"d3", 2}, {"d2", 1}}, 2});
  EXPECT_EQ(collection.lists_of(topics, run), (found_lists{{}, {{2, 2}, {1, 1}, {0, 1}}, {}}));
  run.queries.back().documents.push_back({"d4", 0});
  EXPECT_EQ(message_of<error>([&] { collection.lists_of(topics, run); }),
            "my.run:2:1: found document 'd4' of query t2, which is not in pets.tsv, expected "
            "documents of this collection");
  run.queries.pop_back();
  EXPECT_EQ(message_of<error>([&] { collection.lists_of(topics, run); }),
            "my.run:1:1: found no query that is a topic of topics, expected at least one");
}

TEST(pair_pool, vectors_are_searched_and_are_a_feature) {
  std::vector<std::vector<float>> const rows{{1, 0}, {0, 0}, {3, 4}}, asked{{2, 0}, {0, 0}, {0, 1}};
  for (auto const metric :
       {knn::similarity::cosine, knn::similarity::inner_product, knn::similarity::l2}) {
    context const ctx;
    pool_collection collection = collection_of(ctx, pets(), by(candidate_source::vectors, metric));
    pool_topics topics = make_topics(pet_topics());
    datasets::vectors const of_documents = rows_of(rows, "documents.npy");
    collection.set_vectors(ctx, of_documents);
    set_vectors(topics, rows_of(asked, "topics.npy"), of_documents);
    auto const found = collection.search(ctx, topics, 10);
    EXPECT_EQ(found.lists[0].size(), 3U);
    EXPECT_EQ(found.lists[1].size(), metric == knn::similarity::l2 ? 3U : 0U);
    EXPECT_EQ(documents_of(found.lists[2])[0], metric == knn::similarity::l2 ? 1U : 2U);

    EXPECT_EQ(collection.feature_names().back(), vector_feature_name(metric));
    std::size_t const features = collection.feature_names().size();
    pool_pairs const made = collection.pairs(ctx, topics, found.lists);
    std::size_t pair = 0;
    for (std::size_t q = 0; q < asked.size(); ++q)
      for (std::size_t d = 0; d < rows.size() && !found.lists[q].empty(); ++d, ++pair) {
        double const x = rows[d][0], y = rows[d][1], a = asked[q][0], b = asked[q][1];
        double expected = x * a + y * b;
        if (metric == knn::similarity::l2) expected = -std::hypot(x - a, y - b);
        if (metric == knn::similarity::cosine && expected != 0)
          expected /= std::hypot(x, y) * std::hypot(a, b);
        EXPECT_NEAR(values_of(made.data, pair, features).back(), expected, 1e-12) << q << ' ' << d;
      }
    EXPECT_EQ(pair, made.data.size());
  }
}

TEST(pair_pool, text_and_vectors_are_fused) {
  context const ctx;
  pool_options options = by(candidate_source::text_and_vectors);
  options.fusion.method = knn::fusion_method::isr;
  pool_collection collection = collection_of(ctx, pets(), options);
  pool_topics topics = make_topics(pet_topics());
  datasets::vectors const of_documents = rows_of({{1, 0}, {1, 1}, {0, 1}}, "documents.npy");
  EXPECT_EQ(message_of<usage_error>([&] { collection.search(ctx, topics, 10); }),
            "pets.tsv: found no vectors, expected a vector for each document");
  collection.set_vectors(ctx, of_documents);
  EXPECT_EQ(message_of<usage_error>([&] { collection.search(ctx, topics, 10); }),
            "topics: found no vectors, expected a vector for each topic");
  set_vectors(topics, rows_of({{0, 1}, {1, 0}, {1, 0}}, "topics.npy"), of_documents);
  std::vector<std::string> stages;
  auto const found = collection.search(
      ctx, topics, 10, [&](std::string_view stage, std::function<void()> const& work) {
        stages.emplace_back(stage);
        work();
      });
  EXPECT_EQ(stages, (std::vector<std::string>{"search", "search vectors", "fuse"}));
  ASSERT_EQ(found.runs.size(), 3U);
  EXPECT_EQ(found.runs[0].tag, "candidates");
  EXPECT_EQ(found.runs[1].tag, "candidates-text");
  EXPECT_EQ(found.runs[2].tag, "candidates-dense");
  datasets::run const expected = knn::fuse(ctx, std::span(found.runs).subspan(1), options.fusion);
  EXPECT_EQ(found.lists, collection.lists_of(topics, expected));
  EXPECT_EQ(found.lists[1].size(), 3U);  // by its vector only
}

TEST(pair_pool, vectors_that_do_not_fit_are_errors) {
  context const ctx;
  pool_collection collection = collection_of(ctx, pets());
  pool_topics topics = make_topics(pet_topics());
  datasets::vectors const of_documents = rows_of({{1}, {2}, {3}}, "documents.npy");
  EXPECT_EQ(message_of<error>([&] {
              collection.set_vectors(ctx, rows_of({{1}, {2}}, "documents.npy"));
            }),
            "documents.npy:3:1: found 2 vectors, expected one for each of 3 documents of pets.tsv");
  EXPECT_EQ(
      message_of<error>([&] { set_vectors(topics, rows_of({{1}}, "topics.npy"), of_documents); }),
      "topics.npy:2:1: found 1 vector, expected one for each of 3 topics");
  EXPECT_EQ(message_of<error>([&] {
              set_vectors(topics, rows_of({{1, 1}, {1, 1}, {1, 1}}, "topics.npy"), of_documents);
            }),
            "topics.npy:1:1: found 2 dimensions, expected 1 as in documents.npy");
}

TEST(pair_pool, topics_are_qids) {
  EXPECT_EQ(message_of<usage_error>([] { make_topics({}); }),
            "found no topics, expected one or more");
  EXPECT_EQ(message_of<usage_error>([] {
              make_topics({text_of("a", ""), text_of("b#", "")});
            }),
            "topic 2: found the id 'b#', expected an id without blanks and #");
  EXPECT_EQ(message_of<usage_error>([] { make_topics({text_of("a b", "")}); }),
            "topic 1: found the id 'a b', expected an id without blanks and #");
  EXPECT_EQ(message_of<usage_error>([] {
              make_topics({text_of("a", ""), text_of("a", "")});
            }),
            "topic 2: found the id 'a' again, expected each id once");
  temporary_folder const folder;
  std::string const path = folder / "topics.tsv";
  std::ofstream(path) << "t1\tcats\nt2\tzebra\nt3\tcheese mice\n";
  pool_topics const read = read_topics({}, path, {}), made = make_topics(pet_topics());
  EXPECT_EQ(read.name, path);
  EXPECT_EQ(read.sums, made.sums);
  ASSERT_EQ(read.texts.size(), 3U);
  EXPECT_EQ(read.texts[2].id, "t3");
  std::ofstream(path) << "t#\tcats\n";
  EXPECT_THROW(read_topics({}, path, {}), error);
}

TEST(pair_pool, nothing_to_learn_from_is_an_error) {
  context const ctx;
  pool_collection const collection = collection_of(ctx, pets());
  pool_topics topics = make_topics({text_of("t9", "zebra")});
  EXPECT_EQ(message_of<error>([&] { set_judgments(topics, pet_judgments()); }),
            "pets.qrels:1:1: found no judgment of a topic of topics, expected at least one");
  EXPECT_FALSE(topics.judgments.has_value());
  auto const found = collection.search(ctx, topics, 10);
  EXPECT_TRUE(found.runs[0].queries.empty());
  EXPECT_EQ(message_of<error>([&] { collection.pairs(ctx, topics, found.lists); }),
            "topics:1:1: found no topic that shares a term with a document of pets.tsv, expected "
            "at least one");
}

// Filters of documents have words of 64 bits: 63, 64 and 65 documents are their bounds.
TEST(pair_pool, any_number_of_threads_makes_the_same_pairs) {
  for (std::size_t const size : {1U, 63U, 64U, 65U, 200U}) {
    random_engine draw(size);
    auto const words = [&](int n) {
      std::string text;
      for (int w = 0; w < n; ++w) text += "word" + std::to_string(uniform_below(draw, 30)) + " ";
      return text;
    };
    auto const vectors = [&](std::size_t n, std::string name) {
      std::vector<std::vector<float>> rows(n, std::vector<float>(5));
      for (auto& row : rows)
        for (float& value : row) value = static_cast<float>(uniform_below(draw, 9)) - 4;
      return rows_of(rows, std::move(name));
    };
    std::vector<datasets::text_document> documents, asked{text_of("all", "word0")};
    for (std::size_t d = 0; d < size; ++d)
      documents.push_back(text_of("d" + std::to_string(d), "word0 " + words(12)));
    for (int q = 0; q < 20; ++q) asked.push_back(text_of("q" + std::to_string(q), words(3)));
    datasets::vectors const of_documents = vectors(size, "documents.npy"),
                            of_topics = vectors(asked.size(), "topics.npy");
    std::optional<pool_pairs> first;
    for (int const threads : {1, 4}) {
      context const ctx = on_threads(threads);
      pool_collection collection =
          collection_of(ctx, documents, by(candidate_source::text_and_vectors));
      collection.set_vectors(ctx, of_documents);
      pool_topics topics = make_topics(asked);
      set_vectors(topics, of_topics, of_documents);
      auto const found = collection.search(ctx, topics, 50);
      for (auto const& list : found.lists) {
        EXPECT_LE(list.size(), 50U);
        auto const numbers = documents_of(list);
        EXPECT_EQ(std::set<std::uint32_t>(numbers.begin(), numbers.end()).size(), list.size());
      }
      pool_pairs made = collection.pairs(ctx, topics, found.lists, {.most = 40});
      if (!first) {
        first = std::move(made);
        continue;
      }
      EXPECT_EQ(docids_of(made.data), docids_of(first->data));
      ASSERT_EQ(made.data.entries.size(), first->data.entries.size());
      for (std::size_t i = 0; i < made.data.entries.size(); ++i)
        EXPECT_EQ(made.data.entries[i].value, first->data.entries[i].value);
    }
  }
}

TEST(pair_pool, processes_share_the_topics_out) {
  datasets::vectors const of_documents = rows_of({{1, 0}, {1, 1}, {0, 1}}, "documents.npy");
  pool_topics topics = make_topics(pet_topics());
  set_vectors(topics, rows_of({{0, 1}, {1, 0}, {1, 0}}, "topics.npy"), of_documents);
  auto const search = [&](context const& ctx) {
    pool_collection collection =
        collection_of(without_processes(ctx), pets(), by(candidate_source::text_and_vectors));
    collection.set_vectors(without_processes(ctx), of_documents);
    return collection.search(ctx, topics, 10).lists;
  };
  found_lists const expected = search({});
  for (int const size : {1, 2, 5})
    testing_tools::run_processes(size, [&](process_group const& group) {
      context ctx;
      ctx.threads = 1;
      ctx.processes = &group;
      EXPECT_EQ(search(ctx), expected);
    });
}

TEST(pair_pool, work_can_be_stopped) {
  context ctx;
  pool_collection const collection = collection_of(ctx, pets());
  pool_topics const topics = make_topics(pet_topics());
  auto const found = collection.search(ctx, topics, 10);
  std::stop_source stop;
  stop.request_stop();
  ctx.stop = stop.get_token();
  EXPECT_THROW(collection.search(ctx, topics, 10), interrupted);
  EXPECT_THROW(collection.pairs(ctx, topics, found.lists), interrupted);
}

}  // namespace
}  // namespace rulerank::features::pair_pool_test
