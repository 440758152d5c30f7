#pragma once

#include "knn/sparse/sparse_index.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::knn {

/// How counts of terms become weights.
enum class weighting {
  none,    ///< as they are
  tf_idf,  ///< tf ln(N / df), documents and queries alike; a term in no document weighs 0
  bm25,    ///< documents: idf tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length)) with
           ///< idf = ln(1 + (N - df + 1/2) / (df + 1/2)); queries: tf (Robertson and Zaragoza 2009)
};

struct weighting_options {
  weighting how = weighting::tf_idf;
  double k1 = 1.2;  ///< bm25; 0 to 1e6
  double b = 0.75;  ///< bm25; 0 to 1
};

/// Throws `usage_error` for options that make no sense.
void check(weighting_options const& options);

/// What the weights of queries take from the documents.
struct term_statistics {
  std::uint64_t documents = 0;                    ///< N
  double mean_length = 0;                         ///< sum of counts a document
  std::vector<std::uint32_t> document_frequency;  ///< [terms]
};
term_statistics statistics_of(sparse_rows const& counts);

/// Counts of documents turned into weights; entries that weigh 0 are dropped. Throws `usage_error`
/// for options that make no sense.
sparse_matrix weigh_documents(sparse_rows const& counts, term_statistics const& statistics,
                              weighting_options const& options);
/// The same for queries. Terms that the statistics do not know are dropped.
sparse_matrix weigh_queries(sparse_rows const& counts, term_statistics const& statistics,
                            weighting_options const& options);

weighting weighting_from(std::string_view name);
std::string_view name_of(weighting how);

}  // namespace rulerank::knn
