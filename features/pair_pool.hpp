#pragma once
// Pools for rankers from text: topics, their candidates among the documents of a collection, and
// the features and labels of the pairs. The verbs `features` and `pipeline` make their pools here.

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

/// A document that was found for a topic; the larger score is the nearer one.
struct found_document {
  std::uint32_t document = 0;  ///< its number in the collection
  double score = 0;            ///< a similarity, or minus a distance
  friend bool operator==(found_document const&, found_document const&) = default;
};
/// [topics] the documents of each topic, the nearest first.
using found_lists = std::vector<std::vector<found_document>>;

/// The topics of a pool, and what is known of them.
struct pool_topics {
  std::string name;  ///< their path, for messages
  std::vector<datasets::text_document> texts;
  /// [topics] `datasets::sum_of_text` of the texts as they were read: correcting the
  /// texts later does not change the sums.
  std::vector<std::uint32_t> sums;
  std::optional<datasets::qrels> judgments{};  ///< a label below 0: not judged
  std::optional<datasets::vectors> vectors{};  ///< one a topic, in their order
};

/// The topics of a file or folder (`datasets::read_documents`). `reading.ids` does not matter: an
/// id has to be a qid of SVMlight's lines. Throws `error`.
pool_topics read_topics(context const& ctx, std::string const& path,
                        datasets::text_options reading);
/// Makes topics from texts in memory. Throws `usage_error` without texts, and for an id that is no
/// qid or that two topics have.
pool_topics make_topics(std::vector<datasets::text_document> texts, std::string name = "topics");

/// Gives the topics their judgments. Grades that are listed in `not_relevant` become 0. Throws
/// `error` where no topic has a judgment.
void set_judgments(pool_topics& topics, datasets::qrels judgments,
                   std::span<std::int32_t const> not_relevant = {});
/// Gives the topics their vectors. `documents`: those of the collection. Throws `error` for vectors
/// that are not one a topic, or whose dimensions differ from those of the documents.
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
  knn::similarity metric = knn::similarity::cosine;  ///< of the search of text
  knn::sparse_engine engine = knn::sparse_engine::automatic;
  knn::similarity vector_metric = knn::similarity::cosine;  ///< l2, inner_product or cosine
  knn::fusion_options fusion;   ///< of text and vectors; `depth` does not matter
  bool leave_out_self = false;  ///< no document is a candidate of the topic with its id
};

/// How deep searches go at least where their lists are fused or their recall is measured.
inline constexpr std::size_t search_depth = 1000;

/// What was found for the topics.
struct found_candidates {
  found_lists lists;
  /// The candidates as a run with the tag `candidates`; behind it, where they were fused, what each
  /// search found: `candidates-text`, `candidates-dense`. A topic without a document is in none.
  std::vector<datasets::run> runs;
};

/// Runs the work of a stage of a search, such as under a timer. The stages are `search`,
/// `search vectors` and `fuse`.
using stage_fn = std::function<void(std::string_view stage, std::function<void()> const& work)>;

struct pair_options {
  /// Candidates of a topic that become pairs, at most: the first ones.
  std::size_t most = std::numeric_limits<std::size_t>::max();
  /// The label of pairs that nobody judged.
  std::int32_t unjudged = datasets::unlabelled;
  std::string name = "pool";  ///< of the data set
  /// Features have their names as a line can hold them (`BM25_of_title`), and are numbered in the
  /// order of their bytes; else they are 1, 2, ... without names.
  bool named_features = false;
};

/// Pairs of topics and documents.
struct pool_pairs {
  /// [pairs][features] with the features of `pool_collection::feature_names`; topics in their
  /// order, the documents of a topic in the order of the collection. The order of the search would
  /// give a ranker more than the features do. A line's comment has the document's id and the
  /// checksums of the pair's texts (datasets/text/text_sums.hpp).
  datasets::dataset data;
  /// The numbers of topics without a candidate, ascending. They are in no line, so a ranker that
  /// learns from the pairs never sees them.
  std::vector<std::size_t> topics_without;
};

/// The name of the feature that compares vectors: `dense cosine`, `dense ip`, or `minus dense l2`,
/// so that a larger value is the nearer one.
std::string vector_feature_name(knn::similarity metric);

/// A collection that pools are made of. Several threads may call the const functions at once.
///
/// Where the context has processes, all of them call `search` together and share out the topics.
class pool_collection {
 public:
  /// `collection`: what `text_index::build_with_fields` made. `name`: its path, for messages.
  /// Throws `usage_error` for options out of range.
  pool_collection(context const& ctx, std::string name, knn::indexed_collection collection,
                  pool_options const& options);
  ~pool_collection();
  pool_collection(pool_collection&&) noexcept;

  /// Adds the documents' vectors, one a document in the order of the collection: they become a
  /// feature, and can be searched. Throws `error` for another number of vectors, and what
  /// `knn::dense_index` throws.
  void set_vectors(context const& ctx, datasets::vectors const& documents);

  knn::text_index const& index() const noexcept;
  /// Documents of the collection.
  std::size_t size() const noexcept { return index().ids().size(); }

  /// The `k` nearest documents of each topic, at most. A search for text finds documents that share
  /// a term with the topic; one for vectors finds none for a topic whose vector is 0, but under l2.
  /// The first search for text makes a searcher, which the collection keeps for later searches on
  /// the same devices. `run_stage`: empty: each stage runs at once. Throws `usage_error` for a k of
  /// 0, and where vectors are searched for and the collection or the topics have none, and what the
  /// searches throw.
  found_candidates search(context const& ctx, pool_topics const& topics, std::size_t k,
                          stage_fn const& run_stage = {}) const;
  /// What a run has for the topics, by descending score, equal ones as they stand in the run.
  /// Throws `error` for a document that the collection lacks, and for a run without a topic.
  found_lists lists_of(pool_topics const& topics, datasets::run const& run) const;

  /// Of features 1, 2, ...: those of `pair_features`, then that of the vectors.
  std::vector<std::string> feature_names() const;
  /// The pairs of topics and their candidates, each document once a topic. Throws `error` where
  /// there are none at all, and `usage_error` where the collection has vectors and the topics have
  /// none.
  pool_pairs pairs(context const& ctx, pool_topics const& topics, found_lists const& found,
                   pair_options const& options = {}) const;

 private:
  /// Topics with the documents that are ranked for them.
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
  std::vector<std::uint32_t> sums_;  // [documents] of their texts
  pair_features features_;
};

}  // namespace rulerank::features
