#pragma once
// Finds the texts of a pool's documents and queries in their source files.

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/text/documents.hpp"
#include "knn/text/analyzer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::labelling {

struct text_sources {
  std::string documents;  ///< a collection, as for `datasets::read_documents`
  std::string topics;     ///< likewise; the ids are qids
  datasets::text_format format = datasets::text_format::automatic;  ///< of the documents
  knn::analyzer_options words;  ///< defines when words are equal
  bool labels = false;          ///< for both, as in `datasets::text_options`
  /// For documents and queries, as in `datasets::text_options`.
  std::vector<std::string> text_fields{}, query_fields{};
  std::string id_field{}, encoding{};
  /// For both, as in `datasets::text_options`. Empty: decided by the pool's `text_sums`; if these
  /// do not decide, numbers and positions that give different texts are an error.
  std::optional<bool> number_by_position = {};
  /// Allow texts that differ from the pool's source; then `text_sums` only decide how ids are
  /// numbered.
  bool other_texts = false;
};

/// A displayable text: valid UTF-8 (other bytes are read as Latin-1) without control characters
/// other than line feeds and tabs, and without marks that change a line's direction.
struct shown_text {
  std::string title, body;
};

/// The texts of a pool, each stored once.
struct pool_texts {
  std::vector<std::size_t> query_of;  ///< [documents of the pool] index into `queries`
  std::vector<std::size_t> text_of;   ///< [documents of the pool] index into `documents`
  std::vector<std::string> queries;   ///< of the pool, one line each; empty: missing
  std::vector<shown_text> documents;  ///< one per docid of the pool; empty: missing
  std::size_t documents_missing = 0;  ///< in documents of the pool
  std::size_t queries_missing = 0;
  bool documents_by_position = false;  ///< decided by the pool's checksums
  bool queries_by_position = false;
};

/// Throws `error` as `document_texts` does.
pool_texts read_pool_texts(context const& ctx, datasets::dataset const& pool,
                           text_sources const& sources);

/// Replaces each run of blanks and line ends by one blank, and trims both ends.
std::string with_single_blanks(std::string_view text);

}  // namespace rulerank::labelling
