#include "features/pair_pool.hpp"

#include "core/error.hpp"
#include "datasets/arrays.hpp"
#include "datasets/svmlight/names.hpp"
#include "datasets/text/text_sums.hpp"
#include "knn/dense/dense_collection.hpp"
#include "knn/searched_collection.hpp"
#include "knn/text/text_collection.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::inline v0::features {

namespace {

/// Computes the checksums of topics.
pool_topics with_sums(std::vector<datasets::text_document> texts, std::string name) {
  pool_topics topics{std::move(name), std::move(texts), {}};
  for (datasets::text_document const& topic : topics.texts)
    topics.sums.push_back(datasets::sum_of_text(topic.fields));
  return topics;
}

/// Throws `error` if the number of vectors differs from the number of `what`.
void expect_one_each(datasets::vectors const& found, std::size_t expected,
                     std::string const& what) {
  if (found.size() != expected)
    throw error({found.name(), std::min(found.size(), expected) + 1, 0},
                fmt::format("found {}, expected one for each of {} {}",
                            counted(found.size(), "vector"), expected, what));
}

bool is_zero(datasets::vectors const& row) {
  return row.visit([](auto values) {
    return std::ranges::all_of(values, [](auto value) { return static_cast<float>(value) == 0; });
  });
}

/// Returns the number of topics whose filters of documents need some 64 MB.
std::size_t topics_together(std::size_t words) {
  return std::clamp<std::size_t>((std::size_t{1} << 23) / std::max<std::size_t>(words, 1), 1, 4096);
}

/// Converts the results of a search; a distance becomes a negative score.
found_lists lists_from(knn::neighbours const& found) {
  found_lists lists(found.queries);
  for (std::size_t q = 0; q < found.queries; ++q)
    for (std::size_t i = 0; i < found.count_of(q); ++i)
      lists[q].push_back({found.ids_of(q)[i], knn::score_of(found.order, found.values_of(q)[i])});
  return lists;
}

}  // namespace

pool_topics read_topics(context const& ctx, std::string const& path,
                        datasets::text_options reading) {
  reading = datasets::for_queries(std::move(reading));
  reading.ids = datasets::id_form::qid;
  std::vector<datasets::text_document> texts;
  datasets::read_documents(
      ctx, path, datasets::text_format::automatic,
      [&](datasets::text_document&& topic) { texts.push_back(std::move(topic)); }, reading);
  return with_sums(std::move(texts), path);
}

pool_topics make_topics(std::vector<datasets::text_document> texts, std::string name) {
  if (texts.empty()) throw usage_error("found no topics, expected one or more");
  std::unordered_set<std::string_view> ids;
  for (std::size_t q = 0; q < texts.size(); ++q) {
    std::string const& id = texts[q].id;
    if (!datasets::is_run_column(id) || id.find('#') != id.npos)
      throw usage_error(
          fmt::format("topic {}: found the id '{}', expected an id without blanks and #", q + 1,
                      printable(id)));
    if (!ids.insert(id).second)
      throw usage_error(
          fmt::format("topic {}: found the id '{}' again, expected each id once", q + 1, id));
  }
  return with_sums(std::move(texts), std::move(name));
}

void set_judgments(pool_topics& topics, datasets::qrels judgments,
                   std::span<std::int32_t const> not_relevant) {
  std::unordered_set<std::string_view> judged;
  for (datasets::judged_query& query : judgments.queries) {
    judged.insert(query.qid);
    for (datasets::judgment& document : query.documents)
      if (std::ranges::find(not_relevant, document.label) != not_relevant.end()) document.label = 0;
  }
  if (std::ranges::none_of(topics.texts,
                           [&](auto const& topic) { return judged.contains(topic.id); }))
    throw error(
        {judgments.name, 1, 1},
        fmt::format("found no judgment of a topic of {}, expected at least one", topics.name));
  topics.judgments = std::move(judgments);
}

void set_vectors(pool_topics& topics, datasets::vectors vectors,
                 datasets::vectors const& documents) {
  expect_one_each(vectors, topics.texts.size(), "topics");
  if (vectors.dimensions() != documents.dimensions())
    throw error({vectors.name(), 1, 0}, fmt::format("found {}, expected {} as in {}",
                                                    counted(vectors.dimensions(), "dimension"),
                                                    documents.dimensions(), documents.name()));
  topics.vectors = std::move(vectors);
}

