#pragma once

#include "core/context.hpp"
#include "knn/sparse/sparse_matrix.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rulerank::knn {

/// A posting list: the documents that have a term, ascending, and the term's weights there.
struct posting_list {
  std::span<std::uint32_t const> document;
  std::span<double const> weight;
  std::size_t size() const noexcept { return document.size(); }
};

/// What an index is made of.
struct sparse_index_parts {
  sparse_rows documents;
  std::span<double const> norms;              ///< [documents]
  std::span<std::uint64_t const> list_begin;  ///< [terms + 1] into the two below
  std::span<std::uint32_t const> list_document;
  std::span<double const> list_weight;
};

/// Documents as rows, and as posting lists (Freitas 2017, Algorithm 7). Documents are numbered as
/// they come; at most 2^32 - 2. Several threads may call all const functions at once.
class sparse_index {
 public:
  /// Throws `usage_error` as `check(sparse_rows)` does.
  sparse_index(context const& ctx, sparse_matrix documents);
  /// Of parts that fit together, kept alive by `owner`: a mapped file.
  sparse_index(sparse_index_parts const& parts, std::shared_ptr<void const> owner);

  std::size_t size() const noexcept { return parts_.documents.size(); }
  std::uint32_t terms() const noexcept { return parts_.documents.terms; }
  std::size_t postings() const noexcept { return parts_.documents.term.size(); }
  sparse_rows documents() const noexcept { return parts_.documents; }
  /// Square roots of the sums of squared weights, added in the order of the terms.
  std::span<double const> norms() const noexcept { return parts_.norms; }
  posting_list list(std::uint32_t term) const {
    std::size_t const begin = parts_.list_begin[term];
    std::size_t const n = parts_.list_begin[term + 1] - begin;
    return {parts_.list_document.subspan(begin, n), parts_.list_weight.subspan(begin, n)};
  }

 private:
  std::shared_ptr<void const> owner_;
  sparse_index_parts parts_;
};

}  // namespace rulerank::knn
