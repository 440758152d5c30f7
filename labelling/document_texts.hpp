#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "labelling/pool_texts.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::labelling {

/// A piece of a text; marked if it matches one of the query's words.
struct text_piece {
  std::string text;
  bool marked = false;

  friend bool operator==(text_piece const&, text_piece const&) = default;
};
using marked_text = std::vector<text_piece>;

/// The pieces joined, without marks.
std::string plain(marked_text const& text);

/// The texts of a pool's documents and queries, by number; keeps only these texts of the
/// collection. Words that equal a query word after folding and stemming are marked, except stop
/// words. Texts are valid UTF-8 (other bytes are read as Latin-1) without control characters other
/// than line feeds and tabs, and without marks that change a line's direction.
///
/// A text is matched to a document or query by id. If the pool's lines have checksums of their
/// source texts (datasets/text/text_sums.hpp), the text must match. The checksums also decide
/// whether ids are the numbers in a file in SMART's form or positions in it, and whether a
/// tab-separated line has a label in the middle.
///
/// Not thread-safe.
class document_texts {
 public:
  /// Throws `error` for texts that cannot be read, for a text that differs from the pool's source,
  /// for ids that could be either numbers or positions, and if the files have none of the pool's
  /// documents or none of its queries.
  document_texts(context const& ctx, datasets::dataset const& pool, text_sources const& sources);
  ~document_texts();
  document_texts(document_texts&&) noexcept;

  std::string const& query(std::size_t document) const;
  marked_text title(std::size_t document);
  /// The whole text without the title.
  marked_text whole(std::size_t document);
  /// An excerpt of about `characters` bytes at most: the first place with the most distinct query
  /// words, then the most query words. Runs of blanks and line ends become one blank; `...` marks
  /// omissions.
  marked_text passage(std::size_t document, std::size_t characters);

  /// Numbers of the pool's documents and queries without a text.
  std::size_t documents_missing() const noexcept;
  std::size_t queries_missing() const noexcept;
  /// Whether ids are positions according to the pool's checksums alone, not the options.
  bool documents_found_by_position() const noexcept;
  bool queries_found_by_position() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rulerank::labelling
