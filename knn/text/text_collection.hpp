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

/// The searchers of a text collection, one per part.
using text_searchers = std::vector<sparse_searcher>;

/// Documents of text, or rows of term weights: one index, or indexes of parts.
class text_collection final : public item_collection {
 public:
  /// Whether an engine can search an index in parts: only engines with exactly the defined values.
  static bool searches_parts(sparse_engine engine);
  /// The names of these engines, for messages: "tiles or mt".
  static std::string engines_of_parts();
  explicit text_collection(text_index whole);
  /// Opens the index in a file, or all its parts.
  static text_collection open(context const& ctx, std::string const& path);
  /// Opens an index in parts: this process's share if `is_split`, otherwise all. Throws `error`.
  static text_collection open_parts(context const& ctx, std::string const& path, bool is_split);
  /// Builds this process's part of a collection in memory.
  static text_collection build_part(context const& ctx, std::string const& collection,
                                    text_index_options const& options);
  /// Builds this process's part in its own file next to `index`, which gets the list of parts.
  static text_collection build_part(context const& ctx, std::string const& collection,
                                    text_index_options const& options, std::string const& index);

  /// Writes the index to a file. Throws `usage_error` if this process has several parts.
  void save(context const& ctx, std::string const& path) const;

  /// The index of the first part here; requires `has_parts`.
  text_index const& first_index() const { return indexes_.front(); }
  /// Postings of all parts, on all processes.
  std::uint64_t postings() const noexcept { return postings_; }
  /// Returns the labels of all documents by number, empty for none. Collective.
  std::vector<std::string> labels(context const& ctx) const;

  /// Makes the searcher of a part.
  using searcher_maker = std::function<sparse_searcher(context const&, sparse_index const&)>;
  /// Makes a searcher for each part by `make`. The collection must outlive them.
  std::shared_ptr<text_searchers const> searchers(context const& ctx,
                                                  searcher_maker const& make) const;
  /// Returns searchers with these options on the context's devices. Keeps the last result and
  /// returns it again for equal options and devices. Several threads may call it at once; while one
  /// makes searchers, the others wait. Throws as the constructor of `sparse_searcher`, and
  /// `usage_error` for an engine that does not search parts.
  std::shared_ptr<text_searchers const> searchers(context const& ctx,
                                                  sparse_search_options const& options) const;

  std::optional<std::string> id_of(std::uint32_t document) const override;

 private:
  text_collection();
  void add(text_index index);
  friend class text_search;

  std::vector<text_index> indexes_;  // one per part
  std::uint64_t postings_ = 0;
  struct kept_searchers;
  std::shared_ptr<kept_searchers> kept_;
};

/// A text search in a collection. The collection and the queries must outlive it.
class text_search final : public searched_collection {
 public:
  /// `searchers`: of the collection. `name`: the file of the queries, named in the `error` that a
  /// search throws for a query whose tf-idf weight is too large. `results`: options of the results.
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
  /// Documents that do not match are excluded from the k nearest. They come after all matches,
  /// except with distances or negative weights.
  bool has_no_more(value_order order) const override;
  /// Finds the k nearest in the filter, then excludes those that do not match.
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
