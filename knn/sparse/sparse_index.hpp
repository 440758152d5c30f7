#pragma once

#include "core/context.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// The largest magnitude of a weight, such that squares, products and their sums remain finite
/// doubles.
inline constexpr double largest_weight = 1e150;

/// A row of a sparse matrix: terms in ascending order, and their weights.
struct sparse_row {
  std::span<std::uint32_t const> term;
  std::span<double const> weight;
  std::size_t size() const noexcept { return term.size(); }
};

/// A view of rows, which a sparse_matrix or the memory of an index file owns.
struct sparse_rows {
  std::span<std::uint64_t const> begin{};  ///< [rows + 1] into `term` and `weight`
  std::span<std::uint32_t const> term{};   ///< ascending within a row, below `terms`
  std::span<double const> weight{};        ///< magnitude of at most `largest_weight`
  std::uint32_t terms = 0;                 ///< columns

  std::size_t size() const noexcept { return begin.empty() ? 0 : begin.size() - 1; }
  /// Returns rows [first, first + count).
  sparse_rows slice(std::size_t first, std::size_t count) const {
    return {begin.subspan(first, count + 1), term, weight, terms};
  }
  sparse_row operator[](std::size_t r) const {
    std::size_t const n = begin[r + 1] - begin[r];
    return {term.subspan(begin[r], n), weight.subspan(begin[r], n)};
  }
};

/// Documents or queries as rows of term weights.
struct sparse_matrix {
  std::vector<std::uint64_t> begin{0};  ///< [rows + 1]
  std::vector<std::uint32_t> term;
  std::vector<double> weight;
  std::uint32_t terms = 0;

  std::size_t size() const noexcept { return begin.size() - 1; }
  /// Appends a row with ascending terms.
  void push_row(std::span<std::uint32_t const> of, std::span<double const> weights) {
    term.insert(term.end(), of.begin(), of.end());
    weight.insert(weight.end(), weights.begin(), weights.end());
    begin.push_back(term.size());
    if (!of.empty() && of.back() >= terms) terms = of.back() + 1;
  }
  operator sparse_rows() const { return {begin, term, weight, terms}; }
};

/// Describes the fault of a row, or returns an empty text: terms that do not ascend, a term that is
/// not below `terms`, a weight that is not finite or exceeds `largest_weight`.
std::string fault_of(sparse_row const& row, std::uint32_t terms);

/// Throws `usage_error` naming the first row with a fault. `what` is named in the message:
/// documents, queries.
void check(sparse_rows const& rows, std::string_view what);

/// A posting list: the documents with a term, ascending, and the term's weights there.
struct posting_list {
  std::span<std::uint32_t const> document;
  std::span<double const> weight;
  std::size_t size() const noexcept { return document.size(); }
};

/// The arrays of an index.
struct sparse_index_parts {
  sparse_rows documents;
  std::span<double const> norms;              ///< [documents]
  std::span<std::uint64_t const> list_begin;  ///< [terms + 1] into the next two
  std::span<std::uint32_t const> list_document;
  std::span<double const> list_weight;
  /// For a part of the documents: bit t % 64 of word t / 64 says whether a document of any part has
  /// term t. Empty: the index has all documents.
  std::span<std::uint64_t const> terms_of_all{};
};

/// Documents as rows and as posting lists (Freitas 2017, Algorithm 7). Documents are numbered in
/// their given order; at most 2^32 - 2. Several threads may call all const functions at once.
class sparse_index {
 public:
  /// Throws `usage_error` as `check(sparse_rows)`.
  sparse_index(context const& ctx, sparse_matrix documents);
  /// Uses existing parts, which must be consistent. `owner` keeps their memory alive, such as that
  /// of an index file.
  sparse_index(sparse_index_parts const& parts, std::shared_ptr<void const> owner);

  std::size_t size() const noexcept { return parts_.documents.size(); }
  std::uint32_t terms() const noexcept { return parts_.documents.terms; }
  std::size_t postings() const noexcept { return parts_.documents.term.size(); }
  sparse_rows documents() const noexcept { return parts_.documents; }
  /// The norms of the documents: square roots of the sums of squared weights, added in term order.
  std::span<double const> norms() const noexcept { return parts_.norms; }
  /// Returns whether a document of any part has the term.
  bool is_known(std::uint32_t term) const {
    if (parts_.terms_of_all.empty()) return parts_.list_begin[term] < parts_.list_begin[term + 1];
    return (parts_.terms_of_all[term / 64] >> (term % 64) & 1) != 0;
  }
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
