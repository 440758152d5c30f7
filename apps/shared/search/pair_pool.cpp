#include "apps/shared/search/pair_pool.hpp"

#include "apps/shared/evaluation/judged_ids.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/search/corrections.hpp"
#include "apps/shared/session/device_rule.hpp"
#include "core/error.hpp"
#include "core/even_shares.hpp"
#include "core/output_file.hpp"
#include "datasets/arrays.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/text/text_sums.hpp"
#include "datasets/text_source.hpp"
#include "knn/collection_parts.hpp"
#include "knn/sparse/search.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::apps {

void pool_arguments::add_search_to(CLI::App& verb, std::string const& what_candidates) {
  number_option(verb, "--candidates", candidates, what_candidates, {1, std::size_t{1} << 31});
  verb.add_option("--metric", metric,
                  "Of the search: cosine, ip, l2; auto: ip for bm25 and --weighting's norm n, else "
                  "cosine")
      ->capture_default_str();
  engine_option(verb, "--search-engine", engine, knn::sparse_engines(), "Of the search");
  verb.add_flag("--correct", correct, correct_help);
  number_option(verb, "--not-relevant", not_relevant, "Grades of the judgments that mean 0")
      ->delimiter(',')
      ->type_name("GRADE,...");
}

void pool_arguments::add_features_to(CLI::App& verb) {
  std::string const models = "Features";
  number_option(verb, "--mu", features.mu, "LMIR.DIR: terms the collection adds")->group(models);
  number_option(verb, "--lambda", features.lambda, "LMIR.JM: the collection's share")
      ->group(models);
  number_option(verb, "--delta", features.delta, "LMIR.ABS: what counts are lowered by")
      ->group(models);
  dense.add_to(verb);
  text.add_reading_to(verb);
  text.add_index_to(verb);
}

void pool_arguments::check(CLI::App const& verb) {
  text.check_weights(verb);
  dense.check(verb);
  fusion = dense.fusion.options(verb);
  for (std::string const& path : {collection, topics, qrels})
    if (path == "-")
      throw usage_error(
          "--collection, --topics and --qrels are files here, whose checksums "
          "the manifest has");
  if (dense.vectors == "-" || dense.topic_vectors == "-")
    throw usage_error("--vectors and --topic-vectors are files here, whose names say their form");
}

knn::text_index_options pool_arguments::index_options(session& owner) {
  knn::text_index_options options = text.options(owner);
  options.reading.ids = datasets::id_form::run_column;
  options.dictionary = correct;
  text_arguments::metric_from(metric, options.metric);
  knn::sparse_engine_from(engine);
  features.k1 = options.weighting.k1;
  features.b = options.weighting.b;
  return options;
}

std::vector<session::named_input> pool_arguments::inputs(session& owner) const {
  std::vector<session::named_input> all{
      {"--collection", collection}, {"--topics", topics}, {"--qrels", qrels}};
  for (session::named_input const& input : dense.inputs()) all.push_back(input);
  if (auto const list = text.stop_list()) {
    all.push_back(*list);
    owner.input(list->path);
  }
  return all;
}

namespace {

datasets::qrels read_judgments(session& owner, pool_arguments const& a) {
  datasets::qrels judgments = datasets::read_qrels(owner.ctx(), owner.input(a.qrels));
  for (auto& query : judgments.queries)
    for (auto& document : query.documents)
      if (std::ranges::find(a.not_relevant, document.label) != a.not_relevant.end())
        document.label = 0;
  return judgments;
}

/// Topics, whose ids become qids of LETOR lines.
std::vector<datasets::text_document> read_topics(session& owner, pool_arguments const& a,
                                                 knn::text_index_options options) {
  options.reading.ids = datasets::id_form::qid;
  std::vector<datasets::text_document> topics;
  datasets::read_documents(
      owner.ctx(), owner.input(a.topics), datasets::text_format::automatic,
      [&](datasets::text_document&& topic) { topics.push_back(std::move(topic)); },
      options.reading);
  return topics;
}

/// Replaces words of the topics.
void correct_topics(session& owner, knn::text_index const& index,
                    std::vector<datasets::text_document>& topics) {
  auto const timer = owner.stage("correct");
  correction_report report;
  report.correct(owner, knn::spelling_corrector(owner.ctx(), index), topics);
  report.finish(owner);
}

}  // namespace

