#pragma once
// Indexes in parts, which MPI ranks write: one process opens all parts and finds what one index of
// the whole collection finds, bit for bit. For Python; the program uses the collections behind
// these classes (knn/searched_collection.hpp).

#include "core/context.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/search.hpp"
#include "knn/neighbours.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

// Threads: functions may be called from any number of threads at once; searches of one object wait
// for each other.
namespace rulerank::inline v0::knn {

/// The parts of a dense index.
class dense_parts {
 public:
  /// Opens the parts that the file at `path` names; nothing where the file names no parts. Throws
  /// `error` for a list or a part that is damaged, missing, or of another kind, and `usage_error`
  /// for an engine that does not give the defined values.
  static std::optional<dense_parts> open(context const& ctx, std::string const& path,
                                         dense_engine engine = dense_engine::automatic);

  /// Rows of all parts.
  std::size_t size() const noexcept;
  std::size_t dimensions() const noexcept;
  similarity metric() const noexcept;

  /// As `dense_index::search`. `filter`: of all rows, as `dense_filter::rows`.
  neighbours search(context const& ctx, datasets::vectors const& queries, std::size_t k,
                    std::span<std::uint64_t const> filter = {}) const;
  /// As `dense_index::search_range`.
  rows_in_range search_range(context const& ctx, datasets::vectors const& queries, double radius,
                             std::span<std::uint64_t const> filter = {}) const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// The parts of a metric index of vectors or words.
class metric_parts {
 public:
  /// As `dense_parts::open`.
  static std::optional<metric_parts> open(context const& ctx, std::string const& path);

  /// Objects of all parts.
  std::size_t size() const noexcept;
  /// Those of the first part, of which the others have the same type: one of the two is null.
  std::shared_ptr<vector_space const> first_vectors() const;
  std::shared_ptr<word_space const> first_words() const;
  /// That the first part was made with.
  metric_index_options const& options() const;

  using queries = std::variant<datasets::vectors, std::vector<std::string>>;
  /// As `metric_index::search`, of queries that are vectors or words, as the objects are.
  neighbours search(context const& ctx, queries some, std::size_t k) const;
  /// As `metric_index::search_range`.
  rows_in_range search_range(context const& ctx, queries some, double radius) const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// The parts of a text index.
class text_parts {
 public:
  /// As `dense_parts::open`.
  static std::optional<text_parts> open(context const& ctx, std::string const& path);

  /// Documents of all parts.
  std::size_t size() const noexcept;
  /// Terms of all parts: each part has the terms of the whole collection.
  std::size_t terms() const noexcept;
  /// As `text_index::options`.
  text_index_options const& options() const;
  /// The documents' ids, by their numbers.
  std::vector<std::string> ids() const;

  /// As `sparse_searcher::search`, by an engine that sums in double precision. The parts are made
  /// ready by the first search, and again where options or the context's devices differ from those
  /// of the search before. Throws `usage_error` for another engine, too.
  neighbours search(context const& ctx, std::span<datasets::text_document const> queries,
                    std::size_t k, sparse_search_options const& options,
                    sparse_result_options const& results = {}) const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace rulerank::knn
