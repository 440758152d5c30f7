#pragma once

#include "core/aligned.hpp"
#include "core/engine_registry.hpp"
#include "datasets/vectors.hpp"
#include "knn/candidate.hpp"
#include "knn/dense/search.hpp"
#include "knn/part_neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerank::inline v0::knn {

/// The types that rows may have.
inline bool is_searchable(datasets::element type) {
  using enum datasets::element;
  return type == float32 || type == float16 || type == bfloat16 || type == int8 || type == uint8;
}
/// Their names, for messages.
inline constexpr std::string_view searchable_types = "f32, f16, bf16, i8 or u8";

/// A row and what orders it, the smaller the nearer whatever the metric: the sum of squares under
/// l2, else the value with its sign turned.
using dense_candidate = candidate<double>;
using nearer_row = nearer<value_order::smaller_is_nearer>;

/// The rows of an index: those it was made of, in memory that it shares, and behind them copies of
/// those that were added.
class dense_rows {
 public:
  explicit dense_rows(datasets::vectors first) : first_(std::move(first)) {}

  std::size_t size() const { return first_.size() + added_; }
  std::size_t dimensions() const { return first_.dimensions(); }
  datasets::element type() const { return first_.type(); }
  std::size_t row_bytes() const { return first_.row_bytes(); }
  std::byte const* row(std::size_t i) const {
    return i < first_.size() ? first_.data() + i * row_bytes()
                             : copies_.data() + (i - first_.size()) * row_bytes();
  }
  /// How many rows follow each other in memory from row i on.
  std::size_t together(std::size_t i) const {
    return i < first_.size() ? first_.size() - i : size() - i;
  }
  /// Before the first row: what rows are.
  void become(datasets::element type, std::size_t dimensions) {
    first_ = datasets::vectors(type, nullptr, 0, dimensions);
  }
  /// Of the type and dimensions of the others.
  void add(datasets::vectors const& rows) {
    copies_.insert(copies_.end(), rows.data(), rows.data() + rows.bytes());
    added_ += rows.size();
  }
  void remove_last(std::size_t count) {
    added_ -= count;
    copies_.resize(added_ * row_bytes());
  }
  datasets::vectors const& first() const { return first_; }

 private:
  datasets::vectors first_;
  aligned_vector<std::byte> copies_;
  std::size_t added_ = 0;
};

/// Candidates that a thread at least copies or merges: fewer are done before another has begun.
inline constexpr std::size_t candidates_a_thread = std::size_t{1} << 15;

/// What a search is for.
struct dense_request {
  std::span<float const> queries;  ///< [count][dimensions]; exactly the numbers that were given
  std::size_t count = 0;
  std::size_t k = 0;  ///< at most the number of rows; 0: all rows that order at most by `farthest`
  double farthest = 0;
  dense_filter filter;
};

/// Throws `usage_error` for a filter of another size than that of so many rows and queries.
void expect_filter(dense_filter const& filter, std::size_t rows, std::size_t queries);

/// What a search for the k nearest rows hands on of query q: keys and rows by rank, nearest first,
/// which end with the call. Called from several threads at once, once for each query that has rows.
using take_nearest_rows = std::function<void(std::size_t q, std::span<double const> keys,
                                             std::span<std::uint32_t const> rows)>;

/// One way to search. Several threads may call `search` and `search_nearest` at once.
class dense_search_engine {
 public:
  virtual ~dense_search_engine() = default;
  /// The rows from `first` on are new, and finite. After an exception it is as with the rows before
  /// them.
  virtual void added(context const& ctx, std::size_t first) = 0;
  /// found[q]: of each query its k nearest rows that the filters leave, or all that the request
  /// asks for, nearest first.
  virtual void search(context const& ctx, dense_request const& request,
                      std::span<std::vector<dense_candidate>> found,
                      dense_search_work& work) const = 0;
  /// What `search` finds of a request with a k, handed on query by query. As it is here, from the
  /// lists of all.
  virtual void search_nearest(context const& ctx, dense_request const& request,
                              take_nearest_rows const& take, dense_search_work& work) const;
};

/// Searches of an index for the library alone.
struct dense_index_access {
  /// `search`, with its errors, which hands on what it finds in place of an array of all of it.
  static void search_nearest(dense_index const& index, context const& ctx,
                             datasets::vectors const& queries, std::size_t k,
                             take_nearest_rows const& take, dense_search_work& work);
  /// `search` of an index whose rows are a part of more, with the keys that order them: under l2
  /// the sum before the root, as different sums may have equal roots.
  static part_neighbours search_part(dense_index const& index, context const& ctx,
                                     datasets::vectors const& queries, std::size_t k,
                                     dense_filter const& filter = {},
                                     dense_search_work* work = nullptr);
  /// Likewise `search_range`.
  static part_rows_in_range search_range_part(dense_index const& index, context const& ctx,
                                              datasets::vectors const& queries, double radius,
                                              dense_filter const& filter = {},
                                              dense_search_work* work = nullptr);
};

/// How an engine is made, and what a collection asks of it.
struct dense_engine_maker {
  /// Makes an engine for rows, to which the engine keeps a reference.
  std::unique_ptr<dense_search_engine> (*make)(context const& ctx, dense_rows const& rows,
                                               dense_index_options const& options);
  /// Whether it gives the defined values and order: parts are merged by them.
  bool gives_definition = false;
  /// Whether processes share the queries out evenly, as published, and are not dealt them.
  bool has_even_shares = false;
};
/// All engines of the module.
engine_registry<dense_engine, dense_engine_maker>& registered_dense_engines();

std::unique_ptr<dense_search_engine> make_flat_on_cpu(context const& ctx, dense_rows const& rows,
                                                      dense_index_options const& options);

/// What tests of `flat` on GPUs set; 0: as the engine chooses.
struct flat_gpu_limits {
  std::size_t device_bytes = 0;      ///< of each GPU, at most
  std::size_t replicated_bytes = 0;  ///< rows of no more bytes are not split over more devices
  std::size_t capacity = 0;          ///< rows that a query may hand on
  double bound_scale = 1;            ///< of the bounds: below 1 they hold no more
};
/// On the GPUs of the context; in builds with CUDA.
std::unique_ptr<dense_search_engine> make_flat_on_gpus(context const& ctx, dense_rows const& rows,
                                                       dense_index_options const& options,
                                                       flat_gpu_limits const& limits = {});

}  // namespace rulerank::knn
