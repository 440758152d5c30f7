#pragma once

#include "core/context.hpp"
#include "datasets/text/documents.hpp"
#include "knn/similarity.hpp"
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

/// How a collection becomes an index, and queries its vectors.
struct text_index_options {
  analyzer_options analyzer;
  weighting_options weighting = default_weighting();
  /// What the weights are meant to be compared by; an index keeps it for those who ask.
  similarity metric = similarity::cosine;
  std::size_t min_documents = 1;  ///< terms of fewer documents are dropped
  double max_share = 1;           ///< and terms of a larger share of the documents, as doubles
  bool dictionary = false;        ///< keep one, for `spelling_corrector`; not of vectors
  datasets::text_format format = datasets::text_format::automatic;
  datasets::text_options reading;
};

/// Whether terms are the columns of sparse vectors: there are no words to analyze, and a value
/// is used as tf.
inline bool holds_vectors(text_index_options const& options) {
  return options.format == datasets::text_format::svmlight;
}

/// What making an index took.
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
  /// The number of a string in a table in byte order; nothing where the table does not have it.
  std::optional<std::size_t> find(std::string_view s) const;
};

/// The words that two documents and more have, as the analyzer folds them before it looks at its
/// stop list: in the order of their bytes, which is that of their code points.
struct word_list {
  string_table words;
  std::span<std::uint32_t const> documents;  ///< [words] how many have it
};

/// How often each term is in a field of each document: rows are documents, columns the terms of the
/// vocabulary that all fields and the queries share.
struct field_counts {
  std::string name;
  sparse_matrix counts;
};

/// The name of the field that is all fields of a document together.
inline constexpr std::string_view whole_document = "document";

struct indexed_collection;
struct read_index;

/// A collection of documents ready to be searched: its terms, numbered in byte order, the
/// documents' ids and labels, weights of the terms, posting lists. All of it lies in memory; a
/// document's fields are one text here. A column of vectors is a term of four bytes, the
/// highest first: terms are in the order of the columns. Several threads may call all const
/// functions of an index at once.
class text_index {
 public:
  /// Reads a collection (see `datasets::read_documents`) and throws what that throws. Beside the
  /// index it takes memory for the terms, the ids and 16 million counts; more counts are kept in a
  /// file in $TMPDIR.
  static text_index build(context const& ctx, std::string const& collection,
                          text_index_options const& options);
  /// The same of documents in memory: those that a file of them gives, so `options.reading` does
  /// not matter. Throws `usage_error` for none, and for an id that is empty or another document's.
  static text_index build(context const& ctx, std::span<datasets::text_document const> documents,
                          text_index_options const& options);
  /// The same, the counts of the fields of all documents and the checksums of their texts, in one
  /// pass over the collection. The counts are those that `count_fields` finds, kept in memory.
  /// Throws `usage_error` for vectors, and `error` for a field that is named as the whole document
  /// is.
  static indexed_collection build_with_fields(context const& ctx, std::string const& collection,
                                              text_index_options const& options);
  /// The same of documents in memory; throws as `build` does, too.
  static indexed_collection build_with_fields(context const& ctx,
                                              std::span<datasets::text_document const> documents,
                                              text_index_options const& options);
  /// Writes the index into a file (docs/reference/modules/knn-text.md, "The index file") and takes
  /// no memory for it. The caller commits the file.
  static text_index_timings build(context const& ctx, std::string const& collection,
                                  text_index_options const& options, output_file& file);
  /// Reads a file that `build` wrote into memory, and compares what it read with the checksums: the
  /// file may change afterwards. Throws `error` for any other file, for a damaged one, and where
  /// memory does not hold it.
  static text_index open(context const& ctx, std::string const& path);

  sparse_index const& index() const noexcept { return index_; }
  string_table const& terms() const noexcept { return terms_; }
  string_table const& ids() const noexcept { return ids_; }
  /// The label of a document, empty for none.
  std::string_view label(std::size_t document) const { return label_names_[label_of_[document]]; }
  /// Of all parts.
  term_statistics const& statistics() const noexcept { return statistics_; }
  /// Of a part: the number that its first document has in the collection.
  std::uint64_t first_document() const noexcept { return first_document_; }
  /// Of an index that was made with `text_index_options::dictionary`.
  std::optional<word_list> const& dictionary() const noexcept { return dictionary_; }
  /// The format is svmlight where the terms are columns, else automatic; `dictionary` says whether
  /// there is one.
  text_index_options const& options() const noexcept { return options_; }
  /// Those that its file has; as long as the index is there.
  std::span<std::byte const> bytes() const noexcept { return bytes_; }
  /// Zeros for an index that was opened.
  text_index_timings const& timings() const noexcept { return timings_; }

  /// Counts of the terms of texts, in the columns of this index; terms that it does not know are
  /// dropped.
  sparse_matrix counts(context const& ctx,
                       std::span<datasets::text_document const> documents) const;
  /// The same, weighed as queries.
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

/// An index and the counts of the fields of its documents.
struct indexed_collection {
  text_index index;
  /// The fields in the order in which they come, fields without a name left out, and the whole
  /// document last.
  std::vector<field_counts> fields;
  /// [documents] `datasets::sum_of_text` of them (datasets/text/text_sums.hpp).
  std::vector<std::uint32_t> sums;
};

/// The fields' counts of a collection that was indexed before, which is read again, in the order of
/// `indexed_collection::fields`. Throws what `datasets::read_documents` throws, and `error` where
/// the collection is not the one that was indexed. Of `options` only `format` and `reading` matter.
std::vector<field_counts> count_fields(context const& ctx, text_index const& index,
                                       std::string const& collection,
                                       text_index_options const& options);

}  // namespace rulerank::knn
