#pragma once
// The options of pools, and their stages, warnings and devices, for `features` and `pipeline`.
// features/pair_pool.hpp makes the pools.

#include "apps/shared/arguments/dense_arguments.hpp"
#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "datasets/trec.hpp"
#include "datasets/vectors.hpp"
#include "features/pair_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// --collection --topics --qrels --candidates --metric --search-engine --not-relevant --correct
/// --leave-out-self --mu --lambda --delta, the options of vectors, and those of reading and
/// indexing text.
struct pool_arguments {
  std::string collection, topics, qrels;
  std::size_t candidates = 100;
  std::string metric = "auto";
  std::string engine = "auto";
  std::vector<std::int32_t> not_relevant;
  bool correct = false;
  bool leave_out_self = false;
  features::pair_features_options features;
  text_arguments text;
  dense_arguments dense;
  knn::fusion_options fusion;  ///< set by `check`

  pool_arguments() { text.weights = "bm25"; }
  /// `what_candidates`: the help of --candidates.
  void add_search_to(CLI::App& verb, std::string const& what_candidates);
  void add_features_to(CLI::App& verb);
  /// Validates the command line. Throws `usage_error` for conflicting options.
  void check(CLI::App const& verb);
  /// How the collection is indexed; k1 and b also apply to the feature. Throws `usage_error`.
  knn::text_index_options index_options(session& owner);
  /// How a pool is made. `index`: from `index_options`. Throws `usage_error`.
  features::pool_options options(knn::text_index_options const& index) const;
  /// The input files, including the stop list.
  std::vector<session::named_input> inputs(session& owner) const;
};

/// The inputs of a pool other than the collection.
struct pool_inputs {
  features::pool_topics topics;
  std::optional<datasets::vectors> document_vectors;
};
/// Reads the topics, and the judgments and vectors that the arguments name. Throws `error`.
pool_inputs read_pool_inputs(session& owner, pool_arguments const& a,
                             knn::text_index_options const& options);

/// Indexes the collection. With --correct, corrects the topics in `inputs` and reports
/// replacements. Warns of ids without a match, and chooses the device.
features::pool_collection index_collection(session& owner, pool_arguments const& a,
                                           knn::text_index_options const& options,
                                           pool_inputs& inputs);

/// At most max(--candidates, features::search_depth) nearest documents of each topic. MPI ranks
/// must call it together.
features::found_candidates find_candidates(session& owner, pool_arguments const& a,
                                           features::pool_collection const& collection,
                                           features::pool_topics const& topics);

/// Makes the pairs; warns of topics without any.
datasets::dataset make_pairs(session& owner, features::pool_collection const& collection,
                             features::pool_topics const& topics,
                             features::found_lists const& found,
                             features::pair_options const& options);

/// Writes a run of candidates; does not commit the output.
void write_candidates(datasets::run const& run, output_file& out);

}  // namespace rulerank::apps
