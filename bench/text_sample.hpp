#pragma once

#include "core/context.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstdint>
#include <span>
#include <string_view>

// Drawn collections of texts for text_bench.
namespace rulerank::inline v0::bench {

/// The size of a published text collection (Freitas 2017, Table 5.14) and of its set of queries.
struct text_shape {
  std::string_view name;
  std::size_t documents;  ///< queries included
  std::uint32_t terms;
  double terms_a_document;  ///< different ones, on average
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

/// Counts of terms of drawn documents: the number of different terms is log-normal, words follow
/// Zipf's law, and those of a topic follow it over some terms of their own. The seed is the
/// context's: the same seed gives the same rows for any number of threads.
knn::sparse_matrix sample_text(context const& ctx, text_sample_options const& options);

/// Rows of a matrix cut in two: `chosen` of them drawn evenly, and the others in order.
struct drawn_queries {
  knn::sparse_matrix queries, documents;
};
drawn_queries draw_queries(knn::sparse_rows const& rows, std::size_t chosen, std::uint64_t seed);

}  // namespace rulerank::bench
