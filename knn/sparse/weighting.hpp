#pragma once

#include "knn/similarity.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::knn {

/// How term counts become weights.
enum class weighting {
  none,    ///< tf
  tf_idf,  ///< tf ln(N / df), for documents and queries; a term in no document has weight 0
  /// Documents: idf count (k1 + 1) / (count + k1 (1 - b + b length / mean length)) with
  /// idf = ln(1 + (N - df + 1/2) / (df + 1/2)); queries: the count (Robertson and Zaragoza 2009).
  bm25,
};

/// The tf of `none` and `tf_idf`.
enum class term_frequency {
  raw,     ///< the count, or a vector's value
  log,     ///< 1 + ln(count); counts must be at least 1
  binary,  ///< 1
};

/// The weights of documents or of queries: `none` or `tf_idf`.
struct term_weighting {
  weighting how = weighting::tf_idf;
  term_frequency tf = term_frequency::raw;
};

struct weighting_options {
  weighting how = weighting::tf_idf;
  term_frequency tf = term_frequency::raw;  ///< ignored by bm25
  std::optional<term_weighting> queries{};  ///< empty: as documents; not for bm25
  double k1 = 1.2;                          ///< bm25; 0 to 1e6
  double b = 0.75;                          ///< bm25; 0 to 1
};

/// A scheme in SMART notation (Salton and Buckley 1988): three letters for documents, a dot, and
/// three for queries, as in `ltc.lnc`.
struct smart_weighting {
  weighting_options weights;
  similarity metric = similarity::cosine;
};
/// Parses a scheme. tf: n (raw), l (log), b (binary); idf: n (none), t (ln(N / df)); norm: n (none,
/// inner product), c (cosine). Documents and queries must have the same norm, because the norm of a
/// query does not change the order. Throws `usage_error` that lists the letters for anything else.
smart_weighting smart_weighting_from(std::string_view name);
/// Returns the SMART name of the weights. Throws `usage_error` for bm25, which has none.
std::string smart_name_of(weighting_options const& weights, similarity metric);

/// The default weights, chosen by their effectiveness on training sets
/// (bench/results/text-weights), and their SMART name.
inline constexpr std::string_view default_smart_weighting = "lnc.ltc";
weighting_options default_weighting();

/// Throws `usage_error` for contradictory options.
void check(weighting_options const& options);

/// The statistics of the documents that the weights of queries need.
struct term_statistics {
  std::uint64_t documents = 0;                    ///< N
  double mean_length = 0;                         ///< mean sum of counts per document
  std::vector<std::uint32_t> document_frequency;  ///< [terms]
};
term_statistics statistics_of(sparse_rows const& counts);

/// Converts counts of documents to weights; drops entries of weight 0. Throws `usage_error` for
/// contradictory options, and for a count below 1 with the `log` tf.
sparse_matrix weigh_documents(sparse_rows const& counts, term_statistics const& statistics,
                              weighting_options const& options);
/// Converts counts of queries to weights. Keeps entries of weight 0 for terms that documents have:
/// such a term does not change scores, but makes documents match. Drops terms that the statistics
/// lack.
sparse_matrix weigh_queries(sparse_rows const& counts, term_statistics const& statistics,
                            weighting_options const& options);

weighting weighting_from(std::string_view name);
std::string_view name_of(weighting how);
/// Parses raw, log or binary. Throws `usage_error` that lists these names.
term_frequency term_frequency_from(std::string_view name);
std::string_view name_of(term_frequency tf);

}  // namespace rulerank::knn
