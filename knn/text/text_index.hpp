#pragma once

#include "core/context.hpp"
#include "datasets/text/documents.hpp"
#include "knn/searcher.hpp"
#include "knn/similarity.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/sparse_index.hpp"
#include "knn/sparse/weighting.hpp"
#include "knn/text/analyzer.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0 {
class output_file;
}  // namespace rulerank

namespace rulerank::inline v0::knn {

/// How to build an index from a collection, and vectors from queries.
struct text_index_options {
  analyzer_options analyzer;
  weighting_options weighting = default_weighting();
  /// The intended similarity of the weights; stored in the index for its readers.
  similarity metric = similarity::cosine;
  std::size_t min_documents = 1;  ///< drops terms in fewer documents
  double max_share = 1;     ///< drops terms in a larger share of the documents, computed in doubles
  bool dictionary = false;  ///< keep a dictionary for `spelling_corrector`; not for vectors
  datasets::text_format format = datasets::text_format::automatic;
  datasets::text_options reading;
};

/// Whether terms are the columns of sparse vectors: there are no words to analyze, and a value
/// serves as tf.
inline bool holds_vectors(text_index_options const& options) {
  return options.format == datasets::text_format::svmlight;
}

/// The time to build an index, in seconds.
struct text_index_timings {
  double read_s = 0;   ///< reading, and counting the terms
  double weigh_s = 0;  ///< weights, posting lists, norms
};

/// Strings in memory that an index owns.
struct string_table {
  std::span<char const> bytes;
  std::span<std::uint64_t const> begin;  ///< [strings + 1] into bytes
  std::size_t size() const noexcept { return begin.empty() ? 0 : begin.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {bytes.data() + begin[i], begin[i + 1] - begin[i]};
  }
  /// Returns the number of a string in a table sorted by bytes, or nothing.
  std::optional<std::size_t> find(std::string_view s) const;
};

/// The words that occur in two or more documents, folded by the analyzer before stop words are
/// removed; in byte order, which is code point order.
struct word_list {
  string_table words;
  std::span<std::uint32_t const> documents;  ///< [words] the number of documents that contain it
};

/// The counts of terms in one field of each document. Rows are documents; columns are the terms of
/// the vocabulary that all fields and the queries share.
struct field_counts {
  std::string name;
  sparse_matrix counts;
};

/// The name of the field that joins all fields of a document.
inline constexpr std::string_view whole_document = "document";

struct indexed_collection;
struct read_index;

/// A collection of documents, ready for search: its terms, numbered in byte order, the ids and
/// labels of the documents, term weights and posting lists, all in memory. The fields of a document
/// are joined into one text. A column of vectors becomes a term of four bytes, highest byte first,
/// so terms are in column order. Several threads may call all const functions of an index at once.
class text_index {
 public:
  /// Reads a collection (`datasets::read_documents`) and throws what that throws. Besides the
  /// index, it needs memory for the terms, the ids and 16 million counts; more counts are written
  /// to a file in $TMPDIR.
  static text_index build(context const& ctx, std::string const& collection,
                          text_index_options const& options);
  /// Indexes documents in memory as if read from a file; `options.reading` has no effect. Throws
  /// `usage_error` if there are none, and for an empty or duplicate id.
  static text_index build(context const& ctx, std::span<datasets::text_document const> documents,
                          text_index_options const& options);
  /// Indexes a collection and, in the same pass, counts the fields of all documents and computes
  /// the checksums of their texts. The counts equal those of `count_fields` and are kept in memory.
  /// Throws `usage_error` for vectors, and `error` for a field with the reserved name of the whole
  /// document.
  static indexed_collection build_with_fields(context const& ctx, std::string const& collection,
                                              text_index_options const& options);
  /// Does this for documents in memory; also throws as `build`.
  static indexed_collection build_with_fields(context const& ctx,
                                              std::span<datasets::text_document const> documents,
                                              text_index_options const& options);
  /// Writes the index to a file (docs/reference/modules/knn-text.md, "The index file") instead of
  /// memory. The caller commits the file.
  static text_index_timings build(context const& ctx, std::string const& collection,
                                  text_index_options const& options, output_file& file);
  /// Reads a file that `build` wrote into memory and verifies its checksums, so later changes of
  /// the file have no effect. Throws `error` for any other file, for a damaged one, and if memory
  /// is too small.
  static text_index open(context const& ctx, std::string const& path);

