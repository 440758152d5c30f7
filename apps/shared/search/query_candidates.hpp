#pragma once

#include "apps/shared/search/pair_pool.hpp"

#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// A query as text, and the collection to rank for it: --query --collection --index --candidates
/// --stemmer and the options of reading.
struct query_arguments {
  std::string query;  ///< empty: not given
  std::string index;  ///< of the collection, made by `search text`; empty: index the collection
  pool_arguments pool;

  void add_to(CLI::App& verb);
  /// Adds all but --query.
  void add_collection_to(CLI::App& verb);
  /// Whether --query, --collection or --index is given.
  bool given(CLI::App const& verb) const;
  /// Throws `usage_error` for a query without a collection, and for conflicting options.
  void check(CLI::App const& verb) const;
  /// As above, for a collection without --query.
  void check_collection(CLI::App const& verb) const;
};

struct query_candidates {
  datasets::dataset pairs;          ///< with the features that `features` computes
  std::vector<std::string> titles;  ///< [pairs] titles of the documents, or their first words
};

/// Opens the collection of a query from its index, or indexes it.
features::pool_collection open_query_collection(session& owner, query_arguments& arguments);
/// The titles of documents of the collection, or their first words [ids].
std::vector<std::string> titles_of(session& owner, query_arguments& arguments,
                                   std::span<std::string const> ids);

/// The documents that a search finds for the query. Throws `error` if there is none.
query_candidates find_query_candidates(session& owner, query_arguments& arguments);

}  // namespace rulerank::apps