std::string vector_feature_name(knn::similarity metric) {
  switch (metric) {
    case knn::similarity::l2:
      return "minus dense l2";
    case knn::similarity::inner_product:
      return "dense ip";
    default:
      return "dense cosine";
  }
}

struct pool_collection::searched_documents {
  knn::text_collection texts;
  std::optional<knn::dense_collection> vectors{};
};

pool_collection::pool_collection(context const& ctx, std::string name,
                                 knn::indexed_collection collection, pool_options const& options)
    : name_(std::move(name)),
      options_(options),
      documents_(new searched_documents{knn::text_collection(std::move(collection.index))}),
      sums_(std::move(collection.sums)),
      features_(ctx, std::move(collection.fields), options.features) {}
pool_collection::~pool_collection() = default;
pool_collection::pool_collection(pool_collection&&) noexcept = default;

knn::text_index const& pool_collection::index() const noexcept {
  return documents_->texts.first_index();
}

void pool_collection::set_vectors(context const& ctx, datasets::vectors const& documents) {
  expect_one_each(documents, size(), fmt::format("documents of {}", name_));
  documents_->vectors.emplace(knn::dense_index(ctx, documents, {.metric = options_.vector_metric}));
}

/// Throws `usage_error` if the collection or the topics have no vectors.
void pool_collection::expect_vectors(pool_topics const& topics) const {
  if (!documents_->vectors)
    throw usage_error(
        fmt::format("{}: found no vectors, expected a vector for each document", name_));
  if (!topics.vectors)
    throw usage_error(
        fmt::format("{}: found no vectors, expected a vector for each topic", topics.name));
}

datasets::run pool_collection::run_of(pool_topics const& topics, found_lists const& found,
                                      std::string tag) const {
  datasets::run run;
  run.name = tag;
  run.tag = std::move(tag);
  for (std::size_t q = 0; q < topics.texts.size(); ++q) {
    datasets::run_query query{topics.texts[q].id, {}};
    for (auto const& [document, score] : found[q])
      query.documents.push_back({std::string(index().ids()[document]), score});
    if (!query.documents.empty()) run.queries.push_back(std::move(query));
  }
  return run;
}

/// Removes the document with its topic's id from each list, then all after the first k.
void pool_collection::keep_others(pool_topics const& topics, std::size_t k,
                                  found_lists& lists) const {
  for (std::size_t q = 0; q < lists.size(); ++q) {
    std::erase_if(lists[q], [&](found_document const& one) {
      return index().ids()[one.document] == topics.texts[q].id;
    });
    if (lists[q].size() > k) lists[q].resize(k);
  }
}

found_lists pool_collection::search_text(context const& ctx, pool_topics const& topics,
                                         std::size_t k) const {
  knn::text_collection const& texts = documents_->texts;
  knn::text_search const search(texts, texts.searchers(ctx, {options_.metric, options_.engine}),
                                topics.texts, topics.name);
  return lists_from(search.nearest(ctx, k));
}

found_lists pool_collection::search_vectors(context const& ctx, pool_topics const& topics,
                                            std::size_t k) const {
  datasets::vectors const& queries = *topics.vectors;
  knn::dense_search const search(*documents_->vectors, queries);
  found_lists lists = lists_from(search.nearest(ctx, k));
  if (options_.vector_metric != knn::similarity::l2)
    for (std::size_t q = 0; q < lists.size(); ++q)
      if (is_zero(queries.rows(q, 1))) lists[q].clear();
  return lists;
}

found_candidates pool_collection::search(context const& ctx, pool_topics const& topics,
                                         std::size_t k, stage_fn const& run_stage) const {
  if (k == 0) throw usage_error("k: found 0, expected at least 1");
  auto const run = [&](std::string_view stage, std::function<void()> const& work) {
    run_stage ? run_stage(stage, work) : work();
  };
  bool const by_text = options_.from != candidate_source::vectors;
  bool const by_vectors = options_.from != candidate_source::text;
  if (by_vectors) expect_vectors(topics);
  found_candidates found;
  found_lists of_text, of_vectors;
  std::size_t const with_self = options_.leave_out_self ? k + 1 : k;
  if (by_text) run("search", [&] { of_text = search_text(ctx, topics, with_self); });
  if (by_vectors)
    run("search vectors", [&] { of_vectors = search_vectors(ctx, topics, with_self); });
  if (options_.leave_out_self) {
    keep_others(topics, k, of_text);
    keep_others(topics, k, of_vectors);
  }
  if (by_text && by_vectors) {
    run("fuse", [&] {
      found.runs.push_back(run_of(topics, of_text, "candidates-text"));
      found.runs.push_back(run_of(topics, of_vectors, "candidates-dense"));
      knn::fusion_options fusion = options_.fusion;
      fusion.depth = k;
      found.lists = lists_of(topics, knn::fuse(ctx, found.runs, fusion));
    });
  } else {
    found.lists = std::move(by_text ? of_text : of_vectors);
  }
  found.runs.insert(found.runs.begin(), run_of(topics, found.lists, "candidates"));
  return found;
}

