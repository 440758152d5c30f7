#include "python/src/pool.hpp"

#include "core/error.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/trec.hpp"
#include "features/pair_pool.hpp"
#include "knn/text/text_index.hpp"
#include "python/src/data.hpp"
#include "python/src/evaluation.hpp"
#include "python/src/neighbours.hpp"
#include "python/src/run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;

/// Texts with ids: [(id, [(field, text)])].
using given_texts =
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>>;
/// The path of a file, or texts in memory.
using path_or_texts = std::variant<std::string, given_texts>;
using path_or_qrels = std::variant<std::string, datasets::qrels>;

std::vector<datasets::text_document> documents_of(given_texts const& given) {
  std::vector<datasets::text_document> made;
  for (auto const& [id, fields] : given) {
    datasets::text_document& one = made.emplace_back();
    one.id = id;
    for (auto const& [name, text] : fields) one.fields.push_back({name, text});
  }
  return made;
}

features::candidate_source source_from(std::string const& name) {
  if (name == "text") return features::candidate_source::text;
  if (name == "dense") return features::candidate_source::vectors;
  if (name == "both") return features::candidate_source::text_and_vectors;
  throw usage_error("candidates_from: found '" + name + "', expected text, dense or both");
}

/// The inputs of a pool.
struct pool_sources {
  path_or_texts documents, topics;
  std::optional<path_or_qrels> judgments;
  std::optional<datasets::run> run;
  std::optional<row_array> vectors, topic_vectors;
};

struct made_pool {
  documents pairs;
  std::vector<std::string> topics_without;
  std::size_t topics = 0;
};

knn::indexed_collection index_of(context const& ctx, path_or_texts const& documents,
                                 knn::text_index_options const& options) {
  if (auto const* const path = std::get_if<std::string>(&documents))
    return knn::text_index::build_with_fields(ctx, *path, options);
  auto const texts = documents_of(std::get<given_texts>(documents));
  for (datasets::text_document const& one : texts)
    if (!datasets::is_run_column(one.id))
      throw usage_error("documents: found the id '" + printable(one.id) +
                        "', expected one without blanks");
  return knn::text_index::build_with_fields(ctx, texts, options);
}

features::pool_topics topics_of(context const& ctx, path_or_texts const& topics,
                                datasets::text_options const& reading) {
  if (auto const* const path = std::get_if<std::string>(&topics))
    return features::read_topics(ctx, *path, reading);
  return features::make_topics(documents_of(std::get<given_texts>(topics)));
}

made_pool make_pool(context const& ctx, pool_sources const& from,
                    knn::text_index_options const& text, features::pool_options const& options,
                    std::size_t candidates, std::int32_t unjudged,
                    std::vector<std::int32_t> const& not_relevant) {
  features::pool_topics topics = topics_of(ctx, from.topics, text.reading);
  if (from.judgments) {
    auto const* const path = std::get_if<std::string>(&*from.judgments);
    features::set_judgments(topics,
                            path != nullptr ? datasets::read_qrels(ctx, *path)
                                            : std::get<datasets::qrels>(*from.judgments),
                            not_relevant);
  }
  auto const* const path = std::get_if<std::string>(&from.documents);
  features::pool_collection collection(ctx, path != nullptr ? *path : "documents",
                                       index_of(ctx, from.documents, text), options);
  if (from.vectors) {
    auto const of_documents = vectors_of(ctx, *from.vectors, "vectors");
    features::set_vectors(topics, vectors_of(ctx, *from.topic_vectors, "topic_vectors"),
                          of_documents);
    collection.set_vectors(ctx, of_documents);
  }
  features::pair_options how{.unjudged = unjudged, .named_features = true};
  features::found_lists lists;
  if (from.run) {
    lists = collection.lists_of(topics, *from.run);
  } else {
    lists = collection.search(ctx, topics, std::max(candidates, features::search_depth)).lists;
    how.most = candidates;
  }
  features::pool_pairs made = collection.pairs(ctx, topics, lists, how);
  made_pool pool{{std::move(made.data)}, {}, topics.texts.size()};
  for (std::size_t const q : made.topics_without) pool.topics_without.push_back(topics.texts[q].id);
  return pool;
}

void add_options(nb::module_& to) {
  nb::class_<features::pool_options>(to, "PoolOptions", "How a pool is made.")
      .def(
          "__init__",
          [](features::pool_options* self, std::string const& candidates_from,
             std::optional<std::string> const& metric, knn::text_index_options const& text,
             std::string const& engine, std::string const& dense_metric, bool leave_out_self) {
            features::pool_options options;
            options.features.k1 = text.weighting.k1;
            options.features.b = text.weighting.b;
            options.from = source_from(candidates_from);
            options.metric = metric ? knn::sparse_similarity_from(*metric) : text.metric;
            options.engine = knn::sparse_engine_from(engine);
            options.vector_metric = knn::dense_similarity_from(dense_metric);
            options.leave_out_self = leave_out_self;
            new (self) features::pool_options(options);
          },
          "candidates_from"_a, "metric"_a.none(), "text"_a, "engine"_a, "dense_metric"_a,
          "leave_out_self"_a)
      .def(
          "set_models",
          [](features::pool_options& of, double mu, double lambda, double delta) {
            of.features.mu = mu;
            of.features.lambda = lambda;
            of.features.delta = delta;
          },
          "mu"_a, "lambda_"_a, "delta"_a)
      .def(
          "set_fusion",
          [](features::pool_options& of, std::string const& method, std::string const& norm,
             double rrf_k, std::vector<double> weights) {
            of.fusion = {.method = knn::fusion_method_from(method),
                         .norm = knn::score_norm_from(norm),
                         .rrf_k = rrf_k,
                         .weights = std::move(weights)};
          },
          "method"_a, "norm"_a, "rrf_k"_a, "weights"_a);
}

}  // namespace

void add_pool(nb::module_& to) {
  add_options(to);
  to.def(
      "make_pool",
      [](run_settings const& how, path_or_texts documents, path_or_texts topics,
         std::optional<path_or_qrels> judgments, std::optional<nb::dict> const& retrieved,
         std::optional<row_array> vectors, std::optional<row_array> topic_vectors,
         knn::text_index_options text, bool number_by_position,
         features::pool_options const& options, std::size_t candidates, std::int32_t unjudged,
         std::vector<std::int32_t> const& not_relevant) {
        text.reading.ids = datasets::id_form::run_column;
        text.reading.number_by_position = number_by_position;
        pool_sources from{std::move(documents), std::move(topics),       std::move(judgments), {},
                          std::move(vectors),   std::move(topic_vectors)};
        if (retrieved) from.run = run_of(*retrieved);
        made_pool made = run(how, [&](context const& ctx) {
          return make_pool(ctx, from, text, options, candidates, unjudged, not_relevant);
        });
        return std::tuple(std::move(made.pairs), std::move(made.topics_without), made.topics);
      },
      "run"_a, "documents"_a, "topics"_a, "judgments"_a.none(), "retrieved"_a.none(),
      "vectors"_a.none(), "topic_vectors"_a.none(), "text"_a, "number_by_position"_a, "options"_a,
      "candidates"_a, "unjudged"_a, "not_relevant"_a,
      "The pairs, the ids of topics without a pair, and how many topics there are.");
}

}  // namespace rulerank::python
