#pragma once
// Topics, their candidates among documents, and the features of the pairs: what `features` writes
// and `pipeline` learns from.

#include "apps/shared/arguments/text_arguments.hpp"
#include "apps/shared/search/dense_candidates.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/trec.hpp"
#include "features/pair_features.hpp"
#include "knn/fusion.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rulerank::inline v0::apps {

/// How deep a search goes whose recall is looked at, and lists that are fused.
inline constexpr std::size_t recall_depth = 1000;

/// --collection --topics --qrels --candidates --metric --search-engine --not-relevant --correct
/// --mu --lambda --delta, those of vectors, and those of the text's reading and index.
struct pool_arguments {
  std::string collection, topics, qrels;
  std::size_t candidates = 100;
  std::string metric = "auto";
  std::string engine = "auto";
  std::vector<std::int32_t> not_relevant;
  bool correct = false;
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
  /// The files that are read, with the stop list.
  std::vector<session::named_input> inputs(session& owner) const;
};

/// What is searched for, and what is known of it.
struct asked_topics {
  std::vector<datasets::text_document> topics;  ///< their ids can be qids of SVMlight's lines
  std::vector<std::uint32_t> sums{};            ///< of their texts, before any is corrected
  std::optional<datasets::qrels> judgments{};   ///< with the grades of --not-relevant as 0
  std::optional<dense_candidates> vectors{};
};
/// Reads topics, judgments and vectors, as they are given. Throws `error` for judgments of none of
/// the topics.
asked_topics read_asked(session& owner, pool_arguments const& a,
                        knn::text_index_options const& options);

/// What was found for the topics: the candidates, and as runs the candidates first and where they
/// are fused what each of the searches found.
struct found_candidates {
  found_lists lists;
  std::vector<std::pair<std::string, datasets::run>> runs;  ///< with their names
};

/// A collection that is searched for topics.
class pair_pool {
 public:
  /// Indexes the collection and, with --correct, corrects the topics in `what`, which outlives it;
  /// says what was replaced.
  pair_pool(session& owner, pool_arguments const& a, knn::text_index_options const& options,
            asked_topics& what);

  /// The nearest documents of each topic, max(--candidates, recall_depth) at most.
  found_candidates search() const;
  /// What a run has for the topics. Throws `error` for a document that the collection has not, and
  /// for a run without a topic.
  found_lists lists_of(datasets::run const& run) const;
  /// Features 1, 2, ...
  std::vector<std::string> feature_names() const;
  /// The first `most` documents of each topic with their features, in the order of the collection:
  /// that of the search would tell a ranker more than the features. Documents are labelled by the
  /// judgments, those that are not judged `unjudged`; `name` is the data set's, which has lines.
  /// A comment has the document's id and what texts a pair was made of
  /// (datasets/text/text_sums.hpp). Warns of topics without a pair. Throws `error` where there is
  /// none at all.
  datasets::dataset pairs(found_lists const& found, std::size_t most, std::int32_t unjudged,
                          std::string const& name) const;
  std::size_t documents() const { return index_.ids().size(); }

 private:
  struct ranked_pairs;
  pair_pool(session& owner, pool_arguments const& a, knn::text_index_options const& options,
            asked_topics& what, knn::indexed_collection&& collection);
  datasets::run run_of(found_lists const& found, std::string tag) const;
  found_lists search_text(std::size_t depth) const;
  void warn_of_topics_without(found_lists const& found) const;
  std::vector<double> features_of(ranked_pairs const& pairs) const;
  std::vector<std::string> comments_of(ranked_pairs const& pairs) const;
  std::vector<std::int32_t> labels_of(ranked_pairs const& pairs, std::int32_t unjudged) const;

  session& owner_;
  pool_arguments const& arguments_;
  knn::text_index_options const& options_;
  asked_topics& what_;
  knn::text_index index_;
  std::vector<std::uint32_t> sums_;  ///< [documents] of their texts
  features::pair_features features_;
};

/// Writes a run of candidates; the output is not committed.
void write_candidates(datasets::run const& run, output_file& out);

}  // namespace rulerank::apps
