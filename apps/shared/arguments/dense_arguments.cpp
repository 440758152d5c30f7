#include "apps/shared/arguments/dense_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void dense_arguments::add_to(CLI::App& verb) {
  {
    help_group const group(verb, "Vectors");
    path_option(verb, "--vectors", vectors,
                "Vectors of the documents, one row for each, in the order of the collection");
    path_option(verb, "--topic-vectors", topic_vectors,
                "Vectors of the topics, one row for each, in their order");
    word_option(verb, "--candidates-from", from, {"text", "dense", "both"},
                "Search that finds the candidates: by terms, by vectors, or by both, fused")
        ->default_str("both with --vectors, otherwise text");
    word_option(verb, "--dense-metric", metric, {"cosine", "ip", "l2"},
                "Metric of the search by vectors and of its feature");
  }
  fusion.add_to(verb, "--fusion", "--fusion-norm");
}

void dense_arguments::check(CLI::App const& verb) const {
  if (vectors.empty() != topic_vectors.empty())
    throw usage_error(vectors.empty() ? "--topic-vectors needs --vectors"
                                      : "--vectors needs --topic-vectors");
  if (!given())
    for (char const* const name : {"--candidates-from", "--dense-metric"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} needs --vectors", name));
  if (!by_text() || !by_vectors())
    for (char const* const name : {"--fusion", "--fusion-norm", "--rrf-k", "--run-weights"})
      if (verb.count(name) > 0)
        throw usage_error(fmt::format("{} needs --candidates-from both", name));
  auto const options = fusion.options(verb);
  if (!options.weights.empty() && options.weights.size() != 2)
    throw usage_error(fmt::format(
        "--run-weights: found {}, expected two: the weight of text and the weight of vectors",
        counted(options.weights.size(), "number")));
}

std::vector<session::named_input> dense_arguments::inputs() const {
  return {{"--vectors", vectors}, {"--topic-vectors", topic_vectors}};
}

features::candidate_source dense_arguments::source() const {
  if (!by_vectors()) return features::candidate_source::text;
  return by_text() ? features::candidate_source::text_and_vectors
                   : features::candidate_source::vectors;
}

std::string dense_arguments::feature() const {
  return features::vector_feature_name(knn::dense_similarity_from(metric));
}

}  // namespace rulerank::apps