asked_topics read_asked(session& owner, pool_arguments const& a,
                        knn::text_index_options const& options) {
  auto const timer = owner.stage("read");
  asked_topics what;
  if (!a.qrels.empty()) what.judgments = read_judgments(owner, a);
  what.topics = read_topics(owner, a, options);
  for (datasets::text_document const& topic : what.topics)
    what.sums.push_back(datasets::sum_of_text(topic.fields));
  if (what.judgments && std::ranges::none_of(what.topics, [&](auto const& topic) {
        return std::ranges::find(what.judgments->queries, topic.id, &datasets::judged_query::qid) !=
               what.judgments->queries.end();
      }))
    throw error({a.qrels, 1, 1},
                fmt::format("found no judgment of a topic of {}, expected one at least", a.topics));
  if (a.dense.given()) what.vectors.emplace(owner, a.dense, what.topics.size());
  return what;
}

/// Topics with the documents that are ranked for them.
struct pair_pool::ranked_pairs {
  std::vector<std::uint64_t> begin{0};  ///< [topics + 1] into documents
  std::vector<std::uint32_t> documents;
};

pair_pool::pair_pool(session& owner, pool_arguments const& a,
                     knn::text_index_options const& options, asked_topics& what)
    : pair_pool(owner, a, options, what, [&] {
        auto const timer = owner.stage("index");
        return knn::text_index::build_with_fields(owner.ctx(), owner.input(a.collection), options);
      }()) {}

pair_pool::pair_pool(session& owner, pool_arguments const& a,
                     knn::text_index_options const& options, asked_topics& what,
                     knn::indexed_collection&& collection)
    : owner_(owner),
      arguments_(a),
      options_(options),
      what_(what),
      index_(std::move(collection.index)),
      sums_(std::move(collection.sums)),
      features_(owner.ctx(), std::move(collection.fields), a.features) {
  warn_without_terms(owner, index_);
  if (what.judgments)
    warn_of_ids(owner, *what.judgments, what.topics, a.topics, index_.ids(), a.collection);
  if (a.correct) correct_topics(owner, index_, what.topics);
  double seconds = 0;
  if (a.dense.by_text())
    seconds += search_seconds(static_cast<double>(index_.ids().size()),
                              bytes_ahead(a.topics) / bytes_a_term);
  if (what.vectors) seconds += what.vectors->search_seconds();
  owner.choose_device(places_of(knn::sparse_engines(), knn::sparse_engine_from(a.engine)), seconds);
  if (what.vectors) what.vectors->prepare(owner, index_.ids().size(), a.collection);
}

datasets::run pair_pool::run_of(found_lists const& found, std::string tag) const {
  datasets::run run;
  run.name = tag;
  run.tag = std::move(tag);
  for (std::size_t q = 0; q < what_.topics.size(); ++q) {
    datasets::run_query query{what_.topics[q].id, {}};
    for (auto const& [document, score] : found[q])
      query.documents.push_back({std::string(index_.ids()[document]), score});
    if (!query.documents.empty()) run.queries.push_back(std::move(query));
  }
  return run;
}

found_lists pair_pool::search_text(std::size_t depth) const {
  knn::sparse_search_options search;
  search.k = depth;
  search.metric = text_arguments::metric_from(arguments_.metric, options_.metric);
  search.engine = knn::sparse_engine_from(arguments_.engine);
  auto const timer = owner_.stage("search");
  knn::sparse_searcher const searcher(owner_.ctx(), index_.index(), search);
  knn::sparse_matrix const topics = index_.queries(owner_.ctx(), what_.topics);
  return apps::lists_of(knn::search_evenly(owner_.ranks(), topics.size(), [&](share some) {
    return searcher.search(owner_.ctx(), knn::sparse_rows(topics).slice(some.begin, some.size()));
  }));
}

