#pragma once
// The texts of a pool's documents and queries, found in the files that have them.

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
  std::string documents;  ///< a collection, as `datasets::read_documents` has it
  std::string topics;     ///< likewise; ids are qids
  datasets::text_format format = datasets::text_format::automatic;  ///< of the documents
  knn::analyzer_options words;                                      ///< what makes words equal
  bool labels = false;  ///< of both, as `datasets::text_options` has it
  /// For documents and queries, as `datasets::text_options` has them.
  std::vector<std::string> text_fields{}, query_fields{};
  std::string id_field{}, encoding{};
  /// Likewise, of both. Nothing: what the pool's `text_sums` say; where they say nothing, a file
  /// whose numbers are other texts' than its positions is an error.
  std::optional<bool> number_by_position = {};
  /// The texts may be others than the pool was made of: its `text_sums` say how ids are numbered,
  /// and no more.
  bool other_texts = false;
};

/// A text that can be shown: well-formed UTF-8 (other bytes are read as Latin-1) without control
/// characters but line feeds and tabs, and without marks that change a line's direction.
struct shown_text {
  std::string title, body;
};

/// Each text once, however many pairs of the pool have it.
struct pool_texts {
  std::vector<std::size_t> query_of;  ///< of each document of the pool, into `queries`
  std::vector<std::size_t> text_of;   ///< likewise, into `documents`
  std::vector<std::string> queries;   ///< of the pool, a line each; empty: there is none
  std::vector<shown_text> documents;  ///< of the pool's docids, likewise
  std::size_t documents_missing = 0;  ///< documents of the pool
  std::size_t queries_missing = 0;
  bool documents_by_position = false;  ///< by the pool's checksums
  bool queries_by_position = false;
};

/// Throws `error` as `document_texts` does.
pool_texts read_pool_texts(context const& ctx, datasets::dataset const& pool,
                           text_sources const& sources);

/// With one blank for each run of blanks and line ends, none at the ends.
std::string with_single_blanks(std::string_view text);

}  // namespace rulerank::labelling
