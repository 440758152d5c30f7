#pragma once

#include "core/output_file.hpp"
#include "knn/searched_collection.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::knn {

/// Documents of text, or rows of term weights: an index of all, or indexes of parts.
class text_collection final : public searched_collection {
 public:
  /// Whether an engine searches an index in parts: only those that sum in double precision.
  static bool searches_parts(sparse_engine engine) {
    return engine == sparse_engine::automatic || engine == sparse_engine::tiles ||
           engine == sparse_engine::mt;
  }
  explicit text_collection(text_index whole);
  /// An index in parts: `is_split`: this process's share of the parts, else all of them. Throws
  /// `error`.
  static text_collection open_parts(context const& ctx, std::string const& path, bool is_split);
  /// This process's part of a collection, in memory.
  static text_collection build_part(context const& ctx, std::string const& collection,
                                    text_index_options const& options);
  /// The same in a file of its own beside `index`, which gets the list of parts.
  static text_collection build_part(context const& ctx, std::string const& collection,
                                    text_index_options const& options, std::string const& index);

  /// Of the first part here, where there is one (`has_parts`).
  text_index const& first_index() const { return indexes_.front(); }
  /// Postings of all parts, on all processes.
  std::uint64_t postings() const noexcept { return postings_; }
  /// The labels of all documents by their numbers, empty for none. All processes call it together.
  std::vector<std::string> labels(context const& ctx) const;

  /// Makes the searcher of a part.
  using searcher_maker = std::function<sparse_searcher(context const&, sparse_index const&)>;
  /// Makes the parts ready to be searched by the searchers of `make`, in place of those before.
  /// Where it throws, the parts are not ready.
  void prepare(context const& ctx, searcher_maker const& make);
  /// The engine that searches, where there is a part.
  sparse_engine engine() const { return searchers_.front().engine(); }
  /// What is searched for, by the functions of `searched_collection`; the queries outlive it.
  /// `name`: of their file. Where they are searched for, `error` that names it is thrown for a
  /// query that tf-idf gives a weight beyond what the search takes. `results`: of their searches.
  void set_queries(std::span<datasets::text_document const> queries, std::string name,
                   sparse_result_options const& results);

  std::optional<std::string> id_of(std::uint32_t document) const override;

 private:
  text_collection() = default;
  void add(text_index index);
  neighbours nearest_of_whole(context const& ctx, index_range queries,
                              std::size_t k) const override;
  std::vector<part_neighbours> nearest_of_parts(context const& ctx, index_range queries,
                                                std::size_t k) const override;
  sparse_matrix weights_of(context const& ctx, index_range queries) const;

  std::vector<text_index> indexes_;         // of the parts
  std::vector<sparse_searcher> searchers_;  // of the parts
  std::uint64_t postings_ = 0;
  std::span<datasets::text_document const> queries_;
  std::string queries_name_;
  sparse_result_options results_;
};

}  // namespace rulerank::knn
