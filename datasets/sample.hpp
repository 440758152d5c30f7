#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/split.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// The published size of a learning-to-rank collection, of one fold, and of its reduction (Freitas
/// 2017, tables 5.1 and 5.2; Yahoo's size and the shares of labels from the collections' own
/// descriptions). Features are those that have items, so a synthetic collection has no constant
/// feature.
struct shape {
  std::string_view name;
  std::size_t train_documents = 0, vali_documents = 0, test_documents = 0;
  std::size_t train_queries = 0, vali_queries = 0, test_queries = 0;
  std::uint32_t features = 0;
  int partitions = 0;                        ///< Q of the selective sampling
  std::size_t reduced_3 = 0, reduced_4 = 0;  ///< |U| at rule size 3 and 4
  /// Mean number of documents chosen per partition.
  std::size_t iterations_3 = 0, iterations_4 = 0;
  int folds = 5;                         ///< 1: one split
  std::span<double const> label_shares;  ///< of the labels 0, 1, ...; sum 1
};

/// Lists all shapes: td2003 hp2003 np2003 td2004 hp2004 np2004 web10k yahoo2.
std::span<shape const> shapes() noexcept;

/// Returns the shape with this name. Throws `usage_error` that lists the names.
shape const& find_shape(std::string_view name);

/// Generates the subsets of one synthetic collection.
///
/// The model: each query orders its documents by a latent relevance. The most relevant documents
/// get the largest label, in shares that vary between queries around `label_shares`. Features
/// resemble those of LETOR: several fields (body, anchor, title, URL, whole document; more if there
/// are more than 143 features), each with the statistics tf, tf*idf, length, BM25, three language
/// models and coverage, which depend on the field's latent match (relevance, topicality and noise
/// of the field). One feature in six, after these, describes only the document (link rank,
/// in-links, URL depth, out-links). A field without query terms has 0 in all its match features,
/// most often anchor, title and URL. Finally, every feature is scaled to [0, 1] within its query
/// (all 0 if it is constant there) and rounded to six decimals.
struct sample_options {
  std::uint32_t features = 0;        ///< 1 to 2^20; numbered from 1, all listed, including zeros
  std::vector<double> label_shares;  ///< of the labels 0, 1, ...; not negative, not all 0
  std::vector<set_size> subsets;     ///< S1, S2, ...: at least one, each with at least one query
  std::size_t folds = 5;  ///< folds to write: the first of LETOR's rotations of the subsets
};

/// The options of a named shape: subsets S1, S2, S3 of the training size together, S4 and S5; a
/// shape with one split has the subsets train, vali, test.
sample_options options_of(shape const& which);

/// The options of a custom size. `queries` 0: one per hundred documents, and at least one per
/// subset. Label l + 1 is a quarter as frequent as label l; there are `labels` labels. `folds`
/// equal subsets; 1: one split into 3/5, 1/5, 1/5. Throws `usage_error` for impossible sizes.
sample_options options_of(std::size_t documents, std::uint32_t features, std::size_t queries,
                          std::uint32_t labels, std::size_t folds);

/// Generates the subsets with these indexes, in that order, from the seed of the context, in
/// parallel over queries. A document depends only on the seed, the options and its position in the
/// collection, not on the other subsets: the same bits for any number of threads, on every machine.
/// Queries are numbered from 1 through the collection. The set has no text: `lines` and
/// `line_numbers` are empty. Needs little more than 16 bytes per entry. Throws `usage_error` for
/// options out of range.
dataset sample_subsets(context const& ctx, sample_options const& options,
                       std::span<std::size_t const> subsets);

/// Generates all subsets in order.
dataset sample_documents(context const& ctx, sample_options const& options);

/// A training and a test set of exactly the published numbers of documents.
struct sampled_fold {
  dataset train;
  dataset test;
};

/// Generates in memory the first fold that `write_sample` writes for this shape and seed.
sampled_fold sample_fold(context const& ctx, shape const& which);

/// Writes `folder`/FoldN/{train,vali,test}.txt in LETOR's format, values with six decimals, each
/// line with the comment `#docid = QUERY-POSITION`. A fold's files appear together when they are
/// complete. Needs memory for about a million entries, or one query, at a time. Returns the
/// contents of the folds. Throws as above and `output_error`.
std::vector<written_fold> write_sample(context const& ctx, sample_options const& options,
                                       std::string const& folder);

}  // namespace rulerank::datasets
