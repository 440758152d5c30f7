#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "datasets/documents.hpp"
#include "knn/sparse/sparse_index.hpp"
#include "knn/sparse/weighting.hpp"
#include "knn/text/analyzer.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::knn {

/// How a collection becomes an index, and queries its vectors.
struct text_index_options {
  analyzer_options analyzer;
  weighting_options weighting;
  std::size_t min_documents = 1;  ///< terms of fewer documents are dropped
  double max_share = 1;           ///< and terms of a larger share of the documents, as doubles
  /// Counts that are kept in memory, of 16 bytes each; where there are more, they go to the disk.
  std::size_t counts_in_memory = std::size_t{16} << 20;
  datasets::text_format format = datasets::text_format::automatic;
  datasets::text_options reading;
};

/// Whether terms are the columns of sparse vectors: there are no words to analyze, and tf is a
/// value.
inline bool holds_vectors(text_index_options const& options) {
  return options.format == datasets::text_format::svmlight;
}

/// What making an index took.
struct text_index_timings {
  double read_s = 0;   ///< reading, and counting the terms
  double weigh_s = 0;  ///< weights, posting lists, norms
};

/// Strings that somebody else owns.
struct string_table {
  std::span<char const> bytes;
  std::span<std::uint64_t const> begin;  ///< [strings + 1] into bytes
  std::size_t size() const noexcept { return begin.empty() ? 0 : begin.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {bytes.data() + begin[i], begin[i + 1] - begin[i]};
  }
  /// The place of a string in a table in byte order; nothing where it is not there.
  std::optional<std::size_t> find(std::string_view s) const;
};

/// A collection of documents ready to be searched: its terms in byte order (a term's number is its
/// place), the documents' ids and labels, weights of the terms, posting lists. It lies in memory or
/// in a mapped file; a document's fields are one text here. A column of vectors is a term of four
/// bytes, the highest first: terms are in the order of the columns.
class text_index {
 public:
  /// Reads a collection (see `datasets::read_documents`) and throws what that throws. Beside the
  /// index, the memory it takes is that of the terms and ids: counts are kept on the disk
  /// (in $TMPDIR) beyond `counts_in_memory`.
  static text_index build(context const& ctx, std::string const& collection,
                          text_index_options const& options);
  /// The same, straight into a file (docs/modules/knn.md, "The index file"); needs no memory for
  /// it. The caller commits the file.
  static text_index_timings build(context const& ctx, std::string const& collection,
                                  text_index_options const& options, output_file& file);
  /// Maps a file that `build` wrote. Throws `error` for any other file and for a damaged one.
  static text_index open(context const& ctx, std::string const& path);

  sparse_index const& index() const noexcept { return index_; }
  string_table const& terms() const noexcept { return terms_; }
  string_table const& ids() const noexcept { return ids_; }
  /// The label of a document, empty for none.
  std::string_view label(std::size_t document) const { return label_names_[label_of_[document]]; }
  term_statistics const& statistics() const noexcept { return statistics_; }
  /// The format is svmlight where the terms are columns, else automatic.
  text_index_options const& options() const noexcept { return options_; }
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
  text_index(sparse_index index) : index_(std::move(index)) {}
  static text_index of_bytes(context const& ctx, std::span<std::byte const> bytes,
                             std::shared_ptr<void const> owner, std::string const& name);

  sparse_index index_;
  string_table terms_, ids_, label_names_;
  std::span<std::uint32_t const> label_of_;
  term_statistics statistics_;
  text_index_options options_;
  text_index_timings timings_;
};

}  // namespace rulerank::knn
