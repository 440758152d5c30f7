#pragma once

#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::datasets {

/// How the order of documents within their queries correlates with their labels.
struct label_order {
  double tau = 0;           ///< mean over queries of Kendall's tau-b of position and label
  double z = 0;             ///< z-score of the sum of Kendall's S over queries, for random orders
  std::size_t queries = 0;  ///< queries with at least two labels; others are ignored

  /// Whether the order is not random, with an effect on results: |z| of at least 4, which one in
  /// 16,000 random orders reaches, and |tau| of at least 0.05.
  bool predicts_labels() const noexcept;
};

/// Query q has the documents from query_begin[q] to query_begin[q + 1]. Documents without a label
/// are ignored. Several threads may call it at once. The variance of S is that of Kendall 1970,
/// Rank Correlation Methods, section 5.3, with ties among labels.
label_order order_of_labels(std::span<std::int32_t const> labels,
                            std::span<std::size_t const> query_begin);

/// Returns the first document of each query, and the number of documents.
std::vector<std::size_t> query_begin(dataset const& data);

/// Returns a message: "the order of documents within queries predicts their labels: mean Kendall's
/// tau-b of position and label -.141, z -14.7 over 62 queries".
std::string describe(label_order const& found);

}  // namespace rulerank::datasets
