#pragma once

#include <algorithm>

// Formulas for one term of a query in one document.
namespace rulerank::inline v0::features {

/// Returns the length-dependent term of BM25's denominator, k1 (1 - b + b length / mean length),
/// for `relative_length` = length / mean length.
inline double bm25_saturation(double k1, double b, double relative_length) {
  return k1 * (1 - b + b * relative_length);
}

/// Returns a term's share of BM25, with the weights of `weighting::bm25` (Robertson and Zaragoza
/// 2009, The probabilistic relevance framework: BM25 and beyond).
inline double bm25_of(double idf, double tf, double k1, double saturation) {
  return idf * (tf * (k1 + 1)) / (tf + saturation);
}

// The smoothed language models of Zhai and Lafferty 2001, A study of smoothing methods for language
// models applied to ad hoc information retrieval: the probability of a term in a document, above 0
// for a `frequency` = cf / sum of all counts above 0.

/// Dirichlet prior: (tf + mu frequency) / (length + mu).
inline double dirichlet(double tf, double length, double frequency, double mu) {
  return (tf + mu * frequency) / (length + mu);
}

/// Jelinek-Mercer: (1 - lambda) tf / length + lambda frequency. `lambda` is the weight of the
/// collection. An empty document has lambda frequency, like any document without the term.
inline double jelinek_mercer(double tf, double length, double frequency, double lambda) {
  double const of_document = length > 0 ? tf / length : 0;
  return (1 - lambda) * of_document + lambda * frequency;
}

/// Absolute discounting: (max(tf - delta, 0) + delta distinct frequency) / length; `distinct` is
/// the number of distinct terms of the document. An empty document has delta frequency, like a
/// document in which all terms are distinct.
inline double absolute_discounting(double tf, double length, double distinct, double frequency,
                                   double delta) {
  if (length <= 0) return delta * frequency;
  return (std::max(tf - delta, 0.0) + delta * distinct * frequency) / length;
}

}  // namespace rulerank::features
