#pragma once

#include "core/context.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

// One shape for exact search in every collection: dense rows, sparse rows, texts, and objects of a
// metric space. `make_searcher` of each module makes a searcher.
namespace rulerank::inline v0::knn {

/// A search: the k nearest items of a query or, with a radius, all items within it.
struct search_request {
  std::size_t k = 30;
  std::optional<double> radius{};
};

/// The results of one query.
struct query_result {
  std::size_t query = 0;
  value_order order = value_order::larger_is_nearer;
  std::span<std::uint32_t const> items;  ///< nearest first, equally near ones by rising number
  std::span<double const> values;        ///< one per item
};

/// A collection and the queries to search for, both identified by number. The collection is in one
/// or several parts. The results depend neither on the parts nor on threads, devices and batches.
///
/// Functions search on the threads and devices of the context and soon throw `interrupted` after
/// its stop token requests it. If the context has processes, functions are collective: processes
/// with the same items divide the queries, and processes with other parts of a collection search
/// for every query. All of them get all results, and all must have the same queries and give
/// `keep_only` the same bits. Without processes, several threads may call const functions of a
/// searcher at once, unless it was made with a `work` pointer.
class searcher {
 public:
  virtual ~searcher() = default;

  /// The number of items in all parts, on all processes.
  virtual std::size_t size() const noexcept = 0;
  virtual std::size_t queries() const noexcept = 0;
  /// Returns the id of an item, or nothing if only another process knows it.
  virtual std::optional<std::string> id_of(std::uint32_t item) const = 0;

  /// Restricts all later searches to some items, as if the collection had no others. Bit i % 64 of
  /// word i / 64 is item i; (size() + 63) / 64 words. Throws `usage_error` for another number of
  /// words.
  virtual void keep_only(std::span<std::uint64_t const> bits) = 0;
  /// Restricts all later searches to the listed items. Throws `usage_error` for a number that is
  /// no item's.
  void keep_only_items(std::span<std::uint32_t const> items);

  /// Returns the k nearest items of each query, filled with `no_neighbour` if there are fewer. Has
  /// entries for k items, or for all if the collection has fewer. Throws `usage_error` for a k of
  /// 0, and what the search of the module throws.
  virtual neighbours nearest(context const& ctx, std::size_t k) const = 0;
  /// Returns the items within a distance or, if the larger value is nearer, with at least a
  /// similarity. Throws `usage_error` for a radius that is NaN.
  virtual rows_in_range within(context const& ctx, double radius) const = 0;

  using take_fn = std::function<void(query_result const& found)>;
  /// Searches in batches and passes the results to `take`, query by query, in order. Keeps the
  /// results of one batch in memory: about `most_results`, or those of a single query. A search
  /// that finds more and more neighbours, for a filter or a radius, holds up to 2^25 of them, or
  /// all items of a single query. The size of the first batch of a search within a radius is fixed,
  /// because the number of results is unknown.
  virtual void search(context const& ctx, search_request const& request, take_fn const& take,
                      std::size_t most_results = std::size_t{1} << 22) const = 0;
};

}  // namespace rulerank::knn
