#pragma once
// Builds pools for rankers from text: topics, their candidates among the documents of a collection,
// and features and labels of the pairs. The verbs `features` and `pipeline` use it.

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/trec.hpp"
#include "datasets/vectors.hpp"
#include "features/pair_features.hpp"
#include "knn/dense/search.hpp"
#include "knn/fusion.hpp"
#include "knn/similarity.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rulerank::inline v0::features {

/// A document that a search found for a topic; a larger score is nearer.
struct found_document {
  std::uint32_t document = 0;  ///< its number in the collection
  double score = 0;            ///< a similarity, or a negated distance
  friend bool operator==(found_document const&, found_document const&) = default;
};
/// [topics] the documents of each topic, nearest first.
using found_lists = std::vector<std::vector<found_document>>;

/// The topics of a pool, with their judgments and vectors.
struct pool_topics {
  std::string name;  ///< their path, for messages
  std::vector<datasets::text_document> texts;
  /// [topics] `datasets::sum_of_text` of the original texts; later corrections of the texts do not
  /// change the sums.
  std::vector<std::uint32_t> sums;
  std::optional<datasets::qrels> judgments{};  ///< a label below 0: not judged
  std::optional<datasets::vectors> vectors{};  ///< one per topic, in order
};

/// Reads the topics of a file or folder (`datasets::read_documents`). `reading.ids` has no effect:
/// ids must be valid qids in SVMlight lines. Throws `error`.
pool_topics read_topics(context const& ctx, std::string const& path,
                        datasets::text_options reading);
/// Makes topics from texts in memory. Throws `usage_error` without texts, and for an id that is no
/// valid qid or occurs twice.
pool_topics make_topics(std::vector<datasets::text_document> texts, std::string name = "topics");

/// Sets the judgments of the topics. Grades listed in `not_relevant` become 0. Throws `error` if no
/// topic has a judgment.
void set_judgments(pool_topics& topics, datasets::qrels judgments,
                   std::span<std::int32_t const> not_relevant = {});
/// Sets the vectors of the topics. `documents`: the vectors of the collection. Throws `error`
/// unless there is one vector per topic with the dimensions of the documents.
void set_vectors(pool_topics& topics, datasets::vectors vectors,
                 datasets::vectors const& documents);

/// The search that finds candidates.
enum class candidate_source : std::uint8_t {
  text,              ///< a search for the topics' terms
  vectors,           ///< a search for the topics' vectors
  text_and_vectors,  ///< both, fused
};

struct pool_options {
  pair_features_options features;
  candidate_source from = candidate_source::text;
  knn::similarity metric = knn::similarity::cosine;  ///< of the text search
  knn::sparse_engine engine = knn::sparse_engine::automatic;
  knn::similarity vector_metric = knn::similarity::cosine;  ///< l2, inner_product or cosine
  knn::fusion_options fusion;   ///< of text and vectors; `depth` has no effect
  bool leave_out_self = false;  ///< exclude the document with the topic's id
};

/// The minimum depth of searches whose lists are fused or whose recall is measured.
inline constexpr std::size_t search_depth = 1000;

/// The candidates of the topics.
struct found_candidates {
  found_lists lists;
  /// The candidates as a run with the tag `candidates`. If they were fused, the results of each
  /// search follow: `candidates-text`, `candidates-dense`. Topics without a document are in no run.
  std::vector<datasets::run> runs;
};

/// Runs the work of one stage of a search, for example with a timer. The stages are `search`,
/// `search vectors` and `fuse`.
using stage_fn = std::function<void(std::string_view stage, std::function<void()> const& work)>;

struct pair_options {
  /// The most candidates of a topic that become pairs: the first ones.
  std::size_t most = std::numeric_limits<std::size_t>::max();
  /// The label of unjudged pairs.
  std::int32_t unjudged = datasets::unlabelled;
  std::string name = "pool";  ///< of the data set
  /// Whether features have names that a line can hold (`BM25_of_title`), numbered in byte order of
  /// the names. Otherwise they are 1, 2, ... without names.
  bool named_features = false;
};

