#pragma once
// The options of pools, and their stages, warnings and devices: what `features` and `pipeline`
// share. features/pair_pool.hpp makes the pools.

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
/// --leave-out-self
/// --mu --lambda --delta, those of vectors, and those of the text's reading and index.
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
  knn::fusion_options fusion;  ///< by `check`

  pool_arguments() { text.weights = "bm25"; }
  /// `what_candidates`: the help of --candidates.
  void add_search_to(CLI::App& verb, std::string const& what_candidates);
  void add_features_to(CLI::App& verb);
  /// Of the line. Throws `usage_error` for options that make no sense together.
  void check(CLI::App const& verb);
  /// How the collection becomes an index; k1 and b are the feature's too. Throws `usage_error`.
  knn::text_index_options index_options(session& owner);
  /// How a pool is made. `index`: as `index_options` says. Throws `usage_error`.
  features::pool_options options(knn::text_index_options const& index) const;
  /// The files that are read, with the stop list.
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

/// Indexes the collection, with --correct corrects the topics in `inputs` and says what was
/// replaced, warns of ids that name nothing, and chooses the device.
features::pool_collection index_collection(session& owner, pool_arguments const& a,
                                           knn::text_index_options const& options,
                                           pool_inputs& inputs);

/// The max(--candidates, features::search_depth) nearest documents of each topic, at most. MPI
/// ranks call it together.
features::found_candidates find_candidates(session& owner, pool_arguments const& a,
                                           features::pool_collection const& collection,
                                           features::pool_topics const& topics);

/// The pairs; warns of topics without one.
datasets::dataset make_pairs(session& owner, features::pool_collection const& collection,
                             features::pool_topics const& topics,
                             features::found_lists const& found,
                             features::pair_options const& options);

/// Writes a run of candidates; the output is not committed.
void write_candidates(datasets::run const& run, output_file& out);

}  // namespace rulerank::apps