found_lists pool_collection::lists_of(pool_topics const& topics, datasets::run const& run) const {
  std::unordered_map<std::string_view, std::uint32_t> number;
  for (std::uint32_t d = 0; d < size(); ++d) number[index().ids()[d]] = d;
  std::unordered_map<std::string_view, datasets::run_query const*> query_of;
  for (datasets::run_query const& query : run.queries) query_of[query.qid] = &query;
  found_lists lists(topics.texts.size());
  bool any = false;
  for (std::size_t q = 0; q < topics.texts.size(); ++q) {
    auto const at = query_of.find(topics.texts[q].id);
    if (at == query_of.end()) continue;
    any = true;
    for (auto const& [docno, score] : at->second->documents) {
      auto const document = number.find(docno);
      if (document == number.end())
        throw error({run.name, at->second->line, 1},
                    fmt::format("found document '{}' of query {}, which is not in {}, expected "
                                "documents of this collection",
                                docno, at->second->qid, name_));
      lists[q].push_back({document->second, score});
    }
    // The scores of a run determine the order, not its lines.
    std::ranges::stable_sort(lists[q], std::greater<>(), &found_document::score);
  }
  if (!any)
    throw error(
        {run.name, 1, 1},
        fmt::format("found no query that is a topic of {}, expected at least one", topics.name));
  return lists;
}

std::vector<std::string> pool_collection::feature_names() const {
  std::vector<std::string> names = features_.names();
  if (documents_->vectors) names.push_back(vector_feature_name(options_.vector_metric));
  return names;
}

std::vector<std::string> pool_collection::feature_units() const {
  std::vector<std::string> units = features_.units();
  if (documents_->vectors) units.emplace_back();
  return units;
}

/// Returns the first `most` documents of each topic, in the order of the collection.
pool_collection::ranked_pairs pool_collection::in_collection_order(found_lists const& found,
                                                                   std::size_t most) {
  ranked_pairs pairs;
  for (std::vector<found_document> const& list : found) {
    auto& documents = pairs.documents;
    for (std::size_t i = 0; i < std::min(most, list.size()); ++i)
      documents.push_back(list[i].document);
    std::sort(documents.begin() + static_cast<std::ptrdiff_t>(pairs.begin.back()), documents.end());
    pairs.begin.push_back(documents.size());
  }
  return pairs;
}

/// Returns the score of each topic's vector with the vectors of its documents, from a search among
/// these documents only: [pairs].
std::vector<double> pool_collection::similarities(context const& ctx,
                                                  datasets::vectors const& topics,
                                                  ranked_pairs const& pairs) const {
  std::vector<double> values(pairs.documents.size());
  knn::dense_index const& vectors = documents_->vectors->first_index();
  std::size_t const words = (vectors.size() + 63) / 64;
  std::size_t const together = topics_together(words);
  std::vector<std::uint64_t> filters;
  std::unordered_map<std::uint32_t, double> of_document;
  for (std::size_t first = 0; first < topics.size(); first += together) {
    std::size_t const count = std::min(together, topics.size() - first);
    filters.assign(count * words, 0);
    std::size_t k = 1;
    for (std::size_t q = 0; q < count; ++q) {
      k = std::max<std::size_t>(k, pairs.begin[first + q + 1] - pairs.begin[first + q]);
      for (std::size_t i = pairs.begin[first + q]; i < pairs.begin[first + q + 1]; ++i)
        filters[q * words + pairs.documents[i] / 64] |= std::uint64_t{1}
                                                        << (pairs.documents[i] % 64);
    }
    auto const found = lists_from(vectors.search(ctx, topics.rows(first, count), k, {{}, filters}));
    for (std::size_t q = 0; q < count; ++q) {
      of_document.clear();
      for (auto const& [document, score] : found[q]) of_document[document] = score;
      for (std::size_t i = pairs.begin[first + q]; i < pairs.begin[first + q + 1]; ++i)
        values[i] = of_document.at(pairs.documents[i]);
    }
  }
  return values;
}

