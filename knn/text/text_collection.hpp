#pragma once

#include "knn/searched_collection.hpp"
#include "knn/sparse/sparse_search.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// Documents of text, or rows of term weights: one index, or indexes of parts.
class text_collection final : public item_collection {
 public:
  explicit text_collection(text_index whole);
  explicit text_collection(std::shared_ptr<text_index const> whole);
  /// Opens the index in a file, or in parts: this process's share if `is_split`, otherwise all.
  /// Throws `error`.
  static text_collection open(context const& ctx, std::string const& path, bool is_split = false);
  /// Indexes all documents in memory or, if `index` is not empty, in a file, which it then opens.
  static text_collection build(context const& ctx, std::string const& collection,
                               text_index_options const& options, std::string const& index,
                               text_index_timings& timings);
  /// Builds this process's part of a collection in memory or, if `index` is not empty, in its own
  /// file next to `index`, which gets the list of parts. Collective.
  static text_collection build_part(context const& ctx, std::string const& collection,
                                    text_index_options const& options,
                                    std::string const& index = {});

  /// Writes the index to a file. Throws `usage_error` if this process has several parts.
  void save(context const& ctx, std::string const& path) const;

  /// The index of the first part here; requires `has_parts`.
  text_index const& first_index() const { return *indexes_.front(); }
  /// Postings of all parts, on all processes.
  std::uint64_t postings() const noexcept { return postings_; }
  /// Returns the labels of all documents by number, empty for none. Collective.
  std::vector<std::string> labels(context const& ctx) const;

  /// Makes the searcher of a part.
  using searcher_maker = std::function<sparse_searcher(context const&, sparse_index const&)>;
  /// Makes a searcher for each part by `make`. The collection must outlive them.
  sparse_searchers searchers(context const& ctx, searcher_maker const& make) const;
  /// Returns searchers with these options on the context's devices. Keeps the last result and
  /// returns it again for equal options and devices. Several threads may call it at once; while one
  /// makes searchers, the others wait. Throws as the constructor of `sparse_searcher`, and
  /// `usage_error` for an engine that does not search parts.
  sparse_searchers searchers(context const& ctx, sparse_search_options const& options) const;

  std::optional<std::string> id_of(std::uint32_t document) const override;

 private:
  text_collection();
  void add(std::shared_ptr<text_index const> index);

  std::vector<std::shared_ptr<text_index const>> indexes_;  // one per part
  std::uint64_t postings_ = 0;
  struct kept_searchers;
  std::shared_ptr<kept_searchers> kept_;
};

/// Returns the format of queries for an index: the requested one, if the index has such terms.
/// Throws `usage_error` naming the `option` otherwise.
datasets::text_format query_format(text_index const& index, std::string_view option,
                                   datasets::text_format asked);

/// A text search in a collection. The collection and the queries must outlive it.
class text_search : public sparse_search {
 public:
  /// `searchers`: of the collection. `name`: the file of the queries, named in the `error` that a
  /// search throws for a query whose tf-idf weight is too large. `results`: options of the results.
  text_search(text_collection const& documents, sparse_searchers searchers,
              std::span<datasets::text_document const> queries, std::string name,
              sparse_result_options const& results = {});
};

}  // namespace rulerank::knn
