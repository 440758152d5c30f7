#pragma once

#include "core/context.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstdint>
#include <span>
#include <string_view>

// Synthetic collections of texts for text_bench.
namespace rulerank::inline v0::bench {

/// The size of a published text collection (Freitas 2017, Table 5.14) and of its queries.
struct text_shape {
  std::string_view name;
  std::size_t documents;  ///< including queries
  std::uint32_t terms;
  double terms_a_document;  ///< mean number of distinct terms
  std::size_t queries;
};
std::span<text_shape const> text_shapes();
/// Throws `usage_error` that lists the names.
text_shape const& find_text_shape(std::string_view name);

struct text_sample_options {
  std::size_t documents = 0;
  std::uint32_t terms = 0;
  double terms_a_document = 0;
  /// Share of a document's words that come from its topic; a topic has some 500 documents.
  double of_topic = 0.4;
};

/// Generates term counts of documents: the number of distinct terms is log-normal, words follow
/// Zipf's law, and the words of a topic follow it over some terms of the topic. The context's seed
/// determines the rows, for any number of threads.
knn::sparse_matrix sample_text(context const& ctx, text_sample_options const& options);

/// The rows of a matrix in two parts: `chosen` evenly spaced ones, and the others in order.
struct drawn_queries {
  knn::sparse_matrix queries, documents;
};
drawn_queries draw_queries(knn::sparse_rows const& rows, std::size_t chosen, std::uint64_t seed);

}  // namespace rulerank::bench
