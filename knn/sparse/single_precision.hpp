#pragma once

#include "core/host_device.hpp"
#include "knn/near_key.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/similarity_math.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

// The single-precision arithmetic of the published engines for GPUs: weights, sums and norms are
// floats.
namespace rulerank::inline v0::knn {

struct term_weight {
  std::uint32_t term;
  float weight;
};

/// The input of Freitas 2017, Algorithm 7: a term in a document, with its weight.
struct term_document {
  std::uint32_t term;
  std::uint32_t document;
  float weight;
};

/// Returns the value that orders a document, larger is nearer, from the sum of products of weights
/// and the norms.
RULERANK_HOST_DEVICE inline float similarity_of(similarity metric, float product, float query_norm,
                                                float document_norm) {
  return metric == similarity::inner_product
             ? product
             : cosine_of(product, query_norm, document_norm, metric == similarity::normalized_l2);
}

/// Throws `usage_error` if a norm is neither 0 nor within 1e-15..1e15, because squares and products
/// would exceed the range of floats. `what` is named in the message: documents, queries.
void check_single_precision(std::span<double const> norms, std::string_view what);

/// Lists every term of every document, ordered by document and term.
std::vector<term_document> term_documents(context const& ctx, sparse_index const& index);

/// Lists the same terms and weights without the documents.
std::vector<term_weight> term_weights(context const& ctx, sparse_index const& index);

}  // namespace rulerank::knn