/// Pairs of topics and documents.
struct pool_pairs {
  /// [pairs][features] with the features of `pool_collection::feature_names`. Topics are in order,
  /// the documents of a topic in the order of the collection, because the order of the search would
  /// give a ranker more information than the features. A line's comment has the document's id and
  /// the checksums of the pair's texts (datasets/text/text_sums.hpp).
  datasets::dataset data;
  /// The numbers of topics without a candidate, ascending. They have no lines, so a ranker trained
  /// on the pairs never sees them.
  std::vector<std::size_t> topics_without;
};

/// Returns the name of the feature that compares vectors: `dense cosine`, `dense ip`, or `minus
/// dense l2`, so that a larger value is always nearer.
std::string vector_feature_name(knn::similarity metric);

/// A collection for pools. Several threads may call the const functions at once.
///
/// If the context has processes, `search` is collective and divides the topics among them.
class pool_collection {
 public:
  /// `collection`: the result of `text_index::build_with_fields`. `name`: its path, for messages.
  /// Throws `usage_error` for options out of range.
  pool_collection(context const& ctx, std::string name, knn::indexed_collection collection,
                  pool_options const& options);
  ~pool_collection();
  pool_collection(pool_collection&&) noexcept;

  /// Adds the documents' vectors, one per document in the order of the collection, as a feature and
  /// for searches. Throws `error` for another number of vectors, and what `knn::dense_index`
  /// throws.
  void set_vectors(context const& ctx, datasets::vectors const& documents);

  knn::text_index const& index() const noexcept;
  /// The number of documents.
  std::size_t size() const noexcept { return index().ids().size(); }

  /// Returns at most the `k` nearest documents of each topic. A text search finds documents that
  /// share a term with the topic. A vector search finds nothing for a topic whose vector is 0,
  /// except under l2. The first text search makes a searcher, which the collection keeps for later
  /// searches on the same devices. An empty `run_stage` runs each stage directly. Throws
  /// `usage_error` for a k of 0, and if vectors are searched that the collection or the topics
  /// lack; throws what the searches throw.
  found_candidates search(context const& ctx, pool_topics const& topics, std::size_t k,
                          stage_fn const& run_stage = {}) const;
  /// Returns the documents of a run for the topics, by descending score, equal scores in the order
  /// of the run. Throws `error` for a document that the collection lacks, and for a run without any
  /// of the topics.
  found_lists lists_of(pool_topics const& topics, datasets::run const& run) const;

  /// Returns the names of features 1, 2, ...: those of `pair_features`, then that of the vectors.
  std::vector<std::string> feature_names() const;
  /// Returns their units; that of the vectors' feature is empty.
  std::vector<std::string> feature_units() const;
  /// Returns the pairs of topics and their candidates, each document once per topic. Throws `error`
  /// if there are no pairs, and `usage_error` if the collection has vectors and the topics have
  /// none.
  pool_pairs pairs(context const& ctx, pool_topics const& topics, found_lists const& found,
                   pair_options const& options = {}) const;

 private:
  /// Topics with the documents to rank for them.
  struct ranked_pairs {
    std::vector<std::uint64_t> begin{0};  // [topics + 1] into documents
    std::vector<std::uint32_t> documents;
  };

  void keep_others(pool_topics const& topics, std::size_t k, found_lists& lists) const;
  found_lists search_text(context const& ctx, pool_topics const& topics, std::size_t k) const;
  found_lists search_vectors(context const& ctx, pool_topics const& topics, std::size_t k) const;
  datasets::run run_of(pool_topics const& topics, found_lists const& found, std::string tag) const;
  void expect_vectors(pool_topics const& topics) const;
  static ranked_pairs in_collection_order(found_lists const& found, std::size_t most);
  std::vector<double> features_of(context const& ctx, pool_topics const& topics,
                                  ranked_pairs const& pairs) const;
  std::vector<double> similarities(context const& ctx, datasets::vectors const& topics,
                                   ranked_pairs const& pairs) const;
  std::vector<std::int32_t> labels_of(pool_topics const& topics, ranked_pairs const& pairs,
                                      std::int32_t unjudged) const;
  std::vector<std::string> comments_of(pool_topics const& topics, ranked_pairs const& pairs) const;

  std::string name_;
  pool_options options_;
  struct searched_documents;
  std::unique_ptr<searched_documents> documents_;
  std::vector<std::uint32_t> sums_;  // [documents] checksums of their texts
  pair_features features_;
};

}  // namespace rulerank::features
