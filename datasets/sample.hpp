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

/// The published size of a learning-to-rank set, one fold of it, and of its reduction
/// (Freitas 2017, tables 5.1 and 5.2; Yahoo's and the label shares from the sets' own
/// descriptions). The features are those that make items, so a drawn set has no constant one.
struct shape {
  std::string_view name;
  std::size_t train_documents = 0, vali_documents = 0, test_documents = 0;
  std::size_t train_queries = 0, vali_queries = 0, test_queries = 0;
  std::uint32_t features = 0;
  int partitions = 0;                              ///< Q of the selective sampling
  std::size_t reduced_3 = 0, reduced_4 = 0;        ///< |U| at rule size 3 and 4
  std::size_t iterations_3 = 0, iterations_4 = 0;  ///< mean documents chosen in a partition
  int folds = 5;                                   ///< 1: one split
  std::span<double const> label_shares;            ///< of the labels 0, 1, ...; they sum to 1
};

/// All shapes: td2003 hp2003 np2003 td2004 hp2004 np2004 web10k yahoo2.
std::span<shape const> shapes() noexcept;

/// The shape of that name. Throws `usage_error` that lists the names.
shape const& find_shape(std::string_view name);

/// Generates subsets, one after the other, of one collection.
///
/// The model. A query judges its documents by a latent relevance: the largest get the largest
/// label, in shares that vary from query to query around `label_shares`. Features come as LETOR's
/// do: a number of fields (body, anchor, title, URL, whole document; more where there are more
/// than 143 features), each with the statistics tf, tf*idf, length, BM25, three language models
/// and coverage, which share the field's latent match (relevance, topicality and a part of the
/// field's own); after them one feature in six describes the document alone (link rank, in-links,
/// URL depth, out-links). A field that holds no query term is 0 in all its match features, most
/// often in anchor, title and URL. Every feature is then scaled to [0, 1] within its query (all 0
/// where the query has one value) and rounded to six decimals.
struct sample_options {
  std::uint32_t features = 0;        ///< 1 to 2^20; numbered from 1, all listed, zeros too
  std::vector<double> label_shares;  ///< of the labels 0, 1, ...; 0 or more each, not all 0
  std::vector<set_size> subsets;     ///< S1, S2, ...: at least one, each of a query or more
  std::size_t folds = 5;             ///< to write: the first of LETOR's rotations of the subsets
};

/// A named shape: subsets S1, S2, S3 of the training size together, S4 and S5; one split has the
/// subsets train, vali, test.
sample_options options_of(shape const& which);

/// A free size. `queries` 0: one for each hundred documents, and one a subset at least. Label l + 1
/// is a quarter as frequent as label l, of `labels` labels. `folds` equal subsets; 1: one split
/// into 3/5, 1/5, 1/5. Throws `usage_error` for sizes that cannot be drawn.
sample_options options_of(std::size_t documents, std::uint32_t features, std::size_t queries,
                          std::uint32_t labels, std::size_t folds);

/// Draws the subsets whose indexes are given, in that order, with the seed of the context, in
/// parallel over queries. A document depends on the seed, the options and its position in the
/// collection alone, not on which other subsets are drawn: the same bits for any number of threads,
/// on every machine. Queries are numbered from 1 through the collection. The set has no text:
/// `lines` and `line_numbers` are empty. Takes 16 bytes an entry and little more. Throws
/// `usage_error` for options out of range.
dataset sample_subsets(context const& ctx, sample_options const& options,
                       std::span<std::size_t const> subsets);

/// All subsets in their order.
dataset sample_documents(context const& ctx, sample_options const& options);

/// A training and a test set of exactly the published numbers of documents.
struct sampled_fold {
  dataset train;
  dataset test;
};

/// The first fold that `write_sample` writes for this shape and seed, in memory.
sampled_fold sample_fold(context const& ctx, shape const& which);

/// Writes `folder`/FoldN/{train,vali,test}.txt as LETOR does, values with six decimals, each line
/// with the comment `#docid = QUERY-POSITION`. A fold's files appear together when they are
/// complete. Takes memory for about a million entries, or one query, at a time. Returns what the
/// folds hold. Throws as above and `output_error`.
std::vector<written_fold> write_sample(context const& ctx, sample_options const& options,
                                       std::string const& folder);

}  // namespace rulerank::datasets
