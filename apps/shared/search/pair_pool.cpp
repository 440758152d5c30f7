#include "apps/shared/search/pair_pool.hpp"

#include "apps/shared/evaluation/judged_ids.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/search/corrections.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/dense/row_files.hpp"
#include "knn/search_seconds.hpp"
#include "knn/sparse/search.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::apps {

void pool_arguments::add_search_to(CLI::App& verb, std::string const& what_candidates) {
  help_group const group(verb, "Candidates and judgments");
  number_option(verb, "--candidates", candidates, what_candidates, {1, std::size_t{1} << 31});
  value_option(verb, "--metric NAME", metric,
               "Metric of the search: cosine, ip (inner product), l2; auto: ip for bm25 and for "
               "--weighting's norm n, otherwise cosine");
  engine_option(verb, "--search-engine", engine, knn::sparse_engines(), "Engine of the search");
  verb.add_flag("--correct", correct, correct_help);
  verb.add_flag("--leave-out-self", leave_out_self, "Exclude the document whose id is the topic's");
  number_option(verb, "--not-relevant GRADE,...", not_relevant,
                "Grades of the judgments that count as 0")
      ->delimiter(',');
}

void pool_arguments::add_features_to(CLI::App& verb) {
  {
    help_group const group(verb, "Features");
    number_option(verb, "--mu", features.mu, "LMIR.DIR: mu, the weight of the collection's model");
    number_option(verb, "--lambda", features.lambda,
                  "LMIR.JM: lambda, the share of the collection's model, 0 to 1");
    number_option(verb, "--delta", features.delta,
                  "LMIR.ABS: delta, subtracted from every count, 0 to 1");
  }
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
      throw usage_error("--collection, --topics and --qrels: found standard input, expected files");
  if (dense.vectors == "-" || dense.topic_vectors == "-")
    throw usage_error(
        "--vectors and --topic-vectors: found standard input, expected files, whose names say "
        "their format");
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

features::pool_options pool_arguments::options(knn::text_index_options const& index) const {
  return {.features = features,
          .from = dense.source(),
          .metric = text_arguments::metric_from(metric, index.metric),
          .engine = knn::sparse_engine_from(engine),
          .vector_metric = knn::dense_similarity_from(dense.metric),
          .fusion = fusion,
          .leave_out_self = leave_out_self};
}

std::vector<session::named_input> pool_arguments::inputs(session& owner) const {
  std::vector<session::named_input> all{
      {"--collection", collection}, {"--topics", topics}, {"--qrels", qrels}};
  for (session::named_input const& input : dense.inputs()) all.push_back(input);
  all.push_back(text.stop_list());
  owner.input(all.back().path);
  return all;
}

namespace {

/// Corrects words of the topics.
void correct_topics(session& owner, knn::text_index const& index, features::pool_topics& topics) {
  auto const timer = owner.stage("correct");
  correction_report report;
  report.correct(owner, knn::spelling_corrector(owner.ctx(), index), topics.texts);
  report.finish(owner);
}

/// The estimated seconds of one CPU thread to search for the topics.
double search_seconds(pool_arguments const& a, std::size_t documents, pool_inputs const& inputs) {
  double seconds = 0;
  if (a.dense.by_text())
    seconds +=
        knn::text_search_seconds(static_cast<double>(documents),
                                 datasets::expected_text_bytes(a.topics) / knn::bytes_a_term);
  if (inputs.document_vectors)
    seconds += knn::dense_search_seconds(static_cast<double>(inputs.document_vectors->size()),
                                         static_cast<double>(inputs.document_vectors->dimensions()),
                                         static_cast<double>(inputs.topics.vectors->size()));
  return seconds;
}

/// Warns of topics without a pair, naming the first ones.
void warn_of_topics_without(session& owner, features::pool_topics const& topics,
                            std::span<std::size_t const> without) {
  constexpr std::size_t most_named = 3;
  if (without.empty()) return;
  std::vector<std::string> first;
  for (std::size_t const q : without.first(std::min(most_named, without.size())))
    first.push_back(fmt::format("'{}'", topics.texts[q].id));
  owner.warn(fmt::format("{}: {} of {} have no candidate document and get no pair: {}{}",
                         datasets::display_name(topics.name), without.size(),
                         counted(topics.texts.size(), "topic"), fmt::join(first, ", "),
                         without.size() > first.size() ? ", ..." : ""));
}

}  // namespace

pool_inputs read_pool_inputs(session& owner, pool_arguments const& a,
                             knn::text_index_options const& options) {
  auto const timer = owner.stage("read");
  std::optional<datasets::qrels> judgments;
  if (!a.qrels.empty())
    judgments = datasets::read_qrels(owner.ctx(), owner.input(a.qrels),
                                     [&](std::string const& what) { owner.warn(what); });
  pool_inputs inputs{features::read_topics(owner.ctx(), owner.input(a.topics), options.reading),
                     {}};
  if (judgments) features::set_judgments(inputs.topics, std::move(*judgments), a.not_relevant);
  if (a.dense.given()) {
    inputs.document_vectors = knn::read_search_vectors(owner.ctx(), owner.input(a.dense.vectors));
    features::set_vectors(inputs.topics,
                          knn::read_search_vectors(owner.ctx(), owner.input(a.dense.topic_vectors)),
                          *inputs.document_vectors);
  }
  return inputs;
}

features::pool_collection index_collection(session& owner, pool_arguments const& a,
                                           knn::text_index_options const& options,
                                           pool_inputs& inputs) {
  knn::indexed_collection indexed = [&] {
    auto const timer = owner.stage("index");
    return knn::text_index::build_with_fields(owner.ctx(), owner.input(a.collection), options);
  }();
  features::pool_collection collection(owner.ctx(), a.collection, std::move(indexed),
                                       a.options(options));
  features::pool_topics& topics = inputs.topics;
  warn_without_terms(owner, collection.index());
  if (topics.judgments)
    warn_of_ids(owner, *topics.judgments, topics.texts, a.topics, collection.index().ids(),
                a.collection);
  if (a.correct) correct_topics(owner, collection.index(), topics);
  owner.choose_device(places_of(knn::sparse_engines(), knn::sparse_engine_from(a.engine)),
                      search_seconds(a, collection.size(), inputs));
  if (inputs.document_vectors) collection.set_vectors(owner.ctx(), *inputs.document_vectors);
  return collection;
}

features::found_candidates find_candidates(session& owner, pool_arguments const& a,
                                           features::pool_collection const& collection,
                                           features::pool_topics const& topics) {
  return collection.search(owner.ctx(), topics, std::max(a.candidates, features::search_depth),
                           [&](std::string_view stage, std::function<void()> const& work) {
                             auto const timer = owner.stage(std::string(stage));
                             owner.ranks();  // compares the ranks' inputs before work is split
                             work();
                           });
}

datasets::dataset make_pairs(session& owner, features::pool_collection const& collection,
                             features::pool_topics const& topics,
                             features::found_lists const& found,
                             features::pair_options const& options) {
  auto const timer = owner.stage("features");
  features::pool_pairs pairs = collection.pairs(owner.ctx(), topics, found, options);
  warn_of_topics_without(owner, topics, pairs.topics_without);
  return std::move(pairs.data);
}

void write_candidates(datasets::run const& run, output_file& out) {
  for (auto const& query : run.queries)
    for (std::size_t i = 0; i < query.documents.size(); ++i)
      out.write(datasets::run_line(query.qid, query.documents[i].docno, i + 1,
                                   query.documents[i].score, run.tag));
}

}  // namespace rulerank::apps
