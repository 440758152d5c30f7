#pragma once

#include "apps/shared/arguments/fusion_arguments.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/search.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Candidates of topics: by their words, by vectors of documents and topics, or by both.
namespace rulerank::inline v0::apps {

/// A document that was found for a topic; the larger score is the nearer one.
struct found_document {
  std::uint32_t document = 0;
  double score = 0;
};
/// Of each topic, the nearest first.
using found_lists = std::vector<std::vector<found_document>>;

/// What a search found, distances with a minus.
found_lists lists_of(knn::neighbours const& found);

/// --vectors --topic-vectors --candidates-from --dense-metric --fusion --fusion-norm --rrf-k
/// --run-weights.
struct dense_arguments {
  std::string vectors;
  std::string topic_vectors;
  std::string from;  ///< empty: both where there are vectors, else text
  std::string metric = "cosine";
  fusion_arguments fusion;

  void add_to(CLI::App& verb);
  /// Throws `usage_error` for options that go without each other.
  void check(CLI::App const& verb) const;
  bool given() const { return !vectors.empty(); }
  bool by_text() const { return from != "dense"; }
  bool by_vectors() const { return given() && from != "text"; }
  std::vector<session::named_input> inputs() const;
  /// The name of the similarity as a feature; of a distance with a minus, so that larger is nearer.
  std::string feature() const;
};

/// Vectors of the documents and the topics, in their orders.
class dense_candidates {
 public:
  /// Reads them. Throws `error` for vectors that are not one a topic or not of the same dimensions.
  dense_candidates(session& owner, dense_arguments const& arguments, std::size_t topics);

  /// What one CPU thread takes for a search of all topics (device_rule.hpp).
  double search_seconds() const;
  /// Makes them ready to be searched. Throws `error` for vectors that are not one a document.
  void prepare(session& owner, std::size_t documents, std::string const& collection);
  /// The k nearest documents of each topic, none of a topic whose vector is 0 but under l2.
  found_lists search(session& owner, std::size_t k) const;
  /// How near topic q is to documents[begin[q]] to documents[begin[q + 1]], each once: as
  /// `found_document::score`.
  std::vector<double> similarities(context const& ctx, std::span<std::uint64_t const> begin,
                                   std::span<std::uint32_t const> documents) const;

 private:
  knn::similarity metric_;
  datasets::vectors documents_, topics_;
  std::optional<knn::dense_index> index_;
};

}  // namespace rulerank::apps
