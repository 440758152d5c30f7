#pragma once

#include "knn/similarity.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::knn {

/// How counts of terms become weights.
enum class weighting {
  none,    ///< tf
  tf_idf,  ///< tf ln(N / df), of documents and queries alike; a term in no document weighs 0
  bm25,    ///< documents: idf count (k1 + 1) / (count + k1 (1 - b + b length / mean length)) with
           ///< idf = ln(1 + (N - df + 1/2) / (df + 1/2)); queries: the count (Robertson and
           ///< Zaragoza 2009)
};

/// What the tf of `none` and `tf_idf` is.
enum class term_frequency {
  raw,     ///< the count, or a vector's value
  log,     ///< 1 + ln(count); counts are 1 at least
  binary,  ///< 1
};

/// Weights of one side, documents or queries: `none` or `tf_idf`.
struct term_weighting {
  weighting how = weighting::tf_idf;
  term_frequency tf = term_frequency::raw;
};

struct weighting_options {
  weighting how = weighting::tf_idf;
  term_frequency tf = term_frequency::raw;  ///< not of bm25
  std::optional<term_weighting> queries{};  ///< nothing: as documents; not bm25
  double k1 = 1.2;                          ///< bm25; 0 to 1e6
  double b = 0.75;                          ///< bm25; 0 to 1
};

/// SMART's name of weights and similarity (Salton and Buckley 1988), three letters of the
/// documents, a dot and three of the queries, as `ltc.lnc`.
struct smart_weighting {
  weighting_options weights;
  similarity metric = similarity::cosine;
};
/// tf: n (raw), l (log), b (binary); idf: n (none), t (ln(N / df)); norm: n (none, the inner
/// product), c (the cosine), the same one in both parts, since that of a query changes no order.
/// Throws `usage_error` that lists them for anything else.
smart_weighting smart_weighting_from(std::string_view name);
/// The name of these. Throws `usage_error` for bm25, which has none.
std::string smart_name_of(weighting_options const& weights, similarity metric);

/// What words are weighed by where nothing else is asked for: SMART's name of it, which was chosen
/// by what it finds on training sets (bench/results/text-weights), and the weights.
inline constexpr std::string_view default_smart_weighting = "lnc.ltc";
weighting_options default_weighting();

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
/// for options that make no sense, and for a count below 1 whose logarithm is asked for.
sparse_matrix weigh_documents(sparse_rows const& counts, term_statistics const& statistics,
                              weighting_options const& options);
/// The same for queries, but entries of terms that documents have stay, though they may weigh 0:
/// such a term makes no score, but a match. Terms that the statistics do not know are dropped.
sparse_matrix weigh_queries(sparse_rows const& counts, term_statistics const& statistics,
                            weighting_options const& options);

weighting weighting_from(std::string_view name);
std::string_view name_of(weighting how);
/// raw, log or binary. Throws `usage_error` that lists the names.
term_frequency term_frequency_from(std::string_view name);
std::string_view name_of(term_frequency tf);

}  // namespace rulerank::knn
