#pragma once

#include "core/output_file.hpp"
#include "knn/searched_collection.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// The searchers of the parts of a text collection, one a part.
using text_searchers = std::vector<sparse_searcher>;

/// Documents of text, or rows of term weights: an index of all, or indexes of parts.
class text_collection final : public item_collection {
 public:
  /// Whether an engine searches an index in parts: only one that gives the defined values.
  static bool searches_parts(sparse_engine engine);
  /// The names of these engines, for messages: "tiles or mt".
  static std::string engines_of_parts();
  explicit text_collection(text_index whole);
  /// The index in a file, or all parts of one.
  static text_collection open(context const& ctx, std::string const& path);
  /// An index in parts: `is_split`: this process's share of the parts, else all of them. Throws
  /// `error`.
  static text_collection open_parts(context const& ctx, std::string const& path, bool is_split);
  /// This process's part of a collection, in memory.
  static text_collection build_part(context const& ctx, std::string const& collection,
                                    text_index_options const& options);
  /// The same in a file of its own beside `index`, which gets the list of parts.
  static text_collection build_part(context const& ctx, std::string const& collection,
                                    text_index_options const& options, std::string const& index);

  /// Writes the index to a file. Throws `usage_error` where this process has several parts.
  void save(context const& ctx, std::string const& path) const;

  /// Of the first part here, where there is one (`has_parts`).
  text_index const& first_index() const { return indexes_.front(); }
  /// Postings of all parts, on all processes.
  std::uint64_t postings() const noexcept { return postings_; }
  /// The labels of all documents by their numbers, empty for none. All processes call it together.
  std::vector<std::string> labels(context const& ctx) const;

  /// Makes the searcher of a part.
  using searcher_maker = std::function<sparse_searcher(context const&, sparse_index const&)>;
  /// Makes a searcher of each part by `make`. The collection outlives them.
  std::shared_ptr<text_searchers const> searchers(context const& ctx,
                                                  searcher_maker const& make) const;
  /// The same with these options on the context's devices: what the last call returned, or new ones
  /// where options or devices differ from those of the last call. Several threads may call it at
  /// once; while one of them makes searchers, the others wait. Throws as the constructor of
  /// `sparse_searcher` does, and `usage_error` for an engine that does not search parts.
  std::shared_ptr<text_searchers const> searchers(context const& ctx,
                                                  sparse_search_options const& options) const;

  std::optional<std::string> id_of(std::uint32_t document) const override;

 private:
  text_collection();
  void add(text_index index);
  friend class text_search;

  std::vector<text_index> indexes_;  // of the parts
  std::uint64_t postings_ = 0;
  struct kept_searchers;
  std::shared_ptr<kept_searchers> kept_;
};

/// A search for texts in a collection, which outlives it, as the queries do.
class text_search final : public searched_collection {
 public:
  /// `searchers`: of the collection. `name`: of the queries' file. Where they are searched for,
  /// `error` that names it is thrown for a query that tf-idf gives a weight beyond what the search
  /// takes. `results`: of their searches.
  text_search(text_collection const& documents, std::shared_ptr<text_searchers const> searchers,
              std::span<datasets::text_document const> queries, std::string name,
              sparse_result_options const& results = {});

  std::optional<std::string> id_of(std::uint32_t document) const override {
    return documents_.id_of(document);
  }
  batch_limits limits(context const& ctx) const override;

 private:
  neighbours nearest_of_whole(context const& ctx, index_range queries,
                              std::size_t k) const override;
  std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                std::size_t k) const override;
  /// Documents that do not match are left out of the k nearest. They come behind all matches, but
  /// by distance, or where weights are negative.
  bool has_no_more(value_order order) const override;
  /// Finds the k nearest in the filter, then leaves out those that do not match.
  neighbours nearest_in_filter(context const& ctx, index_range queries,
                               std::size_t k) const override;
  sparse_matrix weights_of(context const& ctx, index_range queries) const;

  text_collection const& documents_;
  std::shared_ptr<text_searchers const> searchers_;
  std::span<datasets::text_document const> queries_;
  std::string name_;
  sparse_result_options results_;
};

}  // namespace rulerank::knn
