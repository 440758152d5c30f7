#pragma once

#include "core/context.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::features {

struct pair_features_options {
  double k1 = 1.2;      ///< BM25; 0 to 1e6
  double b = 0.75;      ///< BM25; 0 to 1
  double mu = 2000;     ///< LMIR.DIR: terms that the collection adds to a document; 1e-6 to 1e12
  double lambda = 0.1;  ///< LMIR.JM: weight of the collection in the mixture; 1e-6 to 1
  double delta = 0.7;   ///< LMIR.ABS: discount of each count; 1e-6 to 1
};

/// Features of query–document pairs for learning to rank, after LETOR (Qin, Liu, Xu and Li 2010,
/// LETOR: a benchmark collection for research on learning to rank for information retrieval,
/// Information Retrieval 13; Qin and Liu 2013, Introducing LETOR 4.0 datasets). All are finite.
///
/// Logarithms are natural. Statistics are those of one field: N documents, including empty ones; df
/// documents contain a term, cf times in total; tf times in this document, whose length is the sum
/// of its counts; idf = ln(N / df). Sums run over the distinct terms of the query that the field of
/// the document contains, in term order; qf, the count of a term in the query, is used only where
/// it is written.
///
///     sum of tf                          sum tf
///     sum of log(tf + 1)                 sum ln(tf + 1)
///     sum of tf/length                   sum tf / length
///     sum of log(tf/length + 1)          sum ln(tf / length + 1)
///     sum of idf                         sum ln(N / df)
///     sum of log(idf + 1)                sum ln(idf + 1)
///     sum of log(N/cf)                   sum ln(N / cf); below 0 for a term with cf > N
///     sum of log(tf/length idf + 1)      sum ln(tf / length idf + 1)
///     sum of tf idf                      sum tf idf
///     sum of log(tf/length N/cf + 1)     sum ln(tf / length N / cf + 1)
///     BM25                               sum qf ln(1 + (N - df + 1/2) / (df + 1/2)) tf (k1 + 1)
///                                          / (tf + k1 (1 - b + b length / mean length))
///     log(BM25 + 1)                      ln(BM25 + 1)
///     LMIR.DIR, LMIR.JM, LMIR.ABS        sum qf ln p(t | document) over the terms of the query
///                                          with cf > 0, whether the document has them or not
///     tf-idf cosine                      the cosine of the vectors qf idf and tf idf, 0 where one
///                                          of them is 0
///     covered query terms                number of query terms in the field
///     covered query term ratio           their share of the distinct query terms; 0 if none
///     length                             sum of tf over all terms of the document
///
/// each "... of FIELD", field after field; then, of the pair, "query length" (sum qf) and "distinct
/// query terms". Several threads may call the const functions at once.
class pair_features {
 public:
  /// Takes the fields of the same documents. The last one must be named as the whole document; its
  /// counts are not compared with the sums of the other fields. Throws `usage_error` for fields
  /// that `knn::check(sparse_rows)` rejects, that differ in their number of documents, or that have
  /// a duplicate or empty name; for counts that are not integers from 1 to 2^32; and for options
  /// out of range.
  pair_features(context const& ctx, std::vector<knn::field_counts> fields,
                pair_features_options const& options = {});

  /// Returns the names of the features, in order.
  std::vector<std::string> names() const;
  /// Returns their units: `terms` for a count of terms, otherwise empty.
  std::vector<std::string> units() const;
  /// The number of features.
  std::size_t size() const noexcept;
  /// The number of documents.
  std::size_t documents() const noexcept { return fields_.back().length.size(); }

  /// Computes the features of a query's counts with each of `documents` into `out`
  /// [documents][features]. The query may contain terms that no document contains. Throws
  /// `usage_error` for a query whose terms do not ascend or whose counts are invalid, for
  /// nonexistent documents, and for an `out` of another size.
  void of(context const& ctx, knn::sparse_row const& query,
          std::span<std::uint32_t const> documents, std::span<double> out) const;

  /// Does this for many queries: query q with documents[begin[q]] to documents[begin[q + 1]].
  /// `begin` is [queries + 1], from 0 to the number of documents; `out` [documents][features].
  void of(context const& ctx, knn::sparse_rows const& queries, std::span<std::uint64_t const> begin,
          std::span<std::uint32_t const> documents, std::span<double> out) const;

 private:
  /// The statistics of a term in a field.
  struct term_facts {
    double idf = 0;        // ln(N / df)
    double bm25_idf = 0;   // ln(1 + (N - df + 1/2) / (df + 1/2))
    double rarity = 0;     // N / cf
    double frequency = 0;  // cf / sum of all counts
    bool known = false;    // df > 0; otherwise the other members are 0
  };
  struct field {
    std::string name;
    knn::sparse_matrix counts;
    std::vector<term_facts> terms;  // [terms of this field]
    std::vector<double> length;     // [documents] sum of counts
    std::vector<double> norm;       // [documents] norm of tf idf
    double mean_length = 0;
  };
  struct query_term {
    std::uint32_t term;
    double qf;
    term_facts facts;
  };
  /// The terms of a query that occur in a field.
  struct query_in_field {
    std::vector<query_term> terms;
    double norm = 0;  // norm of qf idf
  };

  static field prepared(context const& ctx, knn::field_counts&& counts);
  static void look_up(field const& in, knn::sparse_row const& query, query_in_field& found);
  void of_field(field const& in, query_in_field const& query, std::size_t query_terms,
                std::uint32_t document, double* out) const;

  std::vector<field> fields_;
  pair_features_options options_;
};

}  // namespace rulerank::features
