#pragma once

#include "core/host_device.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/similarity_math.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

// What the published engines for GPUs compute with: weights, sums and norms are floats.
namespace rulerank::knn {

struct term_weight {
  std::uint32_t term;
  float weight;
};

/// What Freitas 2017, Algorithm 7 begins with: a term in a document, with its weight.
struct term_document {
  std::uint32_t term;
  std::uint32_t document;
  float weight;
};

/// A document and what orders it in one integer: the nearer the smaller, equal scores in id order.
using near_key = std::uint64_t;
/// Behind every document.
inline constexpr near_key no_document = ~near_key{0};

RULERANK_HOST_DEVICE inline near_key near_key_of(float score, std::uint32_t document) {
  score += 0.0F;  // -0 is 0
  std::uint32_t bits = 0;
  memcpy(&bits, &score, sizeof bits);
  std::uint32_t const ascending = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return near_key{~ascending} << 32 | document;
}
RULERANK_HOST_DEVICE inline std::uint32_t document_of(near_key key) {
  return static_cast<std::uint32_t>(key);
}
RULERANK_HOST_DEVICE inline float score_of(near_key key) {
  std::uint32_t const ascending = ~static_cast<std::uint32_t>(key >> 32);
  std::uint32_t const bits = (ascending >> 31) != 0 ? ascending & 0x7FFFFFFFU : ~ascending;
  float score = 0;
  memcpy(&score, &bits, sizeof score);
  return score;
}

/// What orders a document, larger first, of the sum of products of weights and the norms.
RULERANK_HOST_DEVICE inline float similarity_of(similarity metric, float product, float query_norm,
                                                float document_norm) {
  return metric == similarity::inner_product
             ? product
             : cosine_of(product, query_norm, document_norm, metric == similarity::normalized_l2);
}

/// Throws `usage_error` where a norm is neither 0 nor within 1e-15..1e15: squares and products
/// would leave the range of floats. `what` stands in the message: documents, queries.
void check_single_precision(std::span<double const> norms, std::string_view what);

/// Every term of every document, by document and term.
std::vector<term_document> term_documents(context const& ctx, sparse_index const& index);

/// Every term of every document without the document.
std::vector<term_weight> term_weights(context const& ctx, sparse_index const& index);

}  // namespace rulerank::knn