found_candidates pair_pool::search() const {
  dense_arguments const& dense = arguments_.dense;
  std::size_t const depth = std::max(arguments_.candidates, recall_depth);
  found_candidates found;
  found_lists by_text, by_vectors;
  if (dense.by_text()) by_text = search_text(depth);
  if (dense.by_vectors()) {
    auto const timer = owner_.stage("search vectors");
    by_vectors = what_.vectors->search(owner_, depth);
  }
  if (dense.by_text() && dense.by_vectors()) {
    auto const timer = owner_.stage("fuse");
    datasets::run const runs[] = {run_of(by_text, "candidates-text"),
                                  run_of(by_vectors, "candidates-dense")};
    knn::fusion_options fusion = arguments_.fusion;
    fusion.depth = depth;
    found.lists = lists_of(knn::fuse(owner_.ctx(), runs, fusion));
    for (datasets::run const& run : runs) found.runs.emplace_back(run.tag, run);
  } else {
    found.lists = std::move(dense.by_text() ? by_text : by_vectors);
  }
  found.runs.emplace(found.runs.begin(), "candidates", run_of(found.lists, "candidates"));
  return found;
}

found_lists pair_pool::lists_of(datasets::run const& run) const {
  std::unordered_map<std::string_view, std::uint32_t> number;
  for (std::uint32_t d = 0; d < index_.ids().size(); ++d) number[index_.ids()[d]] = d;
  std::unordered_map<std::string_view, datasets::run_query const*> query_of;
  for (auto const& query : run.queries) query_of[query.qid] = &query;
  found_lists lists(what_.topics.size());
  bool any = false;
  for (std::size_t q = 0; q < what_.topics.size(); ++q) {
    auto const at = query_of.find(what_.topics[q].id);
    if (at == query_of.end()) continue;
    any = true;
    for (auto const& [docno, score] : at->second->documents) {
      auto const document = number.find(docno);
      if (document == number.end())
        throw error({run.name, at->second->line, 1},
                    fmt::format("found document '{}' of query {}, which is not in {}, expected "
                                "documents of it",
                                docno, at->second->qid, arguments_.collection));
      lists[q].push_back({document->second, score});
    }
    // A run's scores make the order, whatever that of its lines.
    std::ranges::stable_sort(lists[q], std::greater<>(), &found_document::score);
  }
  if (!any)
    throw error({run.name, 1, 1},
                fmt::format("found no query that is a topic of {}, expected one at least",
                            arguments_.topics));
  return lists;
}

std::vector<std::string> pair_pool::feature_names() const {
  std::vector<std::string> names = features_.names();
  if (what_.vectors) names.push_back(arguments_.dense.feature());
  return names;
}

/// Rows of the pairs' features, with the similarity of their vectors as the last one where there
/// are vectors: [pairs][features].
std::vector<double> pair_pool::features_of(ranked_pairs const& pairs) const {
  std::size_t const n = features_.size();
  std::vector<double> values(pairs.documents.size() * n);
  features_.of(owner_.ctx(), index_.counts(owner_.ctx(), what_.topics), pairs.begin,
               pairs.documents, values);
  if (!what_.vectors) return values;
  auto const similarities = what_.vectors->similarities(owner_.ctx(), pairs.begin, pairs.documents);
  std::vector<double> wider;
  wider.reserve(pairs.documents.size() * (n + 1));
  for (std::size_t p = 0; p < pairs.documents.size(); ++p) {
    auto const row = values.begin() + static_cast<std::ptrdiff_t>(p * n);
    wider.insert(wider.end(), row, row + static_cast<std::ptrdiff_t>(n));
    wider.push_back(similarities[p]);
  }
  return wider;
}