  sparse_index const& index() const noexcept { return index_; }
  string_table const& terms() const noexcept { return terms_; }
  string_table const& ids() const noexcept { return ids_; }
  /// The label of a document, empty for none.
  std::string_view label(std::size_t document) const { return label_names_[label_of_[document]]; }
  /// The statistics of all parts.
  term_statistics const& statistics() const noexcept { return statistics_; }
  /// For a part: the collection's number of its first document.
  std::uint64_t first_document() const noexcept { return first_document_; }
  /// Present if the index was built with `text_index_options::dictionary`.
  std::optional<word_list> const& dictionary() const noexcept { return dictionary_; }
  /// The format is svmlight if terms are columns, otherwise automatic; `dictionary` says whether
  /// there is one.
  text_index_options const& options() const noexcept { return options_; }
  /// The bytes of the index file; valid as long as the index.
  std::span<std::byte const> bytes() const noexcept { return bytes_; }
  /// Zeros for an opened index.
  text_index_timings const& timings() const noexcept { return timings_; }

  /// Counts the terms of texts in the columns of this index; drops unknown terms.
  sparse_matrix counts(context const& ctx,
                       std::span<datasets::text_document const> documents) const;
  /// Counts the terms and weights them as queries.
  sparse_matrix queries(context const& ctx,
                        std::span<datasets::text_document const> documents) const;

 private:
  friend struct text_index_part;
  text_index(sparse_index index, std::span<std::byte const> bytes)
      : index_(std::move(index)), bytes_(bytes) {}
  static text_index of_sections(read_index const& read, std::shared_ptr<void const> owner,
                                std::string const& name, bool part);
  static text_index open(context const& ctx, std::string const& path, bool part);

  sparse_index index_;
  std::span<std::byte const> bytes_;
  string_table terms_, ids_, label_names_;
  std::span<std::uint32_t const> label_of_;
  term_statistics statistics_;
  std::optional<word_list> dictionary_;
  text_index_options options_;
  text_index_timings timings_;
  std::uint64_t first_document_ = 0;
};

/// An index, and the counts of the fields of its documents.
struct indexed_collection {
  text_index index;
  /// The fields in the order of their first occurrence, without unnamed fields; the whole document
  /// last.
  std::vector<field_counts> fields;
  /// [documents] `datasets::sum_of_text` (datasets/text/text_sums.hpp).
  std::vector<std::uint32_t> sums;
};

/// Reads an already indexed collection again and counts its fields, in the order of
/// `indexed_collection::fields`. Throws what `datasets::read_documents` throws, and `error` if the
/// collection is not the indexed one. Uses only `format` and `reading` of `options`.
std::vector<field_counts> count_fields(context const& ctx, text_index const& index,
                                       std::string const& collection,
                                       text_index_options const& options);

/// Makes a searcher for queries among the documents of an index, with their ids. Throws as
/// `sparse_searcher` and `text_index::queries`.
std::unique_ptr<searcher> make_searcher(context const& ctx, std::shared_ptr<text_index const> index,
                                        std::span<datasets::text_document const> queries,
                                        sparse_search_options const& options = {},
                                        sparse_result_options const& results = {});
/// Opens an index file or, if it lists parts of a collection, all parts or, with `is_split`, those
/// of this process of the context, and makes a searcher. Throws also as `text_index::open`, and
/// `usage_error` for parts with an engine other than `tiles` or `mt`. Collective if `is_split`.
std::unique_ptr<searcher> make_searcher(context const& ctx, std::string const& index_file,
                                        std::span<datasets::text_document const> queries,
                                        sparse_search_options const& options = {},
                                        sparse_result_options const& results = {},
                                        bool is_split = false);

}  // namespace rulerank::knn
