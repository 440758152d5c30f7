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

/// A part of a text, and whether it is one of the query's words.
struct text_piece {
  std::string text;
  bool marked = false;

  friend bool operator==(text_piece const&, text_piece const&) = default;
};
using marked_text = std::vector<text_piece>;

/// The pieces as one text.
std::string plain(marked_text const& text);

/// The texts of a pool's documents and queries, by number; of the collection only these are kept. A
/// word is marked where it is the same as one of the query's after folding and stemming, and no
/// stop word. The texts are well-formed UTF-8 (other bytes are read as Latin-1) without control
/// characters but line feeds and tabs, and without marks that change a line's direction.
///
/// A text belongs to the document or query with its id. Where the pool's lines have checksums of
/// what they were made of (datasets/text/text_sums.hpp), a text must also be that one. They say,
/// too, whether ids are the numbers of a file in SMART's form or positions in it, and whether a
/// line between tabs has a label in the middle.
///
/// One thread at a time may use an object.
class document_texts {
 public:
  /// Throws `error` for texts that cannot be read, for one that is not what the pool was made of,
  /// for ids that can be either numbers or positions and nothing says which, and where none of the
  /// pool's documents, or none of its queries, is among them.
  document_texts(context const& ctx, datasets::dataset const& pool, text_sources const& sources);
  ~document_texts();
  document_texts(document_texts&&) noexcept;

  std::string const& query(std::size_t document) const;
  marked_text title(std::size_t document);
  /// The whole text, without the title.
  marked_text whole(std::size_t document);
  /// At most about `characters` bytes of it, where most different words of the query are, then most
  /// words of it; the first such place. Blanks and line ends are one blank each; `...` stands where
  /// something is left out.
  marked_text passage(std::size_t document, std::size_t characters);

  /// Documents and queries of the pool that the sources do not have.
  std::size_t documents_missing() const noexcept;
  std::size_t queries_missing() const noexcept;
  /// Whether ids are positions, which nobody but the pool's checksums said.
  bool documents_found_by_position() const noexcept;
  bool queries_found_by_position() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rulerank::labelling
