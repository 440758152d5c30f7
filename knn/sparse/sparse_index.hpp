#pragma once

#include "core/context.hpp"
#include "knn/sparse/sparse_matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::knn {

/// A posting list: the documents that have a term, ascending, and the term's weights there.
struct posting_list {
  std::span<std::uint32_t const> document;
  std::span<double const> weight;
  std::size_t size() const noexcept { return document.size(); }
};

/// Documents as rows, and as posting lists (Freitas 2017, Algorithm 7). Documents are numbered as
/// they come; at most 2^32 - 2.
class sparse_index {
 public:
  /// Throws `usage_error` as `check(sparse_rows)` does.
  sparse_index(context const& ctx, sparse_matrix documents);

  std::size_t size() const noexcept { return rows_.size(); }
  std::uint32_t terms() const noexcept { return rows_.terms; }
  std::size_t postings() const noexcept { return rows_.term.size(); }
  sparse_rows documents() const noexcept { return rows_; }
  /// Square roots of the sums of squared weights, added in the order of the terms.
  std::span<double const> norms() const noexcept { return norms_; }
  posting_list list(std::uint32_t term) const {
    std::size_t const begin = list_begin_[term];
    std::size_t const n = list_begin_[term + 1] - begin;
    return {{document_.data() + begin, n}, {weight_.data() + begin, n}};
  }
  std::span<std::uint64_t const> list_begin() const noexcept { return list_begin_; }
  /// Whether a weight is below 0.
  bool has_negative() const noexcept { return has_negative_; }

 private:
  sparse_matrix rows_;
  std::vector<double> norms_;
  std::vector<std::uint64_t> list_begin_;  // [terms + 1]
  std::vector<std::uint32_t> document_;    // [postings] by term
  std::vector<double> weight_;
  bool has_negative_ = false;
};

/// The norm of a row, see `sparse_index::norms`.
double norm_of(sparse_row const& row);

}  // namespace rulerank::knn
