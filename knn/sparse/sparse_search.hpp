#pragma once

#include "knn/searched_collection.hpp"
#include "knn/sparse/search.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// Whether an engine can search an index in parts: only engines with exactly the defined values.
bool searches_parts(sparse_engine engine);
/// The names of these engines, for messages: "tiles or mt".
std::string engines_of_parts();
/// Throws `usage_error` for an engine that does not search parts.
void expect_parts_engine(sparse_engine engine);

/// The searchers of a collection, one per part.
using sparse_searchers = std::vector<std::shared_ptr<sparse_searcher const>>;

/// A search among rows of term weights: sparse rows, or texts. The collection must outlive it.
class sparse_search : public searched_collection {
 public:
  /// Returns the weights of some of the queries. Several threads may call it at once.
  using weights_fn = std::function<sparse_matrix(context const& ctx, index_range queries)>;
  struct query_weights {
    std::size_t queries = 0;
    weights_fn of;
    bool may_be_negative = true;  ///< the weights of queries or items
  };
  static query_weights weights_of(sparse_matrix queries);

  sparse_search(item_collection const& items, sparse_searchers searchers, query_weights weights,
                sparse_result_options const& results = {});

  std::size_t queries() const noexcept override { return weights_.queries; }
  std::optional<std::string> id_of(std::uint32_t item) const override {
    return collection_.id_of(item);
  }
  bool has_ids_in_parts() const override { return collection_.has_ids_in_parts(); }
  batch_limits limits(context const& ctx) const override;

 private:
  neighbours nearest_of_whole(context const& ctx, index_range queries,
                              std::size_t k) const override;
  std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                std::size_t k) const override;
  /// Items that do not match are excluded from the k nearest. They come after all matches, except
  /// with distances or negative weights.
  bool has_no_more(value_order order) const override;
  /// Finds the k nearest in the filter, then excludes those that do not match.
  neighbours nearest_in_filter(context const& ctx, index_range queries,
                               std::size_t k) const override;

  item_collection const& collection_;
  sparse_searchers searchers_;
  query_weights weights_;
  sparse_result_options results_;
};

}  // namespace rulerank::knn