/// A judgment below 0 says that nobody judged the document.
std::vector<std::int32_t> pair_pool::labels_of(ranked_pairs const& pairs,
                                               std::int32_t unjudged) const {
  std::vector<std::int32_t> labels(pairs.documents.size(), unjudged);
  if (!what_.judgments) return labels;
  std::unordered_map<std::string_view, datasets::judged_query const*> judged;
  for (auto const& query : what_.judgments->queries) judged[query.qid] = &query;
  for (std::size_t q = 0; q < what_.topics.size(); ++q) {
    auto const of_topic = judged.find(what_.topics[q].id);
    if (of_topic == judged.end()) continue;
    auto const& all = of_topic->second->documents;
    for (std::size_t i = pairs.begin[q]; i < pairs.begin[q + 1]; ++i) {
      std::string_view const id = index_.ids()[pairs.documents[i]];
      auto const at = std::ranges::lower_bound(all, id, {}, &datasets::judgment::docno);
      if (at != all.end() && at->docno == id && at->label >= 0) labels[i] = at->label;
    }
  }
  return labels;
}

/// What texts the pairs were made of.
std::vector<std::string> pair_pool::comments_of(ranked_pairs const& pairs) const {
  std::vector<std::string> comments;
  for (std::size_t q = 0; q + 1 < pairs.begin.size(); ++q)
    for (std::size_t i = pairs.begin[q]; i < pairs.begin[q + 1]; ++i)
      comments.push_back(datasets::comment_of({what_.sums[q], sums_[pairs.documents[i]]}));
  return comments;
}

/// A topic without a candidate is in no line: what learns from these never sees it.
void pair_pool::warn_of_topics_without(found_lists const& found) const {
  constexpr std::size_t most_named = 3;
  std::size_t without = 0;
  std::vector<std::string> first;
  for (std::size_t q = 0; q < found.size(); ++q) {
    if (!found[q].empty()) continue;
    if (without++ < most_named) first.push_back(fmt::format("'{}'", what_.topics[q].id));
  }
  if (without > 0)
    owner_.warn(fmt::format("{}: {} of {} have no candidate and so no pair: {}{}",
                            datasets::display_name(arguments_.topics), without,
                            counted(found.size(), "topic"), fmt::join(first, ", "),
                            without > first.size() ? ", ..." : ""));
}

datasets::dataset pair_pool::pairs(found_lists const& found, std::size_t most,
                                   std::int32_t unjudged, std::string const& name) const {
  auto const timer = owner_.stage("features");
  ranked_pairs pairs;
  std::vector<std::string_view> qids, ids;
  for (std::size_t q = 0; q < found.size(); ++q) {
    auto& documents = pairs.documents;
    for (std::size_t i = 0; i < std::min(most, found[q].size()); ++i)
      documents.push_back(found[q][i].document);
    std::sort(documents.begin() + static_cast<std::ptrdiff_t>(pairs.begin.back()), documents.end());
    for (std::size_t i = pairs.begin.back(); i < documents.size(); ++i) {
      ids.push_back(index_.ids()[documents[i]]);
      qids.push_back(what_.topics[q].id);
    }
    pairs.begin.push_back(documents.size());
  }
  if (pairs.documents.empty())
    throw error({arguments_.topics, 1, 1},
                fmt::format("found no topic that {} a document of {}, expected one at least",
                            arguments_.dense.by_vectors() ? "is near to" : "shares a term with",
                            arguments_.collection));
  warn_of_topics_without(found);
  std::vector<double> const values = features_of(pairs);
  std::vector<std::int32_t> const labels = labels_of(pairs, unjudged);
  datasets::document_arrays about;
  about.labels = labels;
  about.qids = qids;
  about.ids = ids;
  std::vector<std::string> const comments = comments_of(pairs);
  std::vector<std::string_view> const comment_views(comments.begin(), comments.end());
  about.comments = comment_views;
  about.name = name;
  about.lines = true;
  std::size_t const rows = pairs.documents.size(), columns = values.size() / rows;
  return datasets::make_dataset(
      owner_.ctx(), datasets::dense_rows<double>{values.data(), rows, columns, columns}, about);
}

void write_candidates(datasets::run const& run, output_file& out) {
  for (auto const& query : run.queries)
    for (std::size_t i = 0; i < query.documents.size(); ++i)
      out.write(datasets::run_line(query.qid, query.documents[i].docno, i + 1,
                                   query.documents[i].score, run.tag));
}

}  // namespace rulerank::apps
