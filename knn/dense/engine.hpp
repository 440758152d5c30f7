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

/// Returns whether rows may have this type.
inline bool is_searchable(datasets::element type) {
  using enum datasets::element;
  return type == float32 || type == float16 || type == bfloat16 || type == int8 || type == uint8;
}
/// The names of these types, for messages.
inline constexpr std::string_view searchable_types = "f32, f16, bf16, i8 or u8";

/// A row and its key, the smaller the nearer under every metric: the sum of squares under l2,
/// otherwise the negative value.
using dense_candidate = candidate<double>;
using nearer_row = nearer<value_order::smaller_is_nearer>;

/// The rows of an index: the original rows in shared memory, then copies of the added rows.
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
  /// Returns how many rows from row i on are contiguous in memory.
  std::size_t together(std::size_t i) const {
    return i < first_.size() ? first_.size() - i : size() - i;
  }
  /// Sets the type and dimensions before the first row is added.
  void become(datasets::element type, std::size_t dimensions) {
    first_ = datasets::vectors(type, nullptr, 0, dimensions);
  }
  /// Appends copies of rows of the same type and dimensions.
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

/// Fewest candidates that a thread copies or merges; for fewer, starting another thread takes
/// longer.
inline constexpr std::size_t candidates_a_thread = std::size_t{1} << 15;

/// The arguments of a search.
struct dense_request {
  std::span<float const> queries;  ///< [count][dimensions]; exactly the given numbers
  std::size_t count = 0;
  std::size_t k = 0;  ///< at most the number of rows; 0: all rows with a key of at most `farthest`
  double farthest = 0;
  dense_filter filter;
};

/// Receives the k nearest rows of query q: keys and rows, nearest first, valid during the call.
/// Called from several threads at once, once for each query that has rows.
using take_nearest_rows = std::function<void(std::size_t q, std::span<double const> keys,
                                             std::span<std::uint32_t const> rows)>;

/// A search engine. Several threads may call `search` and `search_nearest` at once.
class dense_search_engine {
 public:
  virtual ~dense_search_engine() = default;
  /// Indexes the rows from `first` on, which are new and finite. After an exception, the engine has
  /// the previous rows.
  virtual void added(context const& ctx, std::size_t first) = 0;
  /// Sets found[q] to the k nearest rows of query q that the filters allow, or to all that the
  /// request asks for, nearest first.
  virtual void search(context const& ctx, dense_request const& request,
                      std::span<std::vector<dense_candidate>> found,
                      dense_search_work& work) const = 0;
  /// Passes the results of a request with k > 0 query by query. The default takes them from the
  /// lists of `search`.
  virtual void search_nearest(context const& ctx, dense_request const& request,
                              take_nearest_rows const& take, dense_search_work& work) const;
};

/// Searches of an index for the library's own use.
struct dense_index_access {
  /// Searches as `dense_index::search`, with its errors, and passes the results to `take` instead
  /// of returning one array.
  static void search_nearest(dense_index const& index, context const& ctx,
                             datasets::vectors const& queries, std::size_t k,
                             take_nearest_rows const& take, dense_search_work& work);
  /// Searches an index whose rows are a part of a collection, and returns the keys that order them:
  /// under l2 the sum before the root, because different sums may have equal roots.
  static part_neighbours search_part(dense_index const& index, context const& ctx,
                                     datasets::vectors const& queries, std::size_t k,
                                     dense_filter const& filter = {},
                                     dense_search_work* work = nullptr);
  /// The counterpart for `search_range`.
  static part_rows_in_range search_range_part(dense_index const& index, context const& ctx,
                                              datasets::vectors const& queries, double radius,
                                              dense_filter const& filter = {},
                                              dense_search_work* work = nullptr);
};

/// How to make an engine, and the properties that a collection needs.
struct dense_engine_maker {
  /// Makes an engine for rows, which must outlive the engine.
  std::unique_ptr<dense_search_engine> (*make)(context const& ctx, dense_rows const& rows,
                                               dense_index_options const& options);
  /// Whether the engine returns exactly the defined values and order; only such results of parts
  /// can be merged.
  bool gives_definition = false;
  /// Whether processes divide the queries evenly, as published, instead of on request.
  bool has_even_shares = false;
};
/// The registry of the module's engines.
engine_registry<dense_engine, dense_engine_maker>& registered_dense_engines();

std::unique_ptr<dense_search_engine> make_flat_on_cpu(context const& ctx, dense_rows const& rows,
                                                      dense_index_options const& options);

/// Limits that tests of `flat` on GPUs set; 0: the engine chooses.
struct flat_gpu_limits {
  std::size_t device_bytes = 0;  ///< most bytes of each GPU
  /// Rows of at most so many bytes are not split over more devices.
  std::size_t replicated_bytes = 0;
  std::size_t capacity = 0;  ///< most candidates of a query
  double bound_scale = 1;    ///< factor on the error bounds; invalid below 1
};
/// Makes `flat` for the context's GPUs, in builds with CUDA.
std::unique_ptr<dense_search_engine> make_flat_on_gpus(context const& ctx, dense_rows const& rows,
                                                       dense_index_options const& options,
                                                       flat_gpu_limits const& limits = {});

}  // namespace rulerank::knn
