#pragma once

#include "apps/shared/search/pair_pool.hpp"

#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// A query as text, and the collection whose documents are ranked for it: --query --collection
/// --candidates --collection-format --text-fields --id-field --stemmer.
struct query_arguments {
  std::string query;  ///< empty: not given
  pool_arguments pool;

  void add_to(CLI::App& verb);
  /// Throws `usage_error` for one of --query and --collection without the other.
  void check() const;
};

struct query_candidates {
  datasets::dataset pairs;          ///< with the features that `features` computes
  std::vector<std::string> titles;  ///< [pairs] of the documents, or their first words
};

/// The documents that a search finds for the query. Throws `error` where it finds none.
query_candidates find_query_candidates(session& owner, query_arguments& arguments);

}  // namespace rulerank::apps
