#pragma once

#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::datasets {

/// How the order of documents within their queries goes with their labels.
struct label_order {
  double tau = 0;           ///< mean over the queries of Kendall's tau-b of position and label
  double z = 0;             ///< of the sum over the queries of Kendall's S, if orders were random
  std::size_t queries = 0;  ///< with documents of two labels; others count for nothing

  /// Whether the order is not random, and by enough to change results: |z| of 4 or more, which one
  /// random order in 16,000 reaches, and |tau| of .05 or more.
  bool predicts_labels() const noexcept;
};

/// Query q has the documents from query_begin[q] up to query_begin[q + 1]. Documents without a
/// label are passed over. May be called from several threads at once. The variance of S is that of
/// Kendall 1970, Rank Correlation Methods, section 5.3, with ties among labels.
label_order order_of_labels(std::span<std::int32_t const> labels,
                            std::span<std::size_t const> query_begin);

/// The first document of each query, and the number of documents.
std::vector<std::size_t> query_begin(dataset const& data);

/// "the order of documents within queries predicts their labels: mean Kendall's tau-b of position
/// and label -.141, z -14.7 over 62 queries".
std::string describe(label_order const& found);

}  // namespace rulerank::datasets