/// Returns the features of the pairs: [pairs][features]. If there are vectors, their similarity is
/// the last feature.
std::vector<double> pool_collection::features_of(context const& ctx, pool_topics const& topics,
                                                 ranked_pairs const& pairs) const {
  std::size_t const n = features_.size();
  std::vector<double> values(pairs.documents.size() * n);
  features_.of(ctx, index().counts(ctx, topics.texts), pairs.begin, pairs.documents, values);
  if (!documents_->vectors) return values;
  auto const near = similarities(ctx, *topics.vectors, pairs);
  std::vector<double> wider;
  wider.reserve(pairs.documents.size() * (n + 1));
  for (std::size_t p = 0; p < pairs.documents.size(); ++p) {
    auto const row = values.begin() + static_cast<std::ptrdiff_t>(p * n);
    wider.insert(wider.end(), row, row + static_cast<std::ptrdiff_t>(n));
    wider.push_back(near[p]);
  }
  return wider;
}

std::vector<std::int32_t> pool_collection::labels_of(pool_topics const& topics,
                                                     ranked_pairs const& pairs,
                                                     std::int32_t unjudged) const {
  std::vector<std::int32_t> labels(pairs.documents.size(), unjudged);
  if (!topics.judgments) return labels;
  std::unordered_map<std::string_view, datasets::judged_query const*> judged;
  for (auto const& query : topics.judgments->queries) judged[query.qid] = &query;
  for (std::size_t q = 0; q < topics.texts.size(); ++q) {
    auto const of_topic = judged.find(topics.texts[q].id);
    if (of_topic == judged.end()) continue;
    auto const& all = of_topic->second->documents;
    for (std::size_t i = pairs.begin[q]; i < pairs.begin[q + 1]; ++i) {
      std::string_view const id = index().ids()[pairs.documents[i]];
      auto const at = std::ranges::lower_bound(all, id, {}, &datasets::judgment::docno);
      if (at != all.end() && at->docno == id && at->label >= 0) labels[i] = at->label;
    }
  }
  return labels;
}

/// Returns comments with the checksums of the pairs' texts.
std::vector<std::string> pool_collection::comments_of(pool_topics const& topics,
                                                      ranked_pairs const& pairs) const {
  std::vector<std::string> comments;
  for (std::size_t q = 0; q + 1 < pairs.begin.size(); ++q)
    for (std::size_t i = pairs.begin[q]; i < pairs.begin[q + 1]; ++i)
      comments.push_back(datasets::comment_of({topics.sums[q], sums_[pairs.documents[i]]}));
  return comments;
}

pool_pairs pool_collection::pairs(context const& ctx, pool_topics const& topics,
                                  found_lists const& found, pair_options const& options) const {
  if (documents_->vectors) expect_vectors(topics);
  ranked_pairs const pairs = in_collection_order(found, options.most);
  if (pairs.documents.empty())
    throw error(
        {topics.name, 1, 1},
        fmt::format("found no topic that {} a document of {}, expected at least one",
                    options_.from == candidate_source::text ? "shares a term with" : "is near to",
                    name_));
  pool_pairs made;
  std::vector<std::string_view> qids, ids;
  for (std::size_t q = 0; q < found.size(); ++q) {
    if (found[q].empty()) made.topics_without.push_back(q);
    for (std::size_t i = pairs.begin[q]; i < pairs.begin[q + 1]; ++i) {
      ids.push_back(index().ids()[pairs.documents[i]]);
      qids.push_back(topics.texts[q].id);
    }
  }
  std::vector<double> const values = features_of(ctx, topics, pairs);
  std::vector<std::int32_t> const labels = labels_of(topics, pairs, options.unjudged);
  std::vector<std::string> const comments = comments_of(topics, pairs);
  std::vector<std::string_view> const comment_views(comments.begin(), comments.end());
  datasets::document_arrays about;
  about.labels = labels;
  about.qids = qids;
  about.ids = ids;
  about.comments = comment_views;
  about.name = options.name;
  about.lines = true;
  std::size_t const rows = pairs.documents.size(), columns = values.size() / rows;
  made.data = datasets::make_dataset(
      ctx, datasets::dense_rows<double>{values.data(), rows, columns, columns}, about);
  if (options.named_features) {
    std::uint32_t feature = 0;
    for (std::string& name : feature_names()) made.data.names.emplace(++feature, std::move(name));
    made.data = datasets::with_feature_words(std::move(made.data), name_);
  }
  return made;
}

}  // namespace rulerank::features
